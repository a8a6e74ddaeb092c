//! What becomes of calls under rules, by example.

mod laws;
mod writing;

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::prompt::PermissionMode::{self, Headless, Interactive, Plan, Yolo};

fn rules(texts: &[&str]) -> Vec<Rule> {
    let rule = |text: &&str| {
        let (action, subject) = text.split_once(' ').unwrap();
        let action = match action {
            "allow" => Action::Allow,
            "ask" => Action::Ask,
            _ => Action::Deny,
        };
        Rule::parse(action, subject, Some("/home/me")).unwrap()
    };
    texts.iter().map(rule).collect()
}

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

fn place(path: &str) -> PathUse {
    PathUse { path: path.to_owned(), inside: path == "/w" || path.starts_with("/w/") }
}

/// An intent from a text: `$ command`, `< path`, `> path`, `@ host`, `~ path` for an argument, `?` for not all; `! command` for
/// one that is always opaque, `!! command` for one that is so by its arguments, `% command` for a guess.
fn intent(text: &str) -> Intent {
    let mut intent = Intent { complete: true, root: "/w".to_owned(), ..Intent::default() };
    for part in text.split("; ").filter(|part| !part.is_empty()) {
        match part.split_once(' ').unwrap_or((part, "")) {
            ("$", command) => intent.commands.push(words(command)),
            (mark @ ("!" | "!!"), command) => {
                intent.commands.push(words(command));
                intent.opaque.push(Opaque { command: words(command), always: mark == "!" });
            }
            ("%", command) => intent.guess.get_or_insert_default().commands.push(words(command)),
            ("<", path) => intent.reads.push(place(path)),
            (">", path) => intent.writes.push(place(path)),
            ("@", host) => intent.hosts.push(host.to_owned()),
            ("~", path) => intent.arguments.push(Argument { path: place(path), access: Access::Any }),
            _ => intent.complete = false,
        }
    }
    intent
}

fn verdict(tool: &str, intent: &Intent, mode: PermissionMode, rules: &[Rule]) -> &'static str {
    match judge(tool, intent, mode, rules) {
        Verdict::Allow => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

#[track_caller]
fn check(tool: &str, rule_texts: &[&str], rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(
            verdict(tool, &intent(text), Interactive, &rules(rule_texts)),
            *expected,
            "{tool}: {text}"
        );
    }
}

#[test]
fn without_rules_only_reading_inside_the_workspace_is_allowed() {
    check("view", &[], &[("< /w/a", "allow"), ("< /etc/a", "ask"), ("?", "ask"), ("< /w/a; ?", "ask")]);
    check("write", &[], &[("> /w/a", "ask"), ("< /w/a; > /w/a", "ask")]);
    check("bash", &[], &[("$ ls", "ask"), ("", "ask"), ("< /w/a", "ask"), ("?", "ask")]);
    check("todos", &[], &[("", "allow")]);
    check("agent", &[], &[("", "allow")]);
    check("mcp_x", &[], &[("", "ask")]);
}

#[test]
fn whoever_allows_a_command_does_not_allow_it_to_steer_other_programs() {
    let allowed = &["allow bash(touch *)"];
    check(
        "bash",
        allowed,
        &[
            ("$ touch a; ~ /w/src/a", "allow"),
            ("$ touch a; ~ /w/.gitignore", "allow"),
            ("$ touch a; ~ /w/.git/hooks/a", "ask"),
            ("$ touch a; ~ /w/sub/.Git/config", "ask"),
            ("$ touch a; ~ /w/.hostler/config.json", "ask"),
        ],
    );
    check("bash", &["allow bash(touch *)", "allow path(.git/**)"], &[("$ touch a; ~ /w/.git/a", "allow")]);
}

