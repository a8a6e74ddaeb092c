//! Test support: what end-to-end tests need around the built program.
//!
//! [`strict`] is a chat completions provider that refuses what a real one refuses.

pub mod strict;
