//! What is hidden is fitted by what it was fitted by and as strongly, as the real matcher sees it.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use proptest::collection::vec as many;
use proptest::prelude::*;
use proptest::sample::select;

use super::placeholder::Placeholders;
use crate::tools::{Access, Action, Part, PathUse, Rule, Subject, strength};

const ROOT: &str = "/w";

/// How strongly rules with these subjects are about these parts, whatever the rules do.
fn strengths(subjects: &[Subject], parts: &[Part], root: &str) -> Vec<Option<usize>> {
    let mut all = Vec::new();
    for subject in subjects {
        for action in [Action::Allow, Action::Deny] {
            let rule = Rule { action, subject: subject.clone() };
            all.extend(parts.iter().map(|part| strength(&rule, part, root)));
        }
    }
    all
}

/// How many rules are about how many parts.
fn count(strengths: &[Option<usize>]) -> usize {
    strengths.iter().flatten().count()
}

fn same_length(hidden: &str, text: &str) {
    let length = |text: &str| (text.len(), text.chars().count());
    assert_eq!(length(hidden), length(text), "{text:?} became {hidden:?}");
}

#[track_caller]
fn check_paths(patterns: &[String], paths: &[String]) -> usize {
    let mut placeholders = Placeholders::default();
    placeholders.learn_path(ROOT);
    paths.iter().for_each(|path| placeholders.learn_path(path));
    patterns.iter().for_each(|pattern| placeholders.learn_pattern(pattern));
    placeholders.settle();
    let subject = |pattern: String| Subject::Path { access: Access::Read, pattern };
    let part = |path: String, inside| Part::Path {
        path: PathUse { path, inside },
        access: Access::Read,
        argument: false,
    };
    let is_inside =
        |path: &str| path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let subjects = patterns.iter().cloned().map(subject).collect::<Vec<_>>();
    let parts: Vec<_> = paths.iter().map(|path| part(path.clone(), is_inside(path))).collect();
    let before = strengths(&subjects, &parts, ROOT);
    let hidden: Vec<_> = patterns.iter().map(|pattern| placeholders.hide_pattern(pattern)).collect();
    let named: Vec<_> = paths.iter().map(|path| placeholders.hide_path(path)).collect();
    hidden
        .iter()
        .zip(patterns)
        .chain(named.iter().zip(paths))
        .for_each(|(hidden, text)| same_length(hidden, text));
    let subjects: Vec<_> = hidden.iter().cloned().map(subject).collect();
    let parts: Vec<_> =
        named.iter().zip(paths).map(|(hidden, path)| part(hidden.clone(), is_inside(path))).collect();
    let after = strengths(&subjects, &parts, &placeholders.hide_path(ROOT));
    assert_eq!(after, before, "{patterns:?} became {hidden:?}, {paths:?} {named:?}");
    count(&before)
}

#[track_caller]
fn check_commands(patterns: &[String], commands: &[Vec<String>]) -> usize {
    let mut placeholders = Placeholders::default();
    commands.iter().for_each(|words| placeholders.learn_words(words.clone()));
    patterns.iter().for_each(|pattern| placeholders.learn_command(pattern));
    placeholders.settle();
    let subjects: Vec<_> = patterns.iter().cloned().map(Subject::Command).collect();
    let parts: Vec<_> = commands.iter().cloned().map(Part::Command).collect();
    let before = strengths(&subjects, &parts, ROOT);
    let hidden: Vec<_> = patterns.iter().map(|pattern| placeholders.hide_command(pattern)).collect();
    let hide = |words: &Vec<String>| words.iter().map(|word| placeholders.hide_word(word)).collect();
    let said: Vec<Vec<String>> = commands.iter().map(hide).collect();
    let words = said.iter().flatten().zip(commands.iter().flatten());
    hidden.iter().zip(patterns).chain(words).for_each(|(hidden, text)| same_length(hidden, text));
    let subjects: Vec<_> = hidden.iter().cloned().map(Subject::Command).collect();
    let parts: Vec<_> = said.iter().cloned().map(Part::Command).collect();
    let after = strengths(&subjects, &parts, ROOT);
    assert_eq!(after, before, "{patterns:?} became {hidden:?}, {commands:?} {said:?}");
    count(&before)
}

#[track_caller]
fn check_hosts(patterns: &[String], hosts: &[String]) -> usize {
    let mut placeholders = Placeholders::default();
    patterns.iter().chain(hosts).for_each(|host| placeholders.learn_host(host));
    placeholders.settle();
    let mut hide = |texts: &[String]| -> Vec<String> {
        let hidden: Vec<_> = texts.iter().map(|text| placeholders.hide_host(text)).collect();
        hidden.iter().zip(texts).for_each(|(hidden, text)| same_length(hidden, text));
        hidden
    };
    let all = |patterns: &[String], hosts: &[String]| {
        let subjects: Vec<_> = patterns.iter().cloned().map(Subject::Host).collect();
        strengths(&subjects, &hosts.iter().cloned().map(Part::Host).collect::<Vec<_>>(), ROOT)
    };
    let (hidden, named) = (hide(patterns), hide(hosts));
    let before = all(patterns, hosts);
    assert_eq!(all(&hidden, &named), before, "{patterns:?} became {hidden:?}, {hosts:?} {named:?}");
    count(&before)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| String::from(*text)).collect()
}

fn commands(lines: &[&str]) -> Vec<Vec<String>> {
    lines.iter().map(|line| line.split(' ').map(String::from).collect()).collect()
}

