//! Work that may block, on a thread of its own; where there is no room for a thread, that is said in a sentence.

use std::thread;

use tokio::sync::oneshot;

use crate::room::no_room;

/// Starts the work; what it comes to is received once. Fails with a sentence if there is no room for a thread.
pub(super) fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, String> {
    let (said, done) = oneshot::channel();
    let body = move || {
        // Whoever wanted it may be gone.
        let _ = said.send(work());
    };
    match thread::Builder::new().name("aside".to_owned()).spawn(body) {
        Ok(_) => Ok(done),
        Err(error) => Err(no_room("The program cannot go on", error)),
    }
}
