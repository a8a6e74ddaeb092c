//! Carries out what `hostler-core` decides: the log in SQLite, HTTP to providers, processes, files, and the loop that
//! ties them to the machine. It contains no decisions.
//!
//! Start with [`driver`]; clients come in through [`door`].

mod aside;
pub mod clock;
pub mod config;
pub mod door;
pub mod driver;
mod home;
pub mod logging;
pub mod models;
pub mod rules;
pub mod schema;
pub mod store;
pub mod tools;
