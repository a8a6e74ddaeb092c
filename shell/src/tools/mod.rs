//! The tools themselves: what each one does when it has been allowed.
//!
//! Nothing here asks anybody or decides whether a call may run: that is the core's business.

mod control;
mod files;
mod glob;
mod grep;
mod hits;
mod inspect;
mod lines;
mod ls;
mod names;
mod outcome;
mod paths;
mod quote;
mod text;
mod threads;
mod view;
mod walk;
mod workspace;

pub use control::{Cancelled, Canceller, Control, Progress};
pub use inspect::inspect;
pub use workspace::Workspace;
