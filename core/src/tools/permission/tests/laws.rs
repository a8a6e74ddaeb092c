//! What must be true of every judgement.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

const RULES: &[&str] = &[
    "bash",
    "view",
    "edit",
    "bash(*)",
    "bash(git *)",
    "bash(git l*)",
    "bash(git log)",
    "bash(rm)",
    "bash(rm *)",
    "bash(git log -1)",
    "bash(docker *)",
    "bash(docker ps)",
    "bash(node -e 1)",
    "path(.env)",
    "read(**)",
    "write(src/**)",
    "path(src/a)",
    "path(/w/src/*)",
    "read(/etc/**)",
    "write(*)",
    "path(/etc/a)",
    "host(*)",
    "host(example.com)",
    "host(*.example.com)",
    "path(/**/a)",
];

const PARTS: &[&str] = &[
    "$ git log",
    "$ git log -1",
    "$ git push",
    "$ rm x",
    "$ /bin/rm x",
    "$ ./rm x",
    "$ ls",
    "! docker ps",
    "!! node -e 1",
    "!! git log",
    "% rm x",
    "% git log",
    "< /w/src/a",
    "< /etc/a",
    "< /w/.env",
    "> /w/src/a",
    "> /w/.env",
    "> /etc/a",
    "~ /w/src/a",
    "~ /etc/a",
    "~ /w/b",
    "@ example.com",
    "@ a.example.com",
    "@ evil.com",
    "?",
];

fn some_rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = (select(vec![Action::Allow, Action::Ask, Action::Deny]), select(RULES));
    let rule = rule.prop_map(|(action, text)| Rule::parse(action, text, None).unwrap());
    proptest::collection::vec(rule, 0..8)
}

fn some_intent() -> impl Strategy<Value = Intent> {
    subsequence(PARTS, 0..6).prop_map(|parts| intent(&parts.join("; ")))
}

fn some_tool() -> impl Strategy<Value = &'static str> {
    select(vec!["bash", "bash", "bash", "view", "edit", "agent"])
}

fn some_mode() -> impl Strategy<Value = PermissionMode> {
    select(vec![Headless, Interactive, Yolo, Plan])
}

/// From the mildest to the strictest.
fn rank(verdict: &str) -> usize {
    ["allow", "ask", "deny"].iter().position(|name| *name == verdict).unwrap()
}

proptest! {
    #[test]
    fn the_order_of_rules_and_repeating_them_do_not_matter(
        tool in some_tool(), intent in some_intent(), mode in some_mode(), rules in some_rules().prop_shuffle(),
    ) {
        let mut others = rules.clone();
        others.sort();
        others.extend(rules.clone());
        prop_assert_eq!(judge(tool, &intent, mode, &rules), judge(tool, &intent, mode, &others));
    }

    #[test]
    fn one_more_rule_that_denies_or_asks_allows_nothing_more(
        tool in some_tool(), intent in some_intent(), mode in some_mode(), rules in some_rules(), text in select(RULES),
    ) {
        let before = rank(verdict(tool, &intent, mode, &rules));
        let with = |action| {
            let mut rules = rules.clone();
            rules.push(Rule::parse(action, text, None).unwrap());
            rank(verdict(tool, &intent, mode, &rules))
        };
        prop_assert!(with(Action::Deny) >= before);
        prop_assert!(with(Action::Deny) >= with(Action::Ask));
        // What asks is taken more broadly than what allows, and may so outdo a weaker rule that denies.
        let denies = rules.iter().any(|rule| rule.action == Action::Deny);
        prop_assert!(with(Action::Ask) >= with(Action::Allow) || mode == Plan || denies);
    }

    #[test]
    fn yolo_allows_what_would_ask_and_never_what_is_denied(
        tool in some_tool(), intent in some_intent(), rules in some_rules(),
    ) {
        let of = |mode| verdict(tool, &intent, mode, &rules);
        match of(Interactive) {
            "allow" => prop_assert_eq!((of(Yolo), of(Headless)), ("allow", "allow")),
            "ask" => prop_assert_eq!((of(Yolo), of(Headless)), ("allow", "deny")),
            _ => prop_assert_eq!((of(Yolo), of(Headless), of(Plan)), ("deny", "deny", "deny")),
        }
    }

    #[test]
    fn one_more_part_allows_nothing_more(
        intent in some_intent(), more in some_intent(), mode in some_mode(), rules in some_rules(),
    ) {
        // What is known of a call makes its use of the tool no part of its own.
        prop_assume!(!intent.commands.is_empty());
        let mut both = intent.clone();
        both.commands.extend(more.commands);
        both.opaque.extend(more.opaque);
        if let Some(more) = more.guess {
            both.guess.get_or_insert_default().commands.extend(more.commands);
        }
        both.reads.extend(more.reads);
        both.writes.extend(more.writes);
        both.arguments.extend(more.arguments);
        both.hosts.extend(more.hosts);
        both.complete &= more.complete;
        let (less, more) = (verdict("bash", &intent, mode, &rules), verdict("bash", &both, mode, &rules));
        prop_assert!(rank(more) >= rank(less));
    }

    #[test]
    fn planning_changes_nothing(tool in some_tool(), intent in some_intent(), rules in some_rules()) {
        if matches!(tool, "bash" | "edit") {
            prop_assert_eq!(verdict(tool, &intent, Plan, &rules), "deny");
        }
    }

    #[test]
    fn what_is_granted_lets_the_call_pass_and_is_nothing_for_what_is_not_known(
        tool in some_tool(), intent in some_intent(), rules in some_rules(),
    ) {
        if let Verdict::Ask(ask) = judge(tool, &intent, Interactive, &rules) {
            prop_assert!(!ask.parts.is_empty());
            prop_assert!(!ask.whole || ask.is_unknown());
            if ask.whole {
                let all = Rule { action: Action::Allow, subject: Subject::Tool(tool.to_owned()) };
                prop_assert_eq!(judge(tool, &intent, Headless, rules.iter().chain([&all])), Verdict::Allow);
            }
            prop_assert!(intent.complete || ask.grants.is_empty() || !ask.parts.contains(&Part::Rest));
            if !ask.grants.is_empty() {
                let with = rules.iter().chain(&ask.grants);
                prop_assert_eq!(judge(tool, &intent, Headless, with), Verdict::Allow);
                prop_assert!(ask.grants.iter().all(|rule| rule.action == Action::Allow));
            }
        }
    }

    #[test]
    fn no_text_is_too_odd_to_be_a_rule_or_none(text in ".{0,40}", inner in ".{0,20}") {
        for text in [text.clone(), alloc::format!("bash({inner})"), alloc::format!("path({inner})")] {
            if let Ok(subject) = Subject::parse(&text, Some("/h")) {
                prop_assert_eq!(Subject::parse(&subject.to_string(), Some("/h")), Ok(subject));
            }
        }
    }
}
