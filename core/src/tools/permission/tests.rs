//! What must be true of every judgement, and examples of what people write.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

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

#[test]
fn rules_are_written_and_read() {
    for (text, shown) in [
        ("bash", "bash"),
        ("mcp_github_search", "mcp_github_search"),
        ("bash(git push*)", "bash(git push*)"),
        (" bash( echo (a) ) ", "bash(echo (a))"),
        ("view(/etc/**)", "read(/etc/**)"),
        ("edit(src/**)", "write(src/**)"),
        ("path(.env)", "path(.env)"),
        ("read(~/.ssh/**)", "read(/home/me/.ssh/**)"),
        ("host(Example.COM)", "host(example.com)"),
    ] {
        let subject = Subject::parse(text, Some("/home/me")).unwrap();
        assert_eq!(subject.to_string(), shown);
        assert_eq!(Subject::parse(shown, None).as_ref(), Ok(&subject));
    }
    for (text, problem) in [
        ("", "is not a rule"),
        ("git push", "is not a rule"),
        ("read", "is not a rule"),
        ("bash(rm", "is not a rule"),
        ("bsh", "did you mean \"bash\"?"),
        ("Bash", "did you mean \"bash\"?"),
        ("Write(src/**)", "did you mean \"write(src/**)\"?"),
        ("Bash(git log:*)", "did you mean \"bash(git log *)\"?"),
        ("shell", "no tool named \"shell\""),
        ("rm(x)", "what stands in parentheses"),
        ("todo(x)", "what stands in parentheses"),
        ("bash()", "nothing between"),
        ("bash(git:*)", "write a space before its last *"),
        ("host(https://x.com/)", "a name alone"),
        ("read(~/.ssh)", "~ is not known"),
        ("read(~you/.ssh)", "~ is not known"),
        ("read(../x)", "goes up with .."),
    ] {
        let problem_found = Subject::parse(text, None).unwrap_err().to_string();
        assert!(problem_found.contains(problem), "{text}: {problem_found}");
    }
}

#[test]
fn a_grant_is_what_the_command_begins_with_where_that_says_enough() {
    for (command, granted) in [
        ("git status", "bash(git status *)"),
        ("git commit -m x", "bash(git commit *)"),
        ("git -C x log", "bash(git -C x log)"),
        ("git config alias.x !sh", "bash(git config alias.x '!sh')"),
        ("git stash pop", "bash(git stash pop *)"),
        ("npm run build --fast", "bash(npm run build *)"),
        ("npm run", "bash(npm run)"),
        ("cargo", "bash(cargo)"),
        ("ls", "bash(ls *)"),
        ("rm -r x", "bash(rm -r x)"),
        ("./x *", r"bash(./x '\*')"),
    ] {
        let Verdict::Ask(ask) = judge("bash", &intent(&alloc::format!("$ {command}")), Interactive, &[])
        else {
            panic!("{command}")
        };
        let grants: Vec<_> = ask.grants.iter().map(|rule| rule.subject.to_string()).collect();
        assert_eq!(grants, [granted], "{command}");
    }
}

#[test]
fn a_path_can_be_granted_with_its_directory() {
    let Verdict::Ask(ask) = judge("write", &intent("> /w/a/b*"), Interactive, &[]) else { panic!() };
    assert_eq!(ask.grants, rules(&[r"allow write(/w/a/b\*)"]));
    assert_eq!(ask.by_directory(), rules(&["allow write(/w/a/**)"]));
}

#[test]
fn what_was_written_down_is_read_again() {
    let Verdict::Ask(ask) = judge("bash", &intent("$ ls; ! x; > /x; @ h; ~ /y; ?"), Interactive, &[]) else {
        panic!()
    };
    let text = serde_json::to_string(&ask).unwrap();
    assert_eq!(serde_json::from_str::<Ask>(&text).unwrap(), ask);
    let older: Intent =
        serde_json::from_str(r#"{"commands":[],"reads":[],"writes":[],"hosts":[],"complete":true}"#).unwrap();
    assert_eq!(older, Intent { complete: true, ..Intent::default() });
}

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

#[test]
fn a_rule_that_could_never_match_is_refused_or_written_as_paths_are() {
    for (written, meant) in [
        ("read(secret//**)", "read(secret/**)"),
        ("read(./secret/./**)", "read(./secret/**)"),
        ("read(//etc///ssl/.)", "read(/etc/ssl/)"),
        ("read(**//key)", "read(**/key)"),
        (r"read(\{a,b}/**)", r"read(\{a,b}/**)"),
        ("read({{name}}/**)", "read({{name}}/**)"),
        (r#"read(\"a")"#, r#"read(\"a")"#),
        (r#"read(a "b" c)"#, r#"read(a "b" c)"#),
        ("bash('a b' 'c d')", "bash('a b' 'c d')"),
    ] {
        assert_eq!(Subject::parse(written, None).unwrap().to_string(), meant);
    }
    for (written, says) in [
        (r#"read("secret/**")"#, "leave out the quotes"),
        ("read('secret/**')", "leave out the quotes"),
        (r#"bash("git log *")"#, "leave out the quotes"),
        (r#"host("example.com")"#, "leave out the quotes"),
        ("read({secret,x}/**)", "a rule for each choice"),
        ("write(a/b{1..3})", "a rule for each choice"),
        ("read({a{b},c}/**)", "a rule for each choice"),
    ] {
        let said = Subject::parse(written, None).unwrap_err().to_string();
        assert!(said.contains("would never apply") && said.contains(says), "{written}: {said}");
    }
}

#[test]
fn what_is_forbidden_by_the_name_of_a_link_is_forbidden_where_it_leads() {
    let lead = |path: &str| match path {
        "lnk" => Some("/w/re*al".to_owned()),
        "/x/lnk/a" => Some("/y/a".to_owned()),
        "top" => Some("/".to_owned()),
        _ => None,
    };
    let behind = |action, text: &str| {
        let rule = Rule::parse(action, text, None).unwrap();
        rule.behind(lead).map(|rule| rule.to_string())
    };
    for (text, expected) in [
        ("read(lnk/**)", Some(r"deny read(/w/re\*al/**)")),
        ("path(lnk)", Some(r"deny path(/w/re\*al)")),
        ("write(lnk/)", Some(r"deny write(/w/re\*al)")),
        ("read(/x/lnk/a/*.txt)", Some("deny read(/y/a/*.txt)")),
        ("read(top/*/b)", Some("deny read(/*/b)")),
        ("read(top)", Some("deny read(/)")),
        ("read(**/lnk)", None),
        ("read(*)", None),
        ("read(./*)", None),
        ("bash(lnk)", None),
        ("view", None),
    ] {
        assert_eq!(behind(Action::Deny, text).as_deref(), expected, "{text}");
    }
    assert_eq!(behind(Action::Ask, "read(lnk/**)").as_deref(), Some(r"ask read(/w/re\*al/**)"));
    // What is allowed by the name of a link is not allowed where somebody may have led it.
    assert_eq!(behind(Action::Allow, "read(lnk/**)"), None);
}