#[test]
fn each_command_is_judged_by_itself() {
    let some = ["allow bash(git *)", "deny bash(git push)", "allow bash(ls)"];
    check(
        "bash",
        &some,
        &[
            ("$ git log", "allow"),
            ("$ git", "allow"),
            ("$ git push", "deny"),
            ("$ git push origin", "deny"),
            ("$ git pushed", "allow"),
            ("$ GIT PUSH", "deny"),
            ("$ /usr/bin/git log", "allow"),
            ("$ ./git log", "ask"),
            ("$ ./git push", "deny"),
            ("$ ls", "allow"),
            ("$ ls -l", "ask"),
            ("$ git log; $ rm x", "ask"),
            ("$ rm x; $ git push", "deny"),
            ("$ git log; ?", "ask"),
            ("$ git push; ?", "deny"),
            ("$ git log; > /w/a", "ask"),
            ("$ git log; < /w/a", "allow"),
            ("$ git log; ~ /w/a", "allow"),
            ("$ git log; ~ /etc/a", "ask"),
            ("$ git log; @ example.com", "ask"),
        ],
    );
}

#[test]
fn the_longest_literal_prefix_wins_and_a_tie_is_denied() {
    check(
        "bash",
        &["deny bash(git *)", "allow bash(git log *)"],
        &[("$ git log", "allow"), ("$ git x", "deny")],
    );
    check("bash", &["allow bash(git l*)", "deny bash(git l*)", "ask bash(git l*)"], &[("$ git log", "deny")]);
    check("bash", &["allow bash(git l*)", "ask bash(git l*)"], &[("$ git log", "ask")]);
    check("bash", &["allow bash", "deny bash(git *)"], &[("$ git log", "deny"), ("$ ls", "allow")]);
    check("bash", &["deny bash", "allow bash(git *)"], &[("$ git log", "allow"), ("$ ls", "deny")]);
    check("view", &["deny view", "allow read(src/**)"], &[("< /w/src/a", "allow"), ("< /w/a", "deny")]);
}

#[test]
fn what_is_not_known_is_allowed_by_a_whole_tool_only_where_nothing_is_finer() {
    check("bash", &["allow bash"], &[("?", "allow"), ("$ ls; ?", "allow")]);
    check("bash", &["allow bash", "deny bash(rm)"], &[("?", "ask"), ("$ ls", "allow")]);
    check("bash", &["allow bash", "deny path(.env)"], &[("$ ls; ?", "ask")]);
    check("bash", &["allow bash(*)"], &[("$ ls; ?", "ask")]);
    check("bash", &["deny bash"], &[("?", "deny")]);
}

#[test]
fn a_command_that_may_do_anything_is_allowed_by_its_name_or_its_words_and_by_no_less() {
    let docker: &[(&[&str], &str, &str)] = &[
        (&["allow bash(docker *)"], "! docker ps", "allow"),
        (&["allow bash(docker *)"], "! docker", "allow"),
        (&["allow bash(docker *)"], "! /usr/bin/docker ps", "allow"),
        (&["allow bash(docker *)"], "! ./docker ps", "ask"),
        (&["allow bash(./docker *)"], "! ./docker ps", "allow"),
        (&["allow bash(docker p*)"], "! docker ps", "allow"),
        (&["allow bash(docker ps)"], "! docker ps", "allow"),
        (&["allow bash(docker ps)"], "! docker ps -a", "ask"),
        (&["allow bash(docker*)"], "! docker ps", "ask"),
        (&["allow bash(d* *)"], "! docker ps", "ask"),
        (&["allow bash(*)"], "! docker ps", "ask"),
        (&["allow bash(* ps)"], "! docker ps", "ask"),
        (&["allow bash"], "! docker ps", "allow"),
        (&["allow bash", "deny bash(rm)"], "! docker ps", "ask"),
        (&["allow bash", "deny bash(rm)", "allow bash(docker *)"], "! docker ps", "allow"),
        (&["allow bash", "deny bash(rm)", "allow bash(*)"], "! docker ps", "ask"),
        (&["allow bash(docker *)", "deny bash(docker p*)"], "! docker ps", "deny"),
        (&["allow bash(docker *)", "ask bash(docker ps)"], "! docker ps", "ask"),
        (&["allow bash(docker *)"], "! docker ps; ?", "ask"),
        (&["allow bash(git *)"], "!! git -c a=b log", "ask"),
        (&["allow bash(git -c *)"], "!! git -c a=b log", "ask"),
        (&["allow bash(git -c a=b log)"], "!! git -c a=b log", "allow"),
        (&["allow bash(git -c a=b *)"], "!! git -c a=b log", "ask"),
    ];
    for (rule_texts, text, expected) in docker {
        let found = verdict("bash", &intent(text), Interactive, &rules(rule_texts));
        assert_eq!(found, *expected, "{text} {rule_texts:?}");
    }
}

