//! What would have let calls pass that were denied because nobody could be asked, for whoever reads standard error when the
//! run is over. One line for each kind of call, and no more lines than anybody reads.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::super::text;
use super::{Effect, Headless};
use crate::content::{ToolOutcome, ToolStatus};
use crate::machine::Effects;
use crate::session::Allowing;
use crate::tools::line;

/// How many lines there are at most.
const LINES: usize = 3;

/// How many rules one line asks for at most; who would need more is better served by allowing everything.
const RULES: usize = 2;

/// The kinds of call that were denied, in order: one call of each, and the rules that would have let it pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hints(Vec<(String, Vec<String>)>);

impl Hints {
    /// Takes note of a call that has ended.
    pub(super) fn note(&mut self, name: &str, input: &str, outcome: &ToolOutcome) {
        let denied = outcome.metadata.as_deref().filter(|_| outcome.status == ToolStatus::Denied);
        let Some(Allowing { allow }) = denied.and_then(|facts| serde_json::from_str(facts).ok()) else {
            return;
        };
        if !self.0.iter().any(|(_, known)| *known == allow) {
            self.0.push((text::call_line(name, input), allow));
        }
    }

    /// What there is to say.
    fn lines(&self) -> Vec<String> {
        let shown = if self.0.len() > LINES { LINES - 1 } else { LINES };
        let mut lines: Vec<_> = self.0.iter().take(shown).map(|(call, allow)| hint(call, allow)).collect();
        let more = self.0.len().saturating_sub(shown);
        if more > 0 {
            lines.push(format!("Denied besides: {more} other kinds of call; allow everything with --yolo."));
        }
        lines
    }
}

impl Headless {
    /// Says what would have let calls pass.
    pub(super) fn say_hints(&self, out: &mut Effects<Effect>) {
        for line in self.hints.lines() {
            self.tell(format!("hostler: {line}"), out);
        }
    }
}

fn hint(call: &str, allow: &[String]) -> String {
    let options = allow.iter().map(|rule| line(&["--allow".to_string(), rule.clone()]));
    let options: Vec<_> = options.collect();
    match options.as_slice() {
        [] => format!("Denied: {call}; allow everything with --yolo."),
        rules if rules.len() > RULES => format!("Denied: {call}; allow everything with --yolo."),
        rules => format!("Denied: {call}; allow it with {}, or everything with --yolo.", rules.join(" ")),
    }
}
