//! What the reference thinks of tool calls: whether they make sense, whether they may run, and what came of them.

use hostler_core::prompt::PermissionMode;
use hostler_core::tools::Intent;

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// It is neither allowed nor over.
    Waits,
    /// It runs.
    Runs,
    /// It was not allowed.
    Denied,
    /// It is over.
    Over,
}

impl Call {
    /// A call that the model has just made, with the arguments that it wrote.
    pub(super) fn new(name: &str, arguments: &str) -> Self {
        let known = ["bash", "edit", "glob", "grep", "ls", "multiedit", "view", "write"].contains(&name);
        let whole = arguments.trim().ends_with('}') || (name == "ls" && arguments.trim().is_empty());
        if known && whole { Call::Waits } else { Call::Over }
    }

    pub(super) fn is_over(self) -> bool {
        matches!(self, Call::Denied | Call::Over)
    }
}

/// Whether a call may run.
pub(super) fn may_run(name: &str, intent: &Intent, mode: PermissionMode) -> bool {
    let looks = ["view", "ls", "glob", "grep"].contains(&name);
    let outside = intent.reads.iter().chain(&intent.writes).any(|path| !path.inside);
    let acts = !intent.writes.is_empty() || !intent.commands.is_empty() || !intent.hosts.is_empty();
    mode == PermissionMode::Yolo || (looks && intent.complete && !outside && !acts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_make_no_sense_are_over_at_once() {
        assert_eq!(Call::new("ls", "{}"), Call::Waits);
        assert_eq!(Call::new("ls", ""), Call::Waits);
        assert_eq!(Call::new("ls", "{"), Call::Over);
        assert_eq!(Call::new("dream", "{}"), Call::Over);
    }
}
