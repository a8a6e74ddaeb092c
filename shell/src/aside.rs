//! Work that may block, such as looking at files, on a thread of its own: whatever a disk does, the driver goes on.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Does it on a thread of its own. Fails if there is no thread to be had, or if it panics.
///
/// If the future is dropped, what was begun goes on, and nobody learns what came of it.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        // Nobody receives it when it was given up.
        let _ = sender.send(work());
    };
    thread::Builder::new().name("aside".to_owned()).spawn(body)?;
    receiver.await.map_err(|_| io::Error::other("it broke down inside hostler"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_came_of_it_is_told_and_what_broke_down_too() {
        assert_eq!(aside(|| 7).await.ok(), Some(7));
        let broken: io::Result<u8> = aside(|| panic!("on purpose")).await;
        assert!(broken.is_err());
    }

    #[tokio::test]
    async fn whatever_blocks_does_not_hold_up_the_rest() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let blocked = tokio::spawn(aside(move || wait.recv()));
        assert_eq!(aside(|| 7).await.ok(), Some(7));
        drop(go);
        assert!(blocked.await.is_ok());
    }
}
