//! The decisions of Hostler, a terminal coding agent.
//!
//! Everything here is a pure function of recorded history: no clock, no randomness, no I/O, no async, no unsafe code.
//! Each state machine gets inputs with their times ([`machine`]), decides, and pushes records ([`record`]) and effects.
//! The shell crate carries the effects out and contains no decisions.
//!
//! Start with [`session`] for what happens between a prompt and its end, [`workspace`] for several sessions in one
//! directory, [`client`] for what a `hostler run` prints, and [`protocol`] for what crosses the door between the two.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;
// The rig of the tests is shared with those in `tests/`, which know this crate by its name.
#[cfg(test)]
extern crate self as hostler_core;

pub mod catalogue;
pub mod client;
pub mod config;
pub mod content;
pub mod digest;
pub mod flight;
pub mod history;
pub mod ids;
pub mod instructions;
pub mod machine;
pub mod model;
pub mod outage;
pub mod prompt;
pub mod protocol;
pub mod provider;
pub mod quote;
pub mod record;
pub mod rehearsal;
#[cfg(test)]
mod rig;
pub mod session;
pub mod time;
pub mod todos;
pub mod tools;
pub mod totals;
pub mod workspace;
