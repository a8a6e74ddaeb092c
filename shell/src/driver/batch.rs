//! What one batch consists of: everything that waits, within limits, a passed deadline first.

use hostler_core::ids::RequestId;
use hostler_core::machine::Machine;
use hostler_core::model::ModelEvent;
use hostler_core::protocol::{Command, Refusal, RefusalKind, Reply, Request};
use hostler_core::session::{self, Durable};
use hostler_core::workspace::Input;
use tokio::sync::{mpsc, oneshot};

use super::{Driver, Message};

/// How many inputs one batch has at the most.
const INPUTS: usize = 256;

/// About how many bytes of streamed data one batch has at the most.
const BYTES: usize = 4 << 20;

impl Driver {
    /// Waits for something to happen and takes all that has. Also says if everything is to stop after it.
    pub(super) async fn gather(&mut self) -> (Vec<Input>, Option<oneshot::Sender<()>>) {
        let mut batch = Batch::default();
        if self.is_due() {
            batch.inputs.push(Input::Tick);
        }
        batch.inputs.extend(self.pending.drain(..));
        if batch.inputs.is_empty()
            && let Some(message) = self.wait().await
        {
            self.take(message, &mut batch);
        }
        while batch.has_room()
            && let Ok(message) = self.inbox.try_recv()
        {
            self.take(message, &mut batch);
        }
        (batch.inputs, batch.close)
    }

    fn is_due(&self) -> bool {
        self.machine.deadline().is_some_and(|(at, _)| at <= self.setup.clock.now())
    }

    /// The next message; none if a deadline passes first.
    async fn wait(&mut self) -> Option<Message> {
        let Some((at, _)) = self.machine.deadline() else { return receive(&mut self.inbox).await };
        let due = self.setup.clock.instant(at);
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(due) => None,
            message = receive(&mut self.inbox) => message,
        }
    }

    fn take(&mut self, message: Message, batch: &mut Batch) {
        match message {
            Message::Input(input) => {
                self.jobs.ended(&input);
                batch.push(input);
            }
            Message::Locked { session, lock } => batch.inputs.extend(self.locked(session, lock)),
            Message::Request { request: Request::Query(query), reply } => {
                // Whoever asked may have gone in the meantime.
                let _ = reply.send(self.query(&query));
            }
            Message::Request { request: Request::Command(command), reply } => {
                match self.source_of(&command) {
                    Err(refusal) => drop(reply.send(Reply::Refused(refusal))),
                    Ok(source) => {
                        self.requests += 1;
                        let id = RequestId(self.requests);
                        self.replies.insert(id, reply);
                        let taken = self.taken(&command).map(Box::new);
                        batch.inputs.push(Input::Request { id, command, taken, source });
                    }
                }
            }
            Message::Subscribe { from, reply } => {
                let page = self.publisher.subscribe(from, &self.setup.store);
                let _ = reply.send(page);
            }
            Message::Close(done) => batch.close = Some(done),
        }
    }
}

impl Driver {
    /// What a command needs from the log, or why it cannot be decided.
    fn source_of(&mut self, command: &Command) -> Result<Option<Box<Durable>>, Refusal> {
        match self.refusal() {
            Some(refusal) => Err(refusal),
            None => {
                let source = self.source(command);
                source.map_err(|error| Refusal::new(RefusalKind::Storage, error.to_string()))
            }
        }
    }
}

/// The inbox cannot close while the driver holds a sender of it; if it did, there would be nothing to wait for.
async fn receive(inbox: &mut mpsc::Receiver<Message>) -> Option<Message> {
    match inbox.recv().await {
        Some(message) => Some(message),
        None => std::future::pending().await,
    }
}

#[derive(Default)]
struct Batch {
    inputs: Vec<Input>,
    bytes: usize,
    close: Option<oneshot::Sender<()>>,
}

impl Batch {
    fn push(&mut self, input: Input) {
        self.bytes += size(&input);
        self.inputs.push(input);
    }

    fn has_room(&self) -> bool {
        self.inputs.len() < INPUTS && self.bytes < BYTES && self.close.is_none()
    }
}

/// About how many bytes an input carries, as far as that can be much.
fn size(input: &Input) -> usize {
    let Input::Session { input, .. } = input else { return 0 };
    match input {
        session::Input::Model { event, .. } => match event {
            ModelEvent::Text { text, .. }
            | ModelEvent::Reasoning { text, .. }
            | ModelEvent::Input { text, .. } => text.len(),
            ModelEvent::Opaque { data, .. } => data.len(),
            ModelEvent::Connected
            | ModelEvent::Call { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Ending(_)
            | ModelEvent::Finished(_)
            | ModelEvent::Failed(_) => 0,
        },
        session::Input::Title { event: ModelEvent::Text { text, .. } }
        | session::Input::ToolOutput { text, .. } => text.len(),
        session::Input::ToolFinished { outcome, .. } => outcome.text.len(),
        session::Input::Opened
        | session::Input::Submit { .. }
        | session::Input::Cancel { .. }
        | session::Input::ClearQueue { .. }
        | session::Input::Answer { .. }
        | session::Input::Rename { .. }
        | session::Input::Fork { .. }
        | session::Input::Title { .. }
        | session::Input::Checked { .. }
        | session::Input::Prepared { .. }
        | session::Input::Inspected { .. }
        | session::Input::Tick => 0,
    }
}
