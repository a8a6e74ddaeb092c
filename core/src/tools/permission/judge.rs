//! The judgement itself.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ask::{self, Ask, Part};
use super::intent::{Access, Intent};
use super::matching;
use super::rule::{Action, Rule, Subject};
use crate::prompt::PermissionMode;

/// Whether a tool call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may if somebody permits it.
    Ask(Ask),
    /// It may not, and why, for the model and for people.
    Deny(String),
}

/// Judges a tool call by rules, in whatever order, and by what holds where there is no rule: reading inside the workspace
/// is allowed, and so is what touches nothing of the user's; everything else needs permission.
pub fn judge<'a>(
    tool: &str,
    intent: &Intent,
    mode: PermissionMode,
    rules: impl IntoIterator<Item = &'a Rule>,
) -> Verdict {
    let rules: Vec<_> = rules.into_iter().collect();
    let asked = match sift(tool, intent, &rules) {
        Err(forbidden) => return Verdict::Deny(forbidden),
        Ok(_) if mode == PermissionMode::Plan && !only_looks(tool) => return Verdict::Deny(planning(tool)),
        Ok(asked) if asked.is_empty() || mode == PermissionMode::Yolo => return Verdict::Allow,
        Ok(asked) => asked,
    };
    let grants = useful(tool, intent, &rules, ask::grants(&asked));
    let whole = asked.contains(&Part::Rest) && is_whole_enough(tool, intent, &rules);
    let ask = Ask { tool: tool.to_string(), parts: asked, grants, whole };
    match mode {
        PermissionMode::Interactive => Verdict::Ask(ask),
        PermissionMode::Headless | PermissionMode::Plan | PermissionMode::Yolo => Verdict::Deny(ask.nobody()),
    }
}

/// The parts of a call that need permission, or why it may not run.
fn sift(tool: &str, intent: &Intent, rules: &[&Rule]) -> Result<Vec<Part>, String> {
    let mut asked = Vec::new();
    for part in ask::parts(tool, intent) {
        match decide(tool, &part, rules, &intent.root) {
            (Action::Deny, rule) => return Err(forbidden(tool, &part, rule)),
            (Action::Ask, _) => asked.push(part),
            (Action::Allow, _) => {}
        }
    }
    for part in intent.guess.iter().flat_map(|guess| ask::parts(tool, guess)) {
        match guessed(&part, rules, &intent.root) {
            Some((Action::Deny, rule)) => return Err(forbidden(tool, &part, Some(rule))),
            Some((Action::Ask, _)) if !asked.contains(&part) => asked.push(part),
            Some((Action::Ask | Action::Allow, _)) | None => {}
        }
    }
    Ok(ask::once(asked))
}

/// What a part of a call comes to, and the rule that says so if one does.
fn decide<'a>(tool: &str, part: &Part, rules: &[&'a Rule], root: &str) -> (Action, Option<&'a Rule>) {
    match by_access(part) {
        Some([read, write]) => {
            decide_one(tool, &read, rules, root).max(decide_one(tool, &write, rules, root))
        }
        None => decide_one(tool, part, rules, root),
    }
}

/// What the rules make of something that may be done, and may as well be nothing of the kind.
fn guessed<'a>(part: &Part, rules: &[&'a Rule], root: &str) -> Option<(Action, &'a Rule)> {
    match by_access(part) {
        Some([read, write]) => by_finest(&read, rules, root).max(by_finest(&write, rules, root)),
        None => by_finest(part, rules, root),
    }
}

/// Where it is not known which of the two is done with a path: the one and the other, since both must be permitted.
fn by_access(part: &Part) -> Option<[Part; 2]> {
    let Part::Path { path, access: Access::Any, argument } = part else { return None };
    let by = |access| Part::Path { path: path.clone(), access, argument: *argument };
    Some([by(Access::Read), by(Access::Write)])
}

/// The rule about a part that has the longest literal prefix, the strictest of several.
fn by_finest<'a>(part: &Part, rules: &[&'a Rule], root: &str) -> Option<(Action, &'a Rule)> {
    let about = |rule: &&'a Rule| Some((matching::strength(rule, part, root)?, rule.action, *rule));
    rules.iter().filter_map(about).max().map(|(_, action, rule)| (action, rule))
}

