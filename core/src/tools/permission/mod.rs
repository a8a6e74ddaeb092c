//! Whether a tool call may run.
//!
//! The shell finds out what a call would touch ([`Intent`]). Its parts, which are each executed command, path and host,
//! are judged one by one against the rules that people wrote or granted ([`Rule`]): one part that is denied denies the
//! call, else one that needs permission asks for it ([`judge`]). What is asked for can be granted as rules ([`Ask`]).
//!
//! Within one kind of part the rule with the longest literal prefix decides, and of equally long ones the strictest; a rule
//! of a whole tool is the weakest of all. A command of which nobody can know what it does ([`Opaque`]) is a part of its own
//! besides, for which a rule must say that command exactly or name its program. What a rule allows is taken narrowly and what it denies broadly (`matching`),
//! so that a doubt ends in a question.
//!
//! A call that goes through a directory is judged by that directory; what it must leave out on its way is said by [`Shut`].

mod ask;
mod glob;
mod intent;
mod judge;
mod line;
mod matching;
mod rule;
mod shut;
#[cfg(test)]
mod tests;

pub use ask::{Ask, Part};
pub(crate) use ask::{all_of, tells};
pub(crate) use glob::{Kind, Sign, signs};
pub use intent::{Access, Argument, Intent, Opaque, PathUse};
pub use judge::{Verdict, forbidding_rule, is_offered, judge};
pub use line::line;
pub(crate) use matching::is_system;
#[cfg(test)]
pub(crate) use matching::strength;
pub use rule::{Action, BadRule, Rule, Subject};
pub use shut::Shut;
