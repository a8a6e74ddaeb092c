//! Which calls were denied, and what would let them pass: a rule that allows them where nobody could be asked, or a change of
//! the rule that forbids them. For whoever reads standard error when the run is over. One line for each kind of call, and no
//! more lines than anybody reads.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::super::text;
use super::{Effect, Headless};
use crate::content::{ToolOutcome, ToolStatus};
use crate::machine::Effects;
use crate::session::Allowing;
use crate::tools::{all_of, forbidding_rule, line};

/// How many lines there are at most.
const LINES: usize = 3;

/// How many rules one line asks for at most; who would need more is better served by allowing everything.
const RULES: usize = 2;

/// The kinds of call that were denied, in order: one call of each, and why it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hints(Vec<(String, Why)>);

/// Why a call was denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Why {
    /// Nobody could be asked; these rules would have let it pass.
    NobodyAsked(Vec<String>),
    /// Nobody could be asked, and it is not known what it does; the rule of the whole tool would have let it pass, if that is
    /// so.
    Unknown(Vec<String>),
    /// This rule forbids it.
    Rule(String),
}

impl Hints {
    /// Takes note of a call that has ended.
    pub(super) fn note(&mut self, name: &str, input: &str, outcome: &ToolOutcome) {
        if outcome.status != ToolStatus::Denied {
            return;
        }
        let facts = outcome.metadata.as_deref().and_then(|facts| serde_json::from_str(facts).ok());
        let why = match facts {
            Some(Allowing { allow, unknown: true }) => Some(Why::Unknown(allow)),
            Some(Allowing { allow, unknown: false }) => Some(Why::NobodyAsked(allow)),
            None => forbidding_rule(name, &outcome.text).map(|rule| Why::Rule(rule.to_string())),
        };
        if let Some(why) = why
            && !self.0.iter().any(|(_, known)| *known == why)
        {
            self.0.push((text::call_line(name, input), why));
        }
    }

    /// What there is to say.
    fn lines(&self) -> Vec<String> {
        let shown = if self.0.len() > LINES { LINES - 1 } else { LINES };
        let mut lines: Vec<_> = self.0.iter().take(shown).map(|(call, why)| hint(call, why)).collect();
        let rest = self.0.get(shown..).unwrap_or_default();
        if !rest.is_empty() {
            let more = format!("Denied besides: {} other kinds of call", rest.len());
            let could_be = rest.iter().any(|(_, why)| !matches!(why, Why::Rule(_)));
            lines.push(more + if could_be { "; allow everything with --yolo." } else { "." });
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

fn hint(call: &str, why: &Why) -> String {
    match why {
        Why::Rule(rule) => format!("Denied: {call}, by the rule {}.", text::one_line(rule)),
        Why::NobodyAsked(allow) => known(call, &options(allow)),
        Why::Unknown(allow) => unknown(call, &options(allow)),
    }
}

fn options(allow: &[String]) -> Vec<String> {
    allow.iter().map(|rule| line(&["--allow".to_string(), rule.clone()])).collect()
}

fn unknown(call: &str, options: &[String]) -> String {
    let all = all_of(call.split(' ').next().unwrap_or_default());
    let advice = match options {
        [rule] => format!("allow {all} with {rule}, or everything with --yolo"),
        _ => "allow everything with --yolo".to_string(),
    };
    format!("Denied: {call}; what it does cannot be known beforehand; {advice}.")
}

fn known(call: &str, options: &[String]) -> String {
    match options {
        [] => format!("Denied: {call}; allow everything with --yolo."),
        rules if rules.len() > RULES => format!("Denied: {call}; allow everything with --yolo."),
        rules => format!("Denied: {call}; allow it with {}, or everything with --yolo.", rules.join(" ")),
    }
}
