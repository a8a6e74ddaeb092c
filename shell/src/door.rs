//! The one door between clients and a workspace, whichever process the workspace is in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hostler_core::protocol::{Event, EventId, Notice, Reply, Request};
use tokio::sync::{mpsc, oneshot};

use crate::driver::Message;

/// A future that a door returns.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, DoorError>> + Send + 'a>>;

/// What stands between a client and a workspace.
pub trait Door: Send + Sync {
    /// Asks for something and waits for the answer. Nothing is answered before it is on disk.
    fn request(&self, request: Request) -> Answer<'_, Reply>;

    /// Follows the log from behind a place, or from its end if none is given.
    fn subscribe(&self, from: Option<EventId>) -> Answer<'_, Subscription>;
}

/// Why a door does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// The workspace is closed.
    #[error("the workspace is closed; start again")]
    Closed,
    /// The log cannot be read.
    #[error("{0}")]
    Storage(String),
}

/// The door to a workspace in this process.
#[derive(Clone, Debug)]
pub struct InProcess {
    inbox: mpsc::Sender<Message>,
}

impl InProcess {
    pub(crate) fn new(inbox: mpsc::Sender<Message>) -> Self {
        Self { inbox }
    }

    /// Stops everything that is under way and waits until the processes of tools are gone.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.inbox.send(Message::Close(done)).await.is_ok() {
            // A driver that is gone has nothing under way.
            let _ = closed.await;
        }
    }
}

impl Door for InProcess {
    fn request(&self, request: Request) -> Answer<'_, Reply> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.inbox.send(Message::Request { request, reply }).await.map_err(|_| DoorError::Closed)?;
            answer.await.map_err(|_| DoorError::Closed)
        })
    }

    fn subscribe(&self, from: Option<EventId>) -> Answer<'_, Subscription> {
        Box::pin(async move {
            let mut subscription =
                Subscription { inbox: self.inbox.clone(), last: from, failures: None, page: Page::default() };
            subscription.resume().await?;
            Ok(subscription)
        })
    }
}

/// What a subscriber gets at once: what it has missed, and the stream from there if that is all of it.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) missed: std::collections::VecDeque<Arc<Event>>,
    pub(crate) live: Option<mpsc::Receiver<Arc<Event>>>,
    /// The place that the page reaches to.
    pub(crate) head: Option<EventId>,
    /// How often the log could not be written, and what is said about the last time.
    pub(crate) failures: (u64, String),
}

/// A log that is being followed. Whoever falls behind catches up from the log; nothing is skipped.
#[derive(Debug)]
pub struct Subscription {
    inbox: mpsc::Sender<Message>,
    last: Option<EventId>,
    /// How often the log could not be written when that was told last.
    failures: Option<u64>,
    page: Page,
}

impl Subscription {
    /// The next event. Never ends by itself while the workspace is open.
    pub async fn next(&mut self) -> Result<Arc<Event>, DoorError> {
        loop {
            if let Some(event) = self.page.missed.pop_front() {
                return Ok(self.seen(event));
            }
            match self.page.live.as_mut() {
                None => self.resume().await?,
                Some(live) => match live.recv().await {
                    Some(event) => return Ok(self.seen(event)),
                    // Cut off for falling behind, or the driver is gone, which resuming tells.
                    None => self.resume().await?,
                },
            }
        }
    }

    fn seen(&mut self, event: Arc<Event>) -> Arc<Event> {
        match &*event {
            Event::Record { id, .. } => self.last = Some(id.clone()),
            Event::Resync { head, .. } => self.last = Some(head.clone()),
            Event::Notice(_) => {}
        }
        event
    }

    async fn resume(&mut self) -> Result<(), DoorError> {
        let (reply, page) = oneshot::channel();
        let from = self.last.clone();
        self.inbox.send(Message::Subscribe { from, reply }).await.map_err(|_| DoorError::Closed)?;
        self.page = page.await.map_err(|_| DoorError::Closed)?.map_err(DoorError::Storage)?;
        if self.last.is_none() {
            self.last.clone_from(&self.page.head);
        }
        let (failures, message) = self.page.failures.clone();
        if self.failures.replace(failures).is_some_and(|before| before != failures) {
            let notice = Notice::StorageFailed { message };
            self.page.missed.push_front(Arc::new(Event::Notice(notice)));
        }
        Ok(())
    }
}
