//! Test support: what end-to-end tests need around the built program.
//!
//! [`strict`] is a chat completions provider that refuses what a real one refuses. [`harness`] starts the program in a
//! home of its own and checks what every run must keep to.

pub mod harness;
pub mod strict;
