//! Commands and the processes that come of them, with the built program on Linux: whatever happens to a command or to
//! hostler, nothing is left, and no command costs more memory than another.
//!
//! Some tests measure time, because time is what is promised; each says what it promises.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cost;
mod edits;
mod ends;
mod floods;
mod helper;
mod place;
mod terminal;
