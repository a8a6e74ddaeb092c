//! Work that may block, on a thread of its own; where there is no room for a thread, that is said in a sentence.

use std::thread;

use tokio::sync::oneshot;

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
        Err(error) => Err(no_room("The program cannot go on", &error)),
    }
}

/// What is said where the system has no room for a thread.
pub(super) fn no_room(what: &str, error: &std::io::Error) -> String {
    format!("{what} ({error}); see whether there is room for another process.")
}
