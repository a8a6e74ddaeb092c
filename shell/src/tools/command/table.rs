//! The table of `table.txt`: commands of somebody who wants to get around rules; and that of `honest.txt`: what a rule for all of a
//! program's commands lets pass.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;

use hostler_core::prompt::PermissionMode;
use hostler_core::tools::{Action, BashInput, Rule, Verdict, judge};

use super::inspect;
use crate::tools::Workspace;

const TABLE: &str = include_str!("table.txt");
const HONEST: &str = include_str!("honest.txt");
const ALLOWED: &[&str] = &[
    "bash(git *)",
    "bash(ls)",
    "bash(ls *)",
    "bash(cargo test*)",
    "bash(echo *)",
    "bash(cat *)",
    "bash(cd *)",
    "bash(docker *)",
    "bash(gawk *)",
    "bash(git -c core.abbrev=7 log)",
    "bash(node -e 2)",
    "bash(wc *)",
    "bash(wget *)",
    "bash(xargs *)",
    "host(127.0.0.1)",
];
const OTHERWISE_HARMLESS: &[&str] = &["bash(true)", "bash(wait)"];
const DENIED: &[&str] =
    &["bash(rm)", "bash(curl)", "bash(git push*)", "path(/etc/**)", "path(.env)", "host(evil.com)"];

fn rules() -> Vec<Rule> {
    let all = |action, texts: &[&str]| -> Vec<_> {
        texts.iter().map(|text| Rule::parse(action, text, None).unwrap()).collect()
    };
    [all(Action::Allow, ALLOWED), all(Action::Allow, OTHERWISE_HARMLESS), all(Action::Deny, DENIED)].concat()
}

fn lay(root: &Path) -> std::io::Result<()> {
    std::fs::create_dir(root.join("sub"))?;
    for name in ["a", ".env", "git"] {
        std::fs::write(root.join(name), "")?;
    }
    symlink("/etc", root.join("link"))
}

fn rows(table: &'static str) -> Vec<(&'static str, String)> {
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with(['#', '=']);
    let letters = [('␤', '\n'), ('␉', '\t'), ('␍', '\r')];
    let row = |line: &'static str| {
        let (verdict, command) = line.split_once(' ').unwrap();
        let command = letters.iter().fold(command.trim_start().to_owned(), |text, (shown, meant)| {
            text.replace(*shown, &meant.to_string())
        });
        (verdict, command)
    };
    table.lines().filter(is_row).map(row).collect()
}

fn verdict(workspace: &Workspace, command: &str, mode: PermissionMode, rules: &[Rule]) -> &'static str {
    let input =
        BashInput { command: command.to_owned(), description: None, working_dir: None, timeout: None };
    match judge("bash", &inspect(workspace, &input), mode, rules) {
        Verdict::Allow => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

#[test]
fn no_command_gets_around_the_rules() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    lay(directory.path())?;
    let workspace = Workspace::open(directory.path())?;
    let rules = rules();
    let rows = rows(TABLE);
    let judged = |(expected, command): &(&'static str, String)| {
        let found = verdict(&workspace, command, PermissionMode::Interactive, &rules);
        let in_yolo = verdict(&workspace, command, PermissionMode::Yolo, &rules);
        let yolo = if found == "deny" { "deny" } else { "allow" };
        (found != *expected || in_yolo != yolo).then(|| format!("{expected}, not {found}: {command}"))
    };
    let wrong: Vec<_> = rows.iter().filter_map(judged).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn a_rule_for_a_program_lets_pass_what_it_is_meant_for_and_no_more() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    lay(directory.path())?;
    let workspace = Workspace::open(directory.path())?;
    let judged = |(expected, command): (&'static str, String)| {
        let program = command.split(' ').find(|word| !word.contains('=')).unwrap();
        let texts = [format!("bash({program} *)"), "host(127.0.0.1)".to_owned()];
        let rules = texts.map(|text| Rule::parse(Action::Allow, &text, None).unwrap());
        let found = verdict(&workspace, &command, PermissionMode::Interactive, &rules);
        (found != expected).then(|| format!("{expected}, not {found}: {command}"))
    };
    let wrong: Vec<_> = rows(HONEST).into_iter().filter_map(judged).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn an_address_is_a_host_to_what_talks_to_it_and_a_path_to_the_others() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    lay(directory.path())?;
    let workspace = Workspace::open(directory.path())?;
    let texts = ["bash(curl *)", "bash(cat *)", "bash(git *)", "host(127.0.0.1)"];
    let rules = texts.map(|text| Rule::parse(Action::Allow, text, None).unwrap());
    for (expected, command) in [
        ("allow", "curl -s http://127.0.0.1:8080/v1/models"),
        ("allow", "curl -s -X POST -d x 'HTTP://127.0.0.1/a?b=/srv/c'"),
        ("ask", "curl -L http://127.0.0.1/a"),
        ("ask", "curl http://example.com/a"),
        ("ask", "curl -d @/srv/x http://127.0.0.1/a"),
        ("ask", "curl http://127.0.0.1/a -o http://127.0.0.1/a"),
        ("ask", "curl file:///srv/x"),
        ("ask", "cat http://127.0.0.1:8080/v1/models"),
        ("allow", "git clone --depth 1 http://127.0.0.1/a/b.git"),
        ("allow", "git -C sub fetch http://127.0.0.1/a/b"),
        ("allow", "git ls-remote ssh://git@127.0.0.1/a"),
        ("ask", "git fetch http://127.0.0.1/../../../a"),
        ("ask", "git clone --reference http://127.0.0.1/a http://127.0.0.1/b"),
        ("ask", "git log http://127.0.0.1/a"),
        ("ask", "git clone https://github.com/a/b"),
    ] {
        assert_eq!(verdict(&workspace, command, PermissionMode::Interactive, &rules), expected, "{command}");
    }
    Ok(())
}

#[test]
fn the_table_is_long_and_repeats_nothing() {
    let rows = rows(TABLE);
    let commands: BTreeSet<_> = rows.iter().map(|(_, command)| command).collect();
    assert_eq!(commands.len(), rows.len());
    assert!(rows.len() >= 200, "{}", rows.len());
    assert!(rows.iter().all(|(verdict, _)| ["allow", "ask", "deny"].contains(verdict)));
}
