//! What a program prints, collected on a thread while it is running, so that a test can wait for any of it.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

use super::PATIENCE;

/// The output so far, and the thread that reads it.
#[derive(Debug)]
pub(super) struct Collected {
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
    /// The reader goes away when this is dropped.
    stays: Mutex<Option<PipeWriter>>,
    /// What is read only at the end.
    later: Option<Source>,
}

struct Source(Box<dyn Read + Send>);

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
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
    pub(super) fn from(source: impl Read + AsFd + Send + 'static, most: Option<usize>) -> Self {
        if most == Some(0) {
            return Self::nothing();
        }
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let (told, stays) = io::pipe().expect("the system gives a pipe");
        let reader = thread::spawn(move || own.read(Leaving { source, told }, most));
        Self { shared, reader: Some(reader), stays: Mutex::new(Some(stays)), later: None }
    }

    /// What is printed goes elsewhere.
    pub(super) fn nothing() -> Self {
        Self { shared: Arc::default(), reader: None, stays: Mutex::default(), later: None }
    }

    /// Reads nothing before all of it is asked for.
    pub(super) fn later(source: impl Read + Send + 'static) -> Self {
        Self { later: Some(Source(Box::new(source))), ..Self::nothing() }
    }

    /// Begins to read what was to be read only at the end.
    pub(super) fn wake(&mut self) {
        if let Some(Source(source)) = self.later.take() {
            let own = Arc::clone(&self.shared);
            self.reader = Some(thread::spawn(move || own.read(source, None)));
        }
    }

    /// The reader goes away, whatever is still to come.
    pub(super) fn leave(&self) {
        drop(self.stays.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.wait_or_end(|_| false);
    }

    /// Waits until what was printed fits or the output is over, and returns it.
    pub(super) fn wait_or_end(&self, fits: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let waits = |state: &mut State| !fits(&state.bytes) && !state.over;
        let waited = self.shared.change.wait_timeout_while(self.shared.lock(), PATIENCE, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.bytes.clone()
    }

    /// Waits until what was printed fits, and returns it.
    pub(super) fn wait(&self, what: &str, fits: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let bytes = self.wait_or_end(&fits);
        assert!(fits(&bytes), "waited in vain for {what}; printed was:\n{}", String::from_utf8_lossy(&bytes));
        bytes
    }

    /// What was printed so far.
    pub(super) fn so_far(&self) -> Vec<u8> {
        self.shared.lock().bytes.clone()
    }

    /// All that was printed. The program must have ended.
    pub(super) fn all(&mut self) -> Vec<u8> {
        if let Some(Source(source)) = self.later.take() {
            self.shared.read(source, None);
        }
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader of the output does not panic");
        }
        self.so_far()
    }
}

/// A source that is over as soon as its reader is told to go away.
struct Leaving<S> {
    source: S,
    told: PipeReader,
}

impl<S: Read + AsFd> Read for Leaving<S> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let mut both = [PollFd::new(&self.told, PollFlags::IN), PollFd::new(&self.source, PollFlags::IN)];
        poll(&mut both, None)?;
        if both[0].revents().is_empty() { self.source.read(piece) } else { Ok(0) }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut source: impl Read, most: Option<usize>) {
        let mut piece = vec![0; 64 * 1024];
        loop {
            let read = source.read(&mut piece).unwrap_or(0);
            let mut state = self.lock();
            state.bytes.extend_from_slice(&piece[..read]);
            self.change.notify_all();
            if read == 0 || most.is_some_and(|most| state.bytes.len() >= most) {
                break;
            }
        }
        // Whoever is told that it is over relies on the reader's being gone.
        drop(source);
        self.lock().over = true;
        self.change.notify_all();
    }
}