#[test]
fn a_guess_needs_no_permission_and_is_held_against_what_denies_or_asks() {
    let allowed = "allow bash(docker *)";
    for (rule_texts, expected) in [
        (&[allowed][..], "allow"),
        (&[allowed, "deny bash(rm)"], "deny"),
        (&[allowed, "ask bash(rm)"], "ask"),
        (&[allowed, "deny bash(rm)", "allow bash(rm x)"], "allow"),
        (&[allowed, "deny bash"], "allow"),
        (&["allow bash", "deny bash(rm)"], "deny"),
    ] {
        let found = verdict("bash", &intent("! docker run rm; % rm x"), Interactive, &rules(rule_texts));
        assert_eq!(found, expected, "{rule_texts:?}");
    }
    assert_eq!(verdict("bash", &intent("! docker run rm; % rm x"), Yolo, &rules(&["deny bash(rm)"])), "deny");
}

#[test]
fn a_slash_at_the_end_of_what_is_allowed_means_all_that_is_in_the_directory() {
    let some = ["allow write(src/)", "allow write(/x/)", "deny write(src/keys/)"];
    let rows = [
        ("> /w/src/a", "allow"),
        ("> /w/src/b/a", "allow"),
        ("> /w/src", "allow"),
        ("> /w/other/src/a", "ask"),
        ("> /w/srcs", "ask"),
        ("> /x/a/b", "allow"),
        ("> /w/src/keys/a", "deny"),
    ];
    check("write", &some, &rows);
    // What is denied by a name alone is denied wherever it is found, as it is without the slash.
    check("view", &["deny read(keys/)"], &[("< /w/a/keys/b", "deny"), ("< /w/keys", "deny")]);
}

#[test]
fn paths_are_denied_broadly_and_allowed_narrowly() {
    let deny = ["deny path(.env)", "deny read(/etc/**)", "deny read(~/.ssh)", "deny write(*.lock)"];
    check(
        "view",
        &deny,
        &[
            ("< /w/.env", "deny"),
            ("< /w/a/.ENV", "deny"),
            ("< /x/.env", "deny"),
            ("< /w/.env/a", "deny"),
            ("< /w/.envrc", "allow"),
            ("< /etc", "deny"),
            ("< /etc/a/b", "deny"),
            ("< /etcetera", "ask"),
            ("< /home/me/.ssh/id", "deny"),
            ("< /w/a.lock", "allow"),
        ],
    );
    check("bash", &[&deny[..], &["allow bash(x)"]].concat(), &[("$ x; ~ /w/a.lock", "deny")]);
    let allow =
        ["allow write(src/*.rs)", "allow write(notes)", "allow read(/etc/hosts)", "allow write(docs/**)"];
    check(
        "write",
        &allow,
        &[
            ("> /w/src/a.rs", "allow"),
            ("> /w/src/b/a.rs", "ask"),
            ("> /x/src/a.rs", "ask"),
            ("> /w/a/notes", "allow"),
            ("> /x/notes", "ask"),
            ("> /w/notes/a", "ask"),
            ("> /w/docs/a/b", "allow"),
            ("> /etc/hosts", "ask"),
        ],
    );
    check("view", &allow, &[("< /etc/hosts", "allow"), ("< /etc/hosts/a", "ask"), ("< /x/src/a.rs", "ask")]);
}

