//! A gate: the point in an answer at which the provider waits for the test.
//!
//! It replaces every sleep in a test: the test waits until the answer has reached the gate, looks at the program in
//! the state it is then in, and opens the gate.

use super::lock;
use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A shared latch that starts closed; clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    change: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    reached: usize,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate for good: answers waiting at it continue, later ones pass.
    pub fn open(&self) {
        lock(&self.0.state).open = true;
        self.0.change.notify_all();
    }

    /// Waits until an answer has reached the gate, and says whether one did within `timeout`.
    pub fn wait_reached(&self, timeout: Duration) -> bool {
        self.wait_reached_by(1, timeout)
    }

    /// Waits until `count` answers have reached the gate, and says whether they did within `timeout`.
    pub fn wait_reached_by(&self, count: usize, timeout: Duration) -> bool {
        let state = lock(&self.0.state);
        let waited = self.0.change.wait_timeout_while(state, timeout, |state| state.reached < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.reached >= count
    }

    /// How many answers have reached the gate.
    pub fn reached(&self) -> usize {
        lock(&self.0.state).reached
    }

    /// Counts an arrival and waits until the gate opens or `stopped` is raised.
    pub(super) fn wait_open(&self, stopped: &AtomicBool) {
        let mut state = lock(&self.0.state);
        state.reached += 1;
        self.0.change.notify_all();
        let shut = |state: &mut State| !state.open && !stopped.load(Ordering::SeqCst);
        drop(self.0.change.wait_while(state, shut).unwrap_or_else(PoisonError::into_inner));
    }

    /// Makes every waiter look again.
    pub(super) fn nudge(&self) {
        drop(lock(&self.0.state));
        self.0.change.notify_all();
    }
}
