//! Configuration as data: what it may say ([`keys`]), what is wrong with a file ([`check`]), what holds when several
//! places speak ([`merge`]), and what the program makes of it ([`typed`]).
//!
//! From the weakest to the strongest: the defaults, the user's file, the project's file, the environment; the command line
//! is stronger still and comes after. A project's file says only what can do no harm until the user trusts its
//! directory. Files are found, read and written by the shell.

pub mod check;
pub mod keys;
pub mod merge;
pub mod nearest;
pub mod path;
pub mod quantity;
pub mod schema;
pub mod show;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod typed;

pub use check::Mistake;
pub use merge::{Layer, Settings, Source};
pub use path::Path;
pub use typed::{Config, Limits, Provider};