#[test]
fn a_name_is_as_strong_as_the_directory_where_it_is_found() {
    let both = ["allow path(src/**)", "deny path(.env)", "deny write(*)"];
    check("view", &both, &[("< /w/src/.env", "deny"), ("< /w/src/a", "allow")]);
    check("write", &both, &[("> /w/src/a", "allow"), ("> /w/a", "deny")]);
    // The workspace's own name is nobody's business.
    check("view", &["deny path(w)"], &[("< /w/a", "allow"), ("< /w/w/a", "deny"), ("< /x/w", "deny")]);
}

#[test]
fn hosts_are_denied_with_those_below_them() {
    let some = [
        "deny host(evil.com)",
        "allow host(example.com)",
        "allow host(*.example.com)",
        "deny host(bad.example.com)",
    ];
    check(
        "fetch",
        &some,
        &[
            ("@ evil.com", "deny"),
            ("@ EVIL.com.", "deny"),
            ("@ a.evil.com", "deny"),
            ("@ devil.com", "ask"),
            ("@ example.com", "allow"),
            ("@ a.example.com", "allow"),
            ("@ bad.example.com", "deny"),
            ("@ a.bad.example.com", "deny"),
            ("@ example.com.evil.org", "ask"),
        ],
    );
}

#[test]
fn the_mode_says_what_becomes_of_a_question() {
    let (deny, allow) = (rules(&["deny bash(rm)"]), rules(&["allow bash(ls)", "allow read(/etc/**)"]));
    for (tool, text, rules, expected) in [
        ("bash", "$ ls", &deny, ["ask", "deny", "allow", "deny"]),
        ("bash", "$ rm x", &deny, ["deny", "deny", "deny", "deny"]),
        ("bash", "$ ls", &allow, ["allow", "allow", "allow", "deny"]),
        ("bash", "?", &allow, ["ask", "deny", "allow", "deny"]),
        ("view", "< /w/a", &deny, ["allow", "allow", "allow", "allow"]),
        ("view", "< /x/a", &deny, ["ask", "deny", "allow", "deny"]),
        ("view", "< /etc/a", &allow, ["allow", "allow", "allow", "allow"]),
        ("write", "> /w/a", &deny, ["ask", "deny", "allow", "deny"]),
        ("todos", "", &deny, ["allow", "allow", "allow", "allow"]),
    ] {
        let verdicts =
            [Interactive, Headless, Yolo, Plan].map(|mode| verdict(tool, &intent(text), mode, rules));
        assert_eq!(verdicts, expected, "{tool} {text}");
    }
}

#[test]
fn a_refusal_says_what_and_how_it_could_be_allowed() {
    let told = |text: &str, texts: &[&str]| match judge("bash", &intent(text), Headless, &rules(texts)) {
        Verdict::Deny(text) => text,
        verdict => panic!("{verdict:?}"),
    };
    let asked = told("$ git log -1", &[]);
    assert!(asked.contains("permission to run git log -1, and nobody can be asked"), "{asked}");
    assert!(asked.contains("--allow 'bash(git log *)'"), "{asked}");
    let unknown = told("$ git log; ?", &[]);
    assert!(unknown.contains("allow all commands with --allow bash, or everything with --yolo"), "{unknown}");
    let finer = told("$ git log; ?", &["deny bash(rm)"]);
    assert!(!finer.contains("--allow") && finer.contains("allow everything with --yolo"), "{finer}");
    let opaque = told("!! node -e 1", &[]);
    assert!(opaque.contains("permission to run node -e 1, which may do anything, and nobody"), "{opaque}");
    assert!(opaque.contains("allow it with --allow 'bash(node -e 1)', or everything"), "{opaque}");
    let within = told("!! git -c a=b log; $ git log", &["allow bash(git *)"]);
    assert!(within.contains("allow it with --allow 'bash(git -c a=b log)', or everything"), "{within}");
    let denied = told("$ rm x", &["deny bash(rm)"]);
    assert!(denied.contains("by the rule \"deny bash(rm)\", bash may not run rm x."), "{denied}");
    assert_eq!(forbidding_rule("bash", &denied), Some("deny bash(rm)"));
}
