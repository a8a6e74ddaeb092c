//! What a call that goes through a directory leaves out on its way.
//!
//! The call was judged by the directory that it names. What lies below that it finds by itself, so a rule about something
//! there has not had its say yet: whoever may not read a file by its name must not find it in a search either.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::ask::Part;
use super::intent::{Access, PathUse};
use super::judge::decide_one;
use super::rule::{Action, Rule, Subject};
use crate::prompt::PermissionMode;

/// Which paths are shut to a call: those that it would be denied to read by their names.
#[derive(Clone, Debug)]
pub struct Shut {
    tool: String,
    root: String,
    mode: PermissionMode,
    /// Empty if none of them denies or asks anything.
    rules: Vec<Rule>,
}

impl Shut {
    /// What those rules, in whatever order, shut to that tool. `root` is the workspace, absolute: where relative paths in
    /// rules begin.
    pub fn new<'a>(
        tool: &str,
        root: &str,
        mode: PermissionMode,
        rules: impl IntoIterator<Item = &'a Rule>,
    ) -> Self {
        let is_about = |rule: &&Rule| match &rule.subject {
            Subject::Path { access, .. } => *access != Access::Write,
            Subject::Tool(name) => name == tool,
            Subject::Command(_) | Subject::Host(_) => false,
        };
        let mut rules: Vec<_> = rules.into_iter().filter(is_about).cloned().collect();
        if rules.iter().all(|rule| rule.action == Action::Allow) {
            rules.clear();
        }
        Self { tool: tool.to_owned(), root: root.to_owned(), mode, rules }
    }

    /// What is shut where there are no rules, which is nothing.
    pub fn nothing() -> Self {
        Self::new("", "", PermissionMode::Headless, [])
    }

    /// Whether a path is shut that is found below `base`, which the call named and may read.
    ///
    /// What a rule asks about is shut as well, unless the call's own directory was asked about by that rule or nothing is
    /// asked at all: nobody has permitted it, and there is no asking on the way.
    pub fn is_shut(&self, path: &PathUse, base: &PathUse) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        match self.decide(path) {
            (Action::Deny, _) => true,
            (Action::Ask, Some(rule)) => {
                self.mode != PermissionMode::Yolo && self.decide(base).1 != Some(rule)
            }
            (Action::Ask, None) | (Action::Allow, _) => false,
        }
    }

    fn decide(&self, path: &PathUse) -> (Action, Option<&Rule>) {
        let part = Part::Path { path: path.clone(), access: Access::Read, argument: false };
        let rules: Vec<_> = self.rules.iter().collect();
        decide_one(&self.tool, &part, &rules, &self.root)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::super::intent::Intent;
    use super::super::judge::{Verdict, judge};
    use super::*;

    fn rule(text: &str) -> Rule {
        let (action, subject) = text.split_once(' ').unwrap();
        let action = match action {
            "allow" => Action::Allow,
            "ask" => Action::Ask,
            _ => Action::Deny,
        };
        Rule::parse(action, subject, Some("/home/me")).unwrap()
    }

    fn place(path: &str) -> PathUse {
        PathUse { path: path.to_owned(), inside: path == "/w" || path.starts_with("/w/") }
    }

    #[track_caller]
    fn check(mode: PermissionMode, rules: &[&str], base: &str, shut: &[&str], open: &[&str]) {
        let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
        let by = Shut::new("grep", "/w", mode, &rules);
        for (paths, expected) in [(shut, true), (open, false)] {
            for path in paths {
                assert_eq!(by.is_shut(&place(path), &place(base)), expected, "{path} below {base}");
            }
        }
    }

    #[test]
    fn what_may_not_be_read_by_its_name_is_shut() {
        let deny = ["deny read(.env)", "deny path(secret/**)", "allow read(/etc/**)", "deny write(src/**)"];
        for mode in [PermissionMode::Headless, PermissionMode::Yolo, PermissionMode::Plan] {
            let shut = ["/w/.env", "/w/a/.ENV", "/w/secret", "/w/secret/a"];
            check(mode, &deny, "/w", &shut, &["/w/src/a", "/w/.envrc", "/w/secrets"]);
        }
        let both = ["deny read(*)", "allow read(src/**)"];
        check(PermissionMode::Headless, &both, "/w/src", &["/w/a"], &["/w/src/a"]);
        // Outside, what is not mentioned was permitted with its directory.
        check(PermissionMode::Yolo, &["deny read(/etc/shadow)"], "/etc", &["/etc/shadow"], &["/etc/hosts"]);
        check(PermissionMode::Headless, &["deny view", "deny bash(cat *)"], "/w", &[], &["/w/a"]);
    }

    #[test]
    fn what_is_asked_about_is_open_only_to_whoever_asked() {
        let ask = ["ask read(private/**)"];
        check(PermissionMode::Interactive, &ask, "/w", &["/w/private", "/w/private/a"], &["/w/a"]);
        check(PermissionMode::Interactive, &ask, "/w/private", &[], &["/w/private/a"]);
        check(PermissionMode::Headless, &ask, "/w", &["/w/private"], &[]);
        check(PermissionMode::Yolo, &ask, "/w", &[], &["/w/private/a"]);
        check(PermissionMode::Interactive, &["ask grep"], "/w", &[], &["/w/a"]);
    }

    proptest! {
        #[test]
        fn nothing_is_found_that_would_be_denied_by_its_name(
            rules in proptest::collection::vec(proptest::sample::select(vec![
                "deny read(.env)", "deny path(a/**)", "allow read(a/b)", "ask read(a/**)", "allow path(**)",
                "deny write(b)", "deny read(*)", "allow read(*)", "deny grep", "allow grep", "deny read(/w/**/b)",
            ]), 0..5),
            path in proptest::sample::select(vec!["/w/.env", "/w/a/b", "/w/b", "/w/c/b", "/x/.env"]),
            yolo in any::<bool>(),
        ) {
            let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
            let mode = if yolo { PermissionMode::Yolo } else { PermissionMode::Headless };
            let shut = Shut::new("grep", "/w", mode, &rules).is_shut(&place(path), &place("/w"));
            let intent = Intent {
                reads: vec![place(path)], complete: true, root: "/w".to_owned(), ..Intent::default()
            };
            match judge("grep", &intent, mode, &rules) {
                Verdict::Allow => prop_assert!(!shut),
                // Where there is no rule, whatever is outside was permitted with its directory.
                Verdict::Deny(_) | Verdict::Ask(_) => prop_assert!(shut || path.starts_with("/x")),
            }
        }
    }
}
