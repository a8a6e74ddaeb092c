//! The harness: starts the built program as a person or a script would, and checks what every run must keep to.
//!
//! A [`Home`] is a home, a place for state and a working directory that belong to one test. It makes [`Hostler`]
//! command lines; one that is started is a [`Running`], and [`Running::finish`] waits for its end, collects what it
//! printed, and checks the contract: the lines of the run, that the provider refused no request, that every flight
//! record replays to the same decisions, and that no process is left behind.
//!
//! Nothing here sleeps to let something happen: tests wait for a line, a file, a request or an end, and a wait that
//! takes longer than [`PATIENCE`] fails the test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod check;
mod collected;
mod command;
mod contract;
mod flights;
mod home;
mod lines;
mod processes;
mod running;
mod schema;
mod signals;
pub mod snapshot;

pub use command::{Hostler, variables};
pub use flights::replay as replay_flights;
pub use home::{Home, model};
pub use lines::Lines;
pub use running::{Finished, Running};
pub use signals::Signal;

use std::thread;
use std::time::{Duration, Instant};

/// Far longer than anything here takes; reaching it is a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often something is looked at that nobody tells of, such as a file or a process.
const LOOK: Duration = Duration::from_millis(2);

/// Waits until something is so.
///
/// # Panics
///
/// When it does not come to be; the message says what was waited for.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(LOOK);
    }
}
