//! The tools as decisions see them: their names, what they take, and which may overlap.
//!
//! What they do is in the shell. A model's arguments are checked here, before anything is asked of the shell, and the
//! shell runs a tool from the same typed input.

#[cfg(test)]
mod fuzz;
mod input;
mod limit;
mod permission;
mod spec;

pub use input::{
    AgentInput, BadInput, BashInput, CallInput, EditInput, GlobInput, GrepInput, LsInput, MultiEditInput,
    Replace, TodosInput, ToolInput, ViewInput, WriteInput, read, read_call, unknown,
};
pub use limit::longest;
#[cfg(test)]
pub(crate) use permission::strength;
pub use permission::{
    Access, Action, Argument, Ask, BadRule, Intent, Opaque, Part, PathUse, Rule, Shut, Subject, Verdict,
    forbidding_rule, is_offered, judge, line,
};
pub(crate) use permission::{Kind, Sign, all_of, is_system, signs, tells};
pub use spec::{overlaps, specs, sub_agent_specs};
