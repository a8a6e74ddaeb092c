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
    attempt: AttemptId,
}

impl Sink {
    pub(crate) fn new(sender: mpsc::Sender<Message>, session: SessionId, attempt: AttemptId) -> Self {
        Self { sender, session, attempt }
    }

    /// Says something. Nobody listens any more once the workspace is closed.
    pub async fn say(&self, event: ModelEvent) {
        let input = SessionInput::Model { attempt: self.attempt, event };
        let input = Input::Session { session: self.session.clone(), input };
        let _ = self.sender.send(Message::Input(input)).await;
    }
}
