//! What the system may have no room for: a runtime, another thread.

use std::fmt::Display;

use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// What is said where the system has no room for a thread.
pub(crate) fn no_room(what: &str, error: impl Display) -> String {
    format!("{what} ({error}); see whether there is room for another process.")
}

/// What waits for the network, the disk and the clock, on this thread.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::error(no_room("The program cannot start", error)))
}
