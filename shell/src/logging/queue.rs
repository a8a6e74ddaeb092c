//! Lines on their way to a writer. Whoever puts one in never waits for the writer, and the end of the process waits for it
//! only so long.

use std::fmt::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hostler_core::quote::count;

/// How many bytes may wait.
const WAITING_BYTES: usize = 1 << 20;

/// How many bytes are worth writing at once.
const ENOUGH: usize = 64 << 10;

/// Lines that wait, shared with their writer.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or the end has come.
    work: Condvar,
    /// The writer is gone.
    over: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: String,
    /// How many lines found no room.
    lost: u64,
    writer: Writer,
    is_ending: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Writer {
    /// There is none yet.
    #[default]
    Awaited,
    Writing,
    Gone,
}

impl Queue {
    pub(super) fn new() -> Self {
        let (state, work, over) = (Mutex::default(), Condvar::new(), Condvar::new());
        Self { shared: Arc::new(Shared { state, work, over }) }
    }

    /// Puts a line in, if there is room.
    pub(super) fn push(&self, line: &str) {
        let mut state = self.shared.lock();
        if state.writer == Writer::Gone {
            return;
        }
        if state.lines.len() + line.len() > WAITING_BYTES {
            state.lost += 1;
            return;
        }
        let before = state.lines.len();
        state.lines.push_str(line);
        let after = state.lines.len();
        drop(state);
        // In between the writer knows already, or waits for more.
        if before == 0 || (before < ENOUGH && after >= ENOUGH) {
            self.shared.work.notify_one();
        }
    }

    /// Starts a thread that writes what is put in, whole lines together, for as long as `write` says that it can be written.
    /// The first of them waits for others for as long as `linger`, so that whoever logs is not disturbed by much writing. A
    /// queue has one writer; where no thread can be had, it has none.
    pub(super) fn write_with(
        &self,
        name: &str,
        linger: Duration,
        mut write: impl FnMut(&str) -> bool + Send + 'static,
    ) {
        let mut state = self.shared.lock();
        if state.writer != Writer::Awaited {
            return;
        }
        let shared = self.shared.clone();
        let body = move || {
            let gone = Leaving(shared);
            while gone.0.take(linger).is_some_and(|lines| write(&lines)) {}
        };
        let started = thread::Builder::new().name(name.to_owned()).spawn(body).is_ok();
        state.writer = if started { Writer::Writing } else { Writer::Gone };
    }

    /// Lets the writer end, and waits for that until then at the most.
    pub(super) fn end(&self, until: Instant) {
        let mut state = self.shared.lock();
        state.is_ending = true;
        self.shared.work.notify_one();
        while state.writer == Writer::Writing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.shared.over.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for lines; none once all is written and the end has come.
    fn take(&self, linger: Duration) -> Option<String> {
        let mut state = self.lock();
        while state.lines.is_empty() && state.lost == 0 {
            if state.is_ending {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let until = Instant::now() + linger;
        while !state.is_ending && state.lines.len() < ENOUGH {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut lines = std::mem::take(&mut state.lines);
        let lost = std::mem::take(&mut state.lost);
        drop(state);
        if lost > 0 {
            // Writing to a string does not fail.
            let _ = writeln!(
                lines,
                "(Lost, because they came faster than they could be written: {})",
                count(lost, "line")
            );
        }
        Some(lines)
    }
}

/// Says that the writer is gone, in whatever way.
struct Leaving(Arc<Shared>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.writer = Writer::Gone;
        state.lines = String::new();
        self.0.over.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn what_came_before_the_writer_is_written_too_and_the_end_waits_for_all() {
        let (queue, (written, lines)) = (Queue::new(), mpsc::channel());
        queue.push("one\n");
        queue.push("two\n");
        queue.write_with("test", Duration::ZERO, move |lines| written.send(lines.to_owned()).is_ok());
        queue.push("three\n");
        queue.end(soon());
        assert_eq!(lines.into_iter().collect::<String>(), "one\ntwo\nthree\n");
    }

    #[test]
    fn lines_are_waited_for_and_written_together_and_the_end_waits_for_no_more() {
        let (queue, (written, lines)) = (Queue::new(), mpsc::channel());
        queue.write_with("test", Duration::from_secs(3600), move |lines| {
            written.send(lines.to_owned()).is_ok()
        });
        queue.push("one\n");
        queue.push("two\n");
        queue.end(soon());
        assert_eq!(lines.into_iter().collect::<Vec<String>>(), ["one\ntwo\n"]);
    }

    #[test]
    fn a_writer_that_hangs_holds_nobody_up_and_what_finds_no_room_is_counted() {
        let queue = Queue::new();
        let ((entered, inside), (go, wait)) = (mpsc::channel(), mpsc::channel::<()>());
        let (written, lines) = mpsc::channel();
        queue.write_with("test", Duration::ZERO, move |lines| {
            let _ = entered.send(());
            let _ = wait.recv();
            written.send(lines.to_owned()).is_ok()
        });
        queue.push("first\n");
        inside.recv().unwrap();
        let line = format!("{}\n", "x".repeat(1023));
        for _ in 0..1030 {
            queue.push(&line);
        }
        queue.end(Instant::now());
        drop(go);
        queue.end(soon());
        let written: Vec<String> = lines.into_iter().collect();
        assert_eq!((written.len(), written[0].as_str(), written[1].lines().count()), (2, "first\n", 1025));
        assert!(
            written[1].ends_with("(Lost, because they came faster than they could be written: 6 lines)\n")
        );
    }

    #[test]
    fn what_cannot_be_written_is_given_up() {
        let queue = Queue::new();
        queue.push("one\n");
        queue.write_with("test", Duration::ZERO, |_| false);
        queue.end(soon());
        queue.push("two\n");
        assert_eq!(queue.shared.lock().lines, "");
    }
}
