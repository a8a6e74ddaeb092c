//! Text printed as it comes: steps are separated by a blank line, and what comes between begins a line of its own.

use alloc::format;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

/// Where printing stands, and whether what was printed last ended its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Live {
    /// Nothing was printed.
    #[default]
    Nothing,
    /// Text of the current step was printed.
    Inside { ended: bool },
    /// Text of an earlier step, or of an attempt that is void, was printed.
    Between { ended: bool },
}

impl Live {
    /// What to print for more text.
    pub(super) fn print(&mut self, more: &str) -> String {
        let gap = match self {
            Live::Between { ended: true } => "\n",
            Live::Between { ended: false } => "\n\n",
            Live::Nothing | Live::Inside { .. } => "",
        };
        *self = Live::Inside { ended: more.ends_with('\n') };
        format!("{gap}{more}")
    }

    /// What to print so that what comes next begins a line of its own, if anything.
    pub(super) fn break_line(&mut self) -> Option<String> {
        match self {
            Live::Nothing => None,
            Live::Inside { ended } | Live::Between { ended } => {
                let open = !*ended;
                *self = Live::Between { ended: true };
                open.then(|| "\n".to_string())
            }
        }
    }

    /// The step is over.
    pub(super) fn end_step(&mut self) {
        if let Live::Inside { ended } = *self {
            *self = Live::Between { ended };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_separated_by_a_blank_line() {
        for (first, breaks, expected) in
            [("a", false, "a\n\nb"), ("a", true, "a\n\nb"), ("a\n", false, "a\n\nb"), ("a\n", true, "a\n\nb")]
        {
            let mut live = Live::default();
            let mut printed = live.print(first);
            if breaks {
                printed.extend(live.break_line());
            }
            live.end_step();
            printed += &live.print("b");
            assert_eq!(printed, expected, "{first:?} {breaks}");
        }
    }

    #[test]
    fn pieces_of_a_step_follow_each_other_and_the_end_gets_a_line_break() {
        let mut live = Live::default();
        assert_eq!(live.break_line(), None);
        assert_eq!(live.print("a") + &live.print("b"), "ab");
        live.end_step();
        assert_eq!(live.break_line(), Some("\n".to_string()));
        assert_eq!(live.break_line(), None);
    }
}
