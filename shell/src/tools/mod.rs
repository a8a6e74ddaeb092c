//! The tools themselves: what each one does when it has been allowed.
//!
//! Nothing here asks anybody or decides whether a call may run: that is the core's business.

mod change;
mod control;
mod edit;
mod files;
mod glob;
mod grep;
mod hits;
mod inspect;
mod lines;
mod ls;
mod names;
mod nearest;
mod outcome;
mod paths;
mod quote;
mod replace;
mod save;
mod text;
mod threads;
mod view;
mod walk;
mod workspace;
mod write;

pub use control::{Cancelled, Canceller, Control, Progress};
pub use inspect::inspect;
pub use workspace::Workspace;