#[test]
fn patterns_that_people_write_fit_what_they_fitted() {
    let paths = check_paths(
        &texts(&[
            "src/*.rs",
            "**/*.env",
            "secret*.txt",
            "/etc/**",
            ".env",
            "./*.md",
            "src/**.rs",
            "a?c",
            "/w/*/x",
            "*.*",
        ]),
        &texts(&[
            "/w",
            "/w/src/main.rs",
            "/w/src/a/lib.rs",
            "/w/a/prod.env",
            "/w/.ENV",
            "/w/secret-1.txt",
            "/w/README.md",
            "/w/abc",
            "/w/src/x",
            "/etc/passwd",
        ]),
    );
    let commands = check_commands(
        &texts(&[
            "cargo t*",
            "npm run test:*",
            "git*",
            "git log *",
            "* --force *",
            "*secret*",
            "/usr/bin/git *",
            "make test-*",
            "g*k",
        ]),
        &commands(&[
            "cargo test",
            "cargo nextest",
            "npm run test:unit",
            "npm run build",
            "git",
            "gitk",
            "git log -n3",
            "/usr/bin/git log",
            "./git log",
            "git push --force origin",
            "cat my-secret.txt",
            "make test-all",
            "GIT log",
        ]),
    );
    let hosts = check_hosts(
        &texts(&["api-*.example.com", "*.example.com", "example.com", "*", "localhost"]),
        &texts(&[
            "api-1.example.com",
            "api-1.x.example.com",
            "www.example.com",
            "EXAMPLE.com",
            "example.org",
            "localhost",
            "example.com.",
        ]),
    );
    assert!(paths > 20 && commands > 20 && hosts > 10, "{paths} {commands} {hosts}");
}

#[test]
fn many_names_of_one_length_are_told_apart() {
    let names = || (0..1_000).map(|nth| alloc::format!("{:04}", nth * 10));
    let paths: Vec<_> = names().map(|name| alloc::format!("/w/{name}")).collect();
    assert!(check_paths(&texts(&["0120", "9*0", "/w/0990", "00?0"]), &paths) > 20);
    let words: Vec<_> = names().map(|name| vec![String::from("make"), name]).collect();
    assert!(check_commands(&texts(&["make 0120", "make 9*", "* 0990"]), &words) > 20);
    let hosts: Vec<_> = names().map(|name| alloc::format!("{name}.example.com")).collect();
    assert!(check_hosts(&texts(&["0120.example.com", "9*.example.com"]), &hosts) > 20);
}

/// A lone `\` at the end of a name is not for what it says: it takes for a letter what the matcher puts behind it or
/// cuts off. Such a rule is nonsense, and an export in which it decides anything is refused.
fn without_lone_escape(mut pattern: String) -> String {
    let escapes = pattern.len() - pattern.trim_end_matches('\\').len();
    if escapes % 2 == 1 {
        pattern.push('\\');
    }
    pattern
}

/// Words of which one may be part of another, and such as decisions know.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[abAB1é]{1,3}",
        2 => "[ab /'.é-]{0,5}",
        1 => select(texts(&["git", "run", "ls", "/usr/bin/ls", "/opt/ab", "./git", "gita", "GIT"])),
    ]
}

fn word_of_a_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => word(),
        3 => "[abAé*]{1,4}",
        1 => "[ab*'/ é\\\\-]{1,6}",
        1 => select(texts(&["git*", "g*", "*", "*t", "r*n", "'*'", "l?", "\\*", "/usr/bin/*", "*/git"])),
    ]
}

proptest! {
    #[test]
    fn patterns_of_paths_fit_what_they_fitted(
        patterns in many(many(prop_oneof!["[abAé.*?]{1,4}", "[ab*?\\\\ \"]{0,4}", Just("**".into())], 1..4), 1..4),
        paths in many(many("[abABé.]{1,4}|[ab \"\\\\*?]{1,3}", 0..4), 1..5),
        absolute in any::<[bool; 4]>(),
    ) {
        let patterns: Vec<_> = patterns.iter().zip(absolute).map(|(names, absolute)| {
            let begin = if absolute { "/" } else { "" };
            let names: Vec<_> = names.iter().cloned().map(without_lone_escape).collect();
            alloc::format!("{begin}{}", names.join("/"))
        }).collect();
        let paths: Vec<_> = paths.iter().zip([true, false, true, true]).map(|(names, inside)| {
            let begin = if inside { vec!["", "w"] } else { vec![""] };
            // What is judged are paths that lead nowhere else.
            let names = names.iter().filter(|name| !matches!(name.as_str(), "." | ".."));
            begin.into_iter().chain(names.map(String::as_str)).collect::<Vec<_>>().join("/")
        }).collect();
        check_paths(&patterns, &paths);
    }

    #[test]
    fn patterns_of_commands_fit_what_they_fitted(
        patterns in many(many(word_of_a_pattern(), 1..4), 1..5),
        commands in many(many(word(), 1..5), 1..5),
    ) {
        let patterns: Vec<_> = patterns.iter().map(|words| without_lone_escape(words.join(" "))).collect();
        check_commands(&patterns, &commands);
    }

    #[test]
    fn patterns_of_hosts_fit_what_they_fitted(
        patterns in many(many("[abA1*?-]{1,4}", 1..4), 1..4),
        hosts in many(many("[abAB1-]{1,4}", 1..4), 1..5),
    ) {
        let join = |names: &[Vec<String>]| names.iter().map(|names| names.join(".")).collect::<Vec<_>>();
        check_hosts(&join(&patterns), &join(&hosts));
    }
}
