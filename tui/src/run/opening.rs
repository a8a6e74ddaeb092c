//! Opening the workspace, on a thread of its own: neither a log that somebody else has locked nor a disk that does not
//! answer holds up signals and time.

use std::sync::Arc;

use hostler_core::config::Config;
use hostler_core::protocol::{Refusal, RefusalKind};
use hostler_shell::clock::Clock;
use hostler_shell::door::{Door, InProcess, Subscription};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::aside::aside;
use crate::place::Place;

/// An open workspace, and what happens in it from its opening on.
pub(super) type Opened = Result<(InProcess, Subscription), Refusal>;

/// What is being opened.
#[derive(Default)]
pub(super) struct Opening {
    done: Option<oneshot::Receiver<Result<InProcess, String>>>,
    /// What it came to, until its events are heard.
    door: Option<Result<InProcess, String>>,
}

impl Opening {
    /// Starts opening. Must be called inside a tokio runtime.
    pub(super) fn start(&mut self, place: Arc<Place>, clock: Clock, config: Arc<Config>, keeps: bool) {
        let runtime = Handle::current();
        let opening = aside(move || {
            let _inside = runtime.enter();
            place.open(clock, config, keeps)
        });
        match opening {
            Ok(done) => self.done = Some(done),
            Err(message) => self.door = Some(Err(message)),
        }
    }

    /// What it came to, once. May be given up and asked again.
    pub(super) async fn ready(&mut self) -> Opened {
        if let Some(done) = self.done.as_mut() {
            let opened = done.await;
            self.done = None;
            self.door = Some(opened.unwrap_or_else(|_| {
                Err("The workspace could not be opened; this is a fault in hostler.".to_owned())
            }));
        }
        // What is given up here is still there when it is asked again.
        let events = match &self.door {
            None => return std::future::pending().await,
            Some(Ok(door)) => door.subscribe(None).await.map_err(|error| error.to_string()),
            Some(Err(message)) => Err(message.clone()),
        };
        let door = self.door.take();
        let unavailable = |message: String| Refusal::new(RefusalKind::Storage, message);
        let events = events.map_err(unavailable)?;
        match door {
            Some(Ok(door)) => Ok((door, events)),
            Some(Err(message)) => Err(unavailable(message)),
            None => std::future::pending().await,
        }
    }
}
