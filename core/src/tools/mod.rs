//! The tools as decisions see them: their names, what they take, and which may overlap.
//!
//! What they do is in the shell. A model's arguments are checked here, before anything is asked of the shell, and the
//! shell runs a tool from the same typed input.

mod input;
mod intent;
mod limit;
mod spec;

pub use input::{
    BadInput, BashInput, EditInput, GlobInput, GrepInput, LsInput, ToolInput, ViewInput, WriteInput, read,
};
pub use intent::{Intent, PathUse, Verdict, judge};
pub use limit::longest;
pub use spec::{overlaps, specs};
