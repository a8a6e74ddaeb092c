//! Whether a rule is about a part of a call, and how strongly.
//!
//! Allowing is taken narrowly: exactly the pattern, of commands only where the program is the one that its name says. Asking
//! and denying are taken broadly: a command with whatever arguments and wherever its program lies, a directory with all that
//! is in it, a host with those below it, and capital letters like small ones.

use alloc::format;
use alloc::string::String;

use super::ask::Part;
use super::glob::{self, Case, Kind};
use super::intent::{Access, Opaque, PathUse};
use super::line::line;
use super::rule::{Action, Rule, Subject};

/// Directories whose programs are what their names say.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// How strongly a rule is about a part: by the length of its literal prefix. Nothing if it is not about it.
pub(crate) fn strength(rule: &Rule, part: &Part, root: &str) -> Option<usize> {
    let narrow = rule.action == Action::Allow;
    match (&rule.subject, part) {
        (Subject::Command(pattern), Part::Command(words)) => {
            about_command(pattern, words, narrow).then(|| glob::literal_prefix(pattern, Kind::Line))
        }
        (Subject::Command(pattern), Part::Opaque(opaque)) => {
            let is_meant =
                about_command(pattern, &opaque.command, narrow) && (!narrow || accepts(pattern, opaque));
            is_meant.then(|| glob::literal_prefix(pattern, Kind::Line))
        }
        (Subject::Path { access, pattern }, Part::Path { path, access: used, .. }) => {
            let is_meant = match (access, used) {
                (Access::Any, _) | (Access::Read, Access::Read) | (Access::Write, Access::Write) => true,
                (Access::Read | Access::Write, Access::Any) => !narrow,
                (Access::Read, Access::Write) | (Access::Write, Access::Read) => false,
            };
            if is_meant { about_path(pattern, path, root, narrow) } else { None }
        }
        (Subject::Host(pattern), Part::Host(host)) => {
            about_host(pattern, host, narrow).then(|| glob::literal_letters(pattern, Kind::Line))
        }
        (Subject::Tool(_) | Subject::Command(_) | Subject::Path { .. } | Subject::Host(_), _) => None,
    }
}

/// Whether programs in that directory are what their names say.
pub(crate) fn is_system(directory: &str) -> bool {
    SYSTEM.contains(&directory)
}

fn about_command(pattern: &str, words: &[String], narrow: bool) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let case = if narrow { Case::Exact } else { Case::Folded };
    let fits = |line: &str| {
        let with_arguments = format!("{pattern} *");
        glob::fits(pattern, line, Kind::Line, case)
            || pattern.strip_suffix(" *").is_some_and(|bare| glob::fits(bare, line, Kind::Line, case))
            || (!narrow && glob::fits(&with_arguments, line, Kind::Line, case))
    };
    if fits(&line(words)) {
        return true;
    }
    let Some((directory, name)) = program.rsplit_once('/') else { return false };
    if narrow && !is_system(directory) {
        return false;
    }
    let mut named = alloc::vec![String::from(name)];
    named.extend_from_slice(arguments);
    fits(&line(&named))
}

/// Whether whoever allows a pattern that fits such a command has had it in mind: they wrote that command, or the name of a
/// program that never says what it does.
fn accepts(pattern: &str, opaque: &Opaque) -> bool {
    let Some(program) = opaque.command.first() else { return false };
    let begin = glob::literal_begin(pattern, Kind::Line);
    let names = |program: &str| begin.starts_with(&format!("{} ", line(&[String::from(program)])));
    let name = program.rsplit('/').next().unwrap_or(program);
    glob::is_literal(pattern, Kind::Line) || (opaque.always && (names(program) || names(name)))
}

fn about_path(pattern: &str, path: &PathUse, root: &str, narrow: bool) -> Option<usize> {
    // With a slash at its end it is about a directory. What denies or asks is about all that is in one anyway.
    let all_in_it = (narrow && pattern.ends_with('/')).then(|| format!("{pattern}**"));
    let pattern = all_in_it.as_deref().unwrap_or(pattern);
    let trimmed = pattern.strip_prefix("**/").unwrap_or(pattern).trim_end_matches('/');
    if trimmed.is_empty() {
        return about_tree("/", &path.path, narrow);
    }
    if !trimmed.contains('/') {
        return about_name(trimmed, path, root, narrow);
    }
    if pattern.starts_with('/') {
        return about_tree(pattern.trim_end_matches('/'), &path.path, narrow);
    }
    let relative = pattern.trim_start_matches("./").trim_end_matches('/');
    about_tree(&format!("{}/{relative}", glob::escaped(root.trim_end_matches('/'))), &path.path, narrow)
}

/// A pattern of whole paths: `/etc/**` is about `/etc` too.
fn about_tree(pattern: &str, path: &str, narrow: bool) -> Option<usize> {
    let case = if narrow { Case::Exact } else { Case::Folded };
    let below = format!("{}/**", pattern.trim_end_matches('/'));
    let fits = glob::fits(pattern, path, Kind::Path, case)
        || pattern.strip_suffix("/**").is_some_and(|top| glob::fits(top, path, Kind::Path, case))
        || (!narrow && glob::fits(&below, path, Kind::Path, case));
    fits.then(|| glob::literal_prefix(pattern, Kind::Path))
}

/// A pattern of names, in whatever directory: as strong as if it were written for the directory where it is found, unless
/// it is about every name there is. The names above the workspace are not looked at for what is in it.
fn about_name(pattern: &str, path: &PathUse, root: &str, narrow: bool) -> Option<usize> {
    let case = if narrow { Case::Exact } else { Case::Folded };
    if narrow && !path.inside {
        return None;
    }
    let everything = pattern.chars().all(|letter| letter == '*');
    let prefix = glob::literal_prefix(pattern, Kind::Path);
    let mut begin = if path.inside && path.path.starts_with(root) { root.len() } else { 0 };
    let mut found = None;
    for name in path.path[begin..].split('/') {
        let is_last = begin + name.len() == path.path.len();
        if (is_last || !narrow) && !name.is_empty() && glob::fits(pattern, name, Kind::Path, case) {
            found = Some(if everything { 0 } else { path.path[..begin].chars().count() + prefix });
        }
        begin += name.len() + 1;
    }
    found
}

fn about_host(pattern: &str, host: &str, narrow: bool) -> bool {
    let fits = |pattern: &str| glob::fits(pattern, host.trim_end_matches('.'), Kind::Line, Case::Folded);
    fits(pattern) || (!narrow && fits(&format!("*.{pattern}")))
}