pub(super) fn decide_one<'a>(
    tool: &str,
    part: &Part,
    rules: &[&'a Rule],
    root: &str,
) -> (Action, Option<&'a Rule>) {
    let of_tool = |rule: &&&Rule| matches!(&rule.subject, Subject::Tool(name) if name == tool);
    if let Some((action, rule)) = by_finest(part, rules, root) {
        return (action, Some(rule));
    }
    match rules.iter().filter(of_tool).max() {
        Some(rule)
            if matches!(part, Part::Rest | Part::Opaque(_))
                && rule.action == Action::Allow
                && rules.iter().any(|r| restricts(r)) =>
        {
            (Action::Ask, None)
        }
        Some(rule) => (rule.action, Some(rule)),
        None => (by_default(tool, part), None),
    }
}

/// Whether something that is not known could fall under that rule and be more than the tool alone would be.
fn restricts(rule: &Rule) -> bool {
    rule.action != Action::Allow && !matches!(rule.subject, Subject::Tool(_))
}

fn by_default(tool: &str, part: &Part) -> Action {
    let allowed = match part {
        Part::Path { path, access, argument: true } => {
            path.inside && (*access == Access::Read || !is_steering(&path.path))
        }
        Part::Path { path, access, argument: false } => path.inside && *access == Access::Read,
        Part::Tool => matches!(tool, "todos" | "agent"),
        Part::Command(_) | Part::Opaque(_) | Part::Host(_) | Part::Rest => false,
    };
    if allowed { Action::Allow } else { Action::Ask }
}

/// Whether a file decides what other programs do, this one among them, which is more than a command's name says.
fn is_steering(path: &str) -> bool {
    path.split('/')
        .any(|name| [".git", ".hostler"].iter().any(|steering| name.eq_ignore_ascii_case(steering)))
}

/// Whether a model is told of a tool: there is no use in offering what would be denied whatever it is given.
pub fn is_offered(tool: &str, mode: PermissionMode) -> bool {
    match mode {
        PermissionMode::Plan => only_looks(tool),
        PermissionMode::Headless | PermissionMode::Yolo | PermissionMode::Interactive => true,
    }
}

/// Whether a tool changes nothing, whatever it is given.
pub(super) fn only_looks(tool: &str) -> bool {
    reads(tool) || matches!(tool, "todos" | "agent")
}

/// Whether a tool does nothing but read.
pub(super) fn reads(tool: &str) -> bool {
    matches!(tool, "view" | "ls" | "glob" | "grep")
}

/// The grants, if the call would be allowed with them: a rule that asks may outdo what a grant can say.
fn useful(tool: &str, intent: &Intent, rules: &[&Rule], grants: Vec<Rule>) -> Vec<Rule> {
    let with: Vec<_> = rules.iter().copied().chain(&grants).collect();
    let are_useful = sift(tool, intent, &with).is_ok_and(|asked| asked.is_empty());
    if are_useful { grants } else { Vec::new() }
}

/// Whether the call would be allowed if all were that its tool does and no other rule is about.
fn is_whole_enough(tool: &str, intent: &Intent, rules: &[&Rule]) -> bool {
    let all = Rule { action: Action::Allow, subject: Subject::Tool(tool.to_string()) };
    let with: Vec<_> = rules.iter().copied().chain([&all]).collect();
    sift(tool, intent, &with).is_ok_and(|asked| asked.is_empty())
}

/// What a denial begins with that names its rule, which follows.
const BY_THE_RULE: &str = "by the rule \"";

/// The rule that a denied call of that tool was forbidden by, as the result of the call says it; none if it was no rule.
pub fn forbidding_rule<'t>(tool: &str, result: &'t str) -> Option<&'t str> {
    let named = result.strip_prefix("Permission denied: ")?.strip_prefix(BY_THE_RULE)?;
    named.split_once(&format!("\", {tool} may not ")).map(|(rule, _)| rule)
}

fn forbidden(tool: &str, part: &Part, rule: Option<&Rule>) -> String {
    let rule = rule.map(|rule| format!("{BY_THE_RULE}{rule}\", ")).unwrap_or_default();
    format!(
        "Permission denied: {rule}{tool} may not {part}. Nothing was done. Do not look for a way around the rule; go on \
         without it, or say what you would need."
    )
}

fn planning(tool: &str) -> String {
    format!(
        "Permission denied: this is a planning run, in which nothing is changed and nothing is executed, so {tool} cannot be \
         used. Read what you need and say what you would do."
    )
}
