//! How a running tool call is steered from outside: it can be cancelled, and it can show output before it has ended.
//!
//! Neither is a decision: who may cancel and what becomes of shown output is the caller's business.

use std::future::pending;

use tokio::sync::{mpsc, oneshot};

/// What a tool call gets besides its arguments.
#[derive(Debug)]
pub struct Control {
    /// Tells when the call is cancelled.
    pub cancelled: Cancelled,
    /// Where output goes while the call is running.
    pub progress: Progress,
}

impl Control {
    /// A call that nobody cancels and nobody watches.
    pub fn alone() -> Self {
        Self { cancelled: Cancelled(State::Never), progress: Progress::nowhere() }
    }

    /// A call that can be cancelled, and whose output goes to `progress`.
    pub fn new(progress: Progress) -> (Canceller, Self) {
        let (sender, receiver) = oneshot::channel();
        (Canceller(sender), Self { cancelled: Cancelled(State::Watching(receiver)), progress })
    }
}

/// Cancels a tool call. Dropping it without doing so lets the call run to its end.
#[derive(Debug)]
pub struct Canceller(oneshot::Sender<()>);

impl Canceller {
    /// Cancels the call; nothing happens if it has ended.
    pub fn cancel(self) {
        // The receiver is gone when the call has ended, which is as good as having cancelled it.
        let _ = self.0.send(());
    }
}

/// The running call's end of a cancellation.
#[derive(Debug)]
pub struct Cancelled(State);

#[derive(Debug)]
enum State {
    Watching(oneshot::Receiver<()>),
    Never,
    Done,
}

impl Cancelled {
    /// Ends when the call is cancelled, and never if it cannot be any more. May be dropped and called again.
    pub async fn wait(&mut self) {
        if let State::Watching(receiver) = &mut self.0 {
            let heard = receiver.await;
            self.0 = if heard.is_ok() { State::Done } else { State::Never };
        }
        if matches!(self.0, State::Never) {
            pending::<()>().await;
        }
    }

    /// Whether the call has been cancelled already.
    pub fn is_cancelled(&mut self) -> bool {
        if let State::Watching(receiver) = &mut self.0
            && receiver.try_recv().is_ok()
        {
            self.0 = State::Done;
        }
        matches!(self.0, State::Done)
    }
}

/// Where a running call's output goes. Pieces that the receiver has no room for are left out, so that a slow watcher
/// never holds a command up.
#[derive(Debug)]
pub struct Progress(Option<mpsc::Sender<String>>);

impl Progress {
    /// Output goes nowhere before the call has ended.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// Output goes to that channel in pieces, as far as there is room.
    pub fn to(sender: mpsc::Sender<String>) -> Self {
        Self(Some(sender))
    }

    /// Passes a piece of output on.
    pub(super) fn piece(&self, text: &str) {
        if let Some(sender) = &self.0
            && !text.is_empty()
        {
            // Full or closed: the outcome has the text anyway.
            let _ = sender.try_send(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cancelled_call_hears_of_it_as_often_as_it_asks() {
        let (canceller, mut control) = Control::new(Progress::nowhere());
        assert!(!control.cancelled.is_cancelled());
        canceller.cancel();
        control.cancelled.wait().await;
        control.cancelled.wait().await;
        assert!(control.cancelled.is_cancelled());
    }

    #[tokio::test]
    async fn a_dropped_canceller_cancels_nothing() {
        let (canceller, mut control) = Control::new(Progress::nowhere());
        drop(canceller);
        tokio::select! {
            biased;
            () = control.cancelled.wait() => unreachable!("nobody cancelled"),
            () = tokio::task::yield_now() => {}
        }
        assert!(!control.cancelled.is_cancelled());
    }

    #[test]
    fn pieces_without_room_are_left_out() {
        let (sender, mut receiver) = mpsc::channel(1);
        let progress = Progress::to(sender);
        for piece in ["", "one", "two"] {
            progress.piece(piece);
        }
        drop(progress);
        assert_eq!(receiver.blocking_recv().as_deref(), Some("one"));
        assert_eq!(receiver.blocking_recv(), None);
    }
}
