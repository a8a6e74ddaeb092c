//! Where a model call says what comes of it.

use hostler_core::ids::{AttemptId, SessionId};
use hostler_core::model::ModelEvent;
use hostler_core::session::Input as SessionInput;
use hostler_core::workspace::Input;
use tokio::sync::mpsc;

use crate::driver::Message;

/// Where one model call says what comes of it. Whoever says more than is taken in waits.
#[derive(Clone, Debug)]
pub struct Sink {
    sender: mpsc::Sender<Message>,
    session: SessionId,
    about: About,
}

/// What a model was asked for.
#[derive(Clone, Copy, Debug)]
enum About {
    Attempt(AttemptId),
    Title,
}

impl Sink {
    pub(crate) fn of_attempt(sender: mpsc::Sender<Message>, session: SessionId, attempt: AttemptId) -> Self {
        Self { sender, session, about: About::Attempt(attempt) }
    }

    pub(crate) fn of_title(sender: mpsc::Sender<Message>, session: SessionId) -> Self {
        Self { sender, session, about: About::Title }
    }

    /// What the call is about, for the log files.
    pub(super) fn about(&self) -> String {
        match self.about {
            About::Attempt(attempt) => format!("{}:{attempt}", self.session),
            About::Title => format!("{}:title", self.session),
        }
    }

    /// Says something. Nobody listens any more once the workspace is closed.
    pub async fn say(&self, event: ModelEvent) {
        let input = match self.about {
            About::Attempt(attempt) => SessionInput::Model { attempt, event },
            About::Title => SessionInput::Title { event },
        };
        let input = Input::Session { session: self.session.clone(), input };
        let _ = self.sender.send(Message::Input(input)).await;
    }
}
