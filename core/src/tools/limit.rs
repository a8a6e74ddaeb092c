//! How long tools may run.

use super::input::{BashInput, CallInput, ToolInput};

/// How long a command may run unless its call says otherwise, in seconds.
const COMMAND: u64 = 120;

/// How long a call may let one run, in seconds.
const LONGEST_COMMAND: u64 = 3_600;

/// How long any other tool may run, in milliseconds.
const OTHER: u64 = 60_000;

impl BashInput {
    /// After how many seconds it is stopped.
    pub fn limit(&self) -> u64 {
        self.timeout.unwrap_or(COMMAND).clamp(1, LONGEST_COMMAND)
    }
}

/// How long a tool may run by its own limit, in milliseconds; none if it has a bound of another kind.
pub fn longest(input: &CallInput) -> Option<u64> {
    let input = match input {
        CallInput::Tool(input) => input,
        // A sub-agent's steps each have their bounds, and a list is written at once.
        CallInput::Agent(_) | CallInput::Todos(_) => return None,
    };
    match input {
        ToolInput::Bash(bash) => Some(bash.limit() * 1_000),
        ToolInput::View(_)
        | ToolInput::Ls(_)
        | ToolInput::Glob(_)
        | ToolInput::Grep(_)
        | ToolInput::Edit(_)
        | ToolInput::MultiEdit(_)
        | ToolInput::Write(_) => Some(OTHER),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_call;
    use super::*;

    #[test]
    fn a_command_may_run_as_long_as_its_call_says_within_bounds() {
        for (input, limit) in [
            (r#"{"command":"a"}"#, 120_000),
            (r#"{"command":"a","timeout":7}"#, 7_000),
            (r#"{"command":"a","timeout":0}"#, 1_000),
            (r#"{"command":"a","timeout":18446744073709551615}"#, 3_600_000),
        ] {
            assert_eq!(read_call("bash", input).ok().as_ref().and_then(longest), Some(limit), "{input}");
        }
        assert_eq!(read_call("ls", "").ok().as_ref().and_then(longest), Some(60_000));
    }
}
