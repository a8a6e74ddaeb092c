//! The built program, end to end, against the strict provider.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
mod cancel;
mod commands;
mod configuration;
mod context;
mod crash;
mod denied;
mod disk;
mod errors;
mod faults;
mod files;
mod gemini;
mod hostile;
mod input;
mod inquiries;
mod intact;
mod kept;
mod kin;
mod limits;
mod logs;
mod matrix;
mod models;
mod output;
mod phases;
mod places;
mod protocols;
mod providers;
mod rehearsal;
mod replay;
mod responses;
mod rules;
mod schemas;
mod sessions;
mod signals;
mod stopped;
mod streams;
mod summaries;
mod table;
mod terminal;
mod together;
mod too_long;
mod trust;
mod work;

use hostler_tests::harness::{Home, PATIENCE};

/// A home of its own for a test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_hostler-under-test"))
}
