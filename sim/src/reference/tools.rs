//! What the reference thinks of tool calls: whether they make sense, whether they may run, and what came of them.

use std::collections::BTreeSet;

use hostler_core::prompt::PermissionMode;
use hostler_core::tools::Intent;

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Its turn has not come.
    Waits,
    /// It is looked at.
    Looks,
    /// A person is asked about it.
    Asked,
    /// It runs.
    Runs,
    /// It was not allowed.
    Denied,
    /// It is over.
    Over,
}

/// What becomes of a call that has been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum May {
    /// It runs.
    Run,
    /// It does not.
    Not,
    /// Somebody is asked.
    Ask,
}

const READERS: [&str; 4] = ["glob", "grep", "ls", "view"];

/// What nobody can permit for more than once.
const UNKNOWN: &str = "anything";

impl Call {
    /// A call that the model has just made, with the arguments that it wrote. A sub-agent has only tools that read.
    pub(super) fn new(name: &str, arguments: &str, sub_agent: bool) -> Self {
        let others = ["agent", "bash", "edit", "multiedit", "todos", "write"];
        let known = READERS.contains(&name) || (!sub_agent && others.contains(&name));
        let whole = arguments.trim().ends_with('}') || (name == "ls" && arguments.trim().is_empty());
        if known && whole { Call::Waits } else { Call::Over }
    }

    pub(super) fn is_over(self) -> bool {
        matches!(self, Call::Denied | Call::Over)
    }

    /// Whether it keeps others from starting.
    pub(super) fn is_at_work(self) -> bool {
        matches!(self, Call::Looks | Call::Asked | Call::Runs)
    }
}

/// Whether a call may run beside others.
pub(super) fn overlaps(name: &str) -> bool {
    READERS.contains(&name) || name == "agent"
}

/// What of a call needs permission.
pub(super) fn needs(name: &str, intent: &Intent) -> BTreeSet<String> {
    let mut needs = BTreeSet::new();
    needs.extend(intent.commands.iter().map(|words| format!("run {}", words.join(" "))));
    needs.extend(intent.writes.iter().map(|path| format!("write {}", path.path)));
    needs.extend(intent.reads.iter().filter(|path| !path.inside).map(|path| format!("read {}", path.path)));
    let said = !needs.is_empty() || (READERS.contains(&name) && !intent.reads.is_empty());
    if !intent.complete || !said {
        needs.insert(UNKNOWN.to_owned());
    }
    needs
}

/// What can be permitted of that for more than once: all of it or nothing.
pub(super) fn grantable(needs: &BTreeSet<String>) -> BTreeSet<String> {
    if needs.contains(UNKNOWN) { BTreeSet::new() } else { needs.clone() }
}

/// The same with every path widened to all that lies in its directory.
pub(super) fn by_directory(needs: &BTreeSet<String>) -> BTreeSet<String> {
    let widen = |need: &String| match need.rsplit_once('/') {
        Some((directory, _)) if !need.starts_with("run ") => format!("{directory}/**"),
        _ => need.clone(),
    };
    grantable(needs).iter().map(widen).collect()
}

/// What of that is not granted.
pub(super) fn missing(needs: &BTreeSet<String>, granted: &BTreeSet<String>) -> BTreeSet<String> {
    let covers = |grant: &String, need: &String| {
        grant == need || grant.strip_suffix("**").is_some_and(|directory| need.starts_with(directory))
    };
    needs.iter().filter(|need| !granted.iter().any(|grant| covers(grant, need))).cloned().collect()
}

/// Whether a call may run that needs that much more than is granted.
pub(super) fn may_run(missing: &BTreeSet<String>, mode: PermissionMode) -> May {
    match mode {
        _ if missing.is_empty() => May::Run,
        PermissionMode::Yolo => May::Run,
        PermissionMode::Interactive => May::Ask,
        PermissionMode::Headless | PermissionMode::Plan => May::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_make_no_sense_are_over_at_once() {
        assert_eq!(Call::new("ls", "{}", true), Call::Waits);
        assert_eq!(Call::new("ls", "", false), Call::Waits);
        assert_eq!(Call::new("ls", "{", false), Call::Over);
        assert_eq!(Call::new("dream", "{}", false), Call::Over);
        assert_eq!(Call::new("bash", "{}", true), Call::Over);
    }

    #[test]
    fn what_is_not_known_is_never_granted() {
        let unknown = needs("bash", &Intent { commands: vec![vec!["a".to_owned()]], ..Intent::default() });
        assert_eq!(unknown.len(), 2);
        assert!(grantable(&unknown).is_empty());
        assert_eq!(may_run(&unknown, PermissionMode::Interactive), May::Ask);
        assert_eq!(may_run(&unknown, PermissionMode::Headless), May::Not);
    }

    #[test]
    fn a_directory_that_is_granted_holds_what_lies_in_it_and_nothing_beside_it() {
        let need = |path: &str| BTreeSet::from([format!("read {path}")]);
        let granted = by_directory(&need("/out/x/a"));
        assert!(missing(&need("/out/x/b"), &granted).is_empty());
        assert!(missing(&need("/out/x/y/b"), &granted).is_empty());
        assert_eq!(missing(&need("/out/b"), &granted), need("/out/b"));
        assert_eq!(
            by_directory(&BTreeSet::from(["run /a/b".to_owned()])),
            BTreeSet::from(["run /a/b".to_owned()])
        );
    }
}
