//! Standard output and standard error, each written on a thread of its own: a reader that is slow is waited for without
//! anything else having to wait, and one that is gone is noticed.

use std::io::Write;

use tokio::sync::{mpsc, oneshot};

/// How many pieces may be on their way to the reader.
const UNDER_WAY: usize = 16;

/// The writing end.
pub(super) struct Output {
    pieces: Option<mpsc::Sender<String>>,
    ended: oneshot::Receiver<Ended>,
    over: bool,
}

/// How writing ended.
enum Ended {
    /// Everything was written.
    Written,
    /// The reader is gone, or what it reads into is full.
    Failed,
}

impl Output {
    /// Starts a writer. `out` is what it writes to.
    pub(super) fn start(out: impl Write + Send + 'static) -> Self {
        let (pieces, receiver) = mpsc::channel(UNDER_WAY);
        let (said, ended) = oneshot::channel();
        std::thread::spawn(move || {
            // Whoever started the writer may be gone.
            let _ = said.send(write(out, receiver));
        });
        Self { pieces: Some(pieces), ended, over: false }
    }

    /// Ends when the reader goes away.
    pub(super) async fn closed(&mut self) {
        if !self.over && matches!((&mut self.ended).await, Ok(Ended::Failed) | Err(_)) {
            self.over = true;
            self.pieces = None;
            return;
        }
        std::future::pending().await
    }

    /// Ends when there is room for a piece.
    pub(super) fn ready(&self) -> impl Future<Output = ()> + use<> {
        let pieces = self.pieces.clone();
        async move {
            if let Some(pieces) = pieces {
                // Room and nobody to read it are both reasons to go on.
                let _ = pieces.reserve().await;
            }
        }
    }

    /// Hands a piece over, or gives it back if there is no room. With the reader gone it is dropped.
    pub(super) fn offer(&self, piece: String) -> Option<String> {
        match self.pieces.as_ref()?.try_send(piece) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => None,
            Err(mpsc::error::TrySendError::Full(piece)) => Some(piece),
        }
    }

    /// Waits until all is written, or cannot be; says whether it is. May be given up and asked again.
    pub(super) async fn finish(&mut self) -> bool {
        self.pieces = None;
        if self.over {
            return false;
        }
        let ended = (&mut self.ended).await;
        self.over = true;
        matches!(ended, Ok(Ended::Written))
    }
}

fn write(mut out: impl Write, mut pieces: mpsc::Receiver<String>) -> Ended {
    while let Some(piece) = pieces.blocking_recv() {
        if out.write_all(piece.as_bytes()).and_then(|()| out.flush()).is_err() {
            return Ended::Failed;
        }
    }
    Ended::Written
}
