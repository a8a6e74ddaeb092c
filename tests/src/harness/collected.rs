//! What a program prints, collected on a thread while it is running, so that a test can wait for any of it.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::PATIENCE;

/// The output so far, and the thread that reads it.
#[derive(Debug)]
pub(super) struct Collected {
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    change: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    over: bool,
}

impl Collected {
    /// Reads to the end, or goes away after `most` bytes as a reader does that has seen enough.
    pub(super) fn from(source: impl Read + Send + 'static, most: Option<usize>) -> Self {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let reader = thread::spawn(move || own.read(source, most));
        Self { shared, reader: Some(reader) }
    }

    /// What is printed goes elsewhere.
    pub(super) fn nothing() -> Self {
        Self { shared: Arc::default(), reader: None }
    }

    /// Waits until what was printed fits, and returns it.
    pub(super) fn wait(&self, what: &str, fits: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let waits = |state: &mut State| !fits(&state.bytes) && !state.over;
        let waited = self.shared.change.wait_timeout_while(self.shared.lock(), PATIENCE, waits);
        let bytes = waited.unwrap_or_else(PoisonError::into_inner).0.bytes.clone();
        assert!(fits(&bytes), "waited in vain for {what}; printed was:\n{}", String::from_utf8_lossy(&bytes));
        bytes
    }

    /// What was printed so far.
    pub(super) fn so_far(&self) -> Vec<u8> {
        self.shared.lock().bytes.clone()
    }

    /// All that was printed. The program must have ended.
    pub(super) fn all(&mut self) -> Vec<u8> {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader of the output does not panic");
        }
        self.so_far()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut source: impl Read, most: Option<usize>) {
        let mut piece = vec![0; 64 * 1024];
        if most == Some(0) {
            return;
        }
        loop {
            let read = source.read(&mut piece).unwrap_or(0);
            let mut state = self.lock();
            state.bytes.extend_from_slice(&piece[..read]);
            let enough = most.is_some_and(|most| state.bytes.len() >= most);
            state.over = read == 0 || enough;
            self.change.notify_all();
            if state.over {
                return;
            }
        }
    }
}
