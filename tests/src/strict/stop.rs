//! The server's end: one flag that interrupts every wait in progress.
//!
//! A server that is dropped while an answer sleeps, stalls or waits at a gate must end all three at once.

use super::{gate::Gate, lock};
use std::{
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Set once, when the server is dropped.
#[derive(Debug, Default)]
pub(super) struct Stop {
    set: AtomicBool,
    gates: Mutex<Vec<Gate>>,
    sleepers: Mutex<()>,
    wake: Condvar,
}

impl Stop {
    /// Whether the server is ending.
    pub(super) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    /// Ends every wait, present and future.
    pub(super) fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
        // The flag is raised before the locks are taken, so that a waiter either sees it or is already waiting.
        drop(lock(&self.sleepers));
        self.wake.notify_all();
        for gate in lock(&self.gates).iter() {
            gate.nudge();
        }
    }

    /// Sleeps for `time`, and says whether it slept to the end.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        if time.is_zero() {
            return !self.is_set();
        }
        let guard = lock(&self.sleepers);
        let slept = self.wake.wait_timeout_while(guard, time, |()| !self.is_set());
        drop(slept.unwrap_or_else(PoisonError::into_inner));
        !self.is_set()
    }

    /// Waits at `gate` until it opens, and says whether it did.
    pub(super) fn hold(&self, gate: &Gate) -> bool {
        lock(&self.gates).push(gate.clone());
        gate.wait_open(&self.set);
        !self.is_set()
    }
}
