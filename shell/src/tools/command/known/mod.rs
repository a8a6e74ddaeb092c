//! What is known of programs and variables by their names.
//!
//! There are two kinds of lists. Where one of what is harmless is incomplete, somebody is asked once more than necessary, so what is
//! on it must be certain. What is missing on a list of programs, options and words that execute others passes for a command
//! like any other, whose doings are not looked at: those lists must be long.

mod builtins;
mod code;
mod options;
mod runners;
mod sed;
mod transfer;
mod variables;

pub(super) use hostler_core::tools::Access;

pub(super) use builtins::{ARITHMETIC_TESTS, CHANGES_MEANING, SET_OPTIONS};
pub(super) use code::{
    HARMLESS_MODULES, ends_it, is_code_option, is_harmless_option, is_interpreter, without_code,
};
pub(super) use options::{executes, may_be_cluster};
pub(super) use runners::RUNNERS;
pub(super) use sed::{SED_OPTIONS, is_plain_sed};
pub(super) use transfer::{CURL_VALUED, is_plain_curl, stands_alone};
pub(super) use variables::is_harmless_variable;

use super::word::Word;

/// How a program uses its arguments.
pub(super) struct Usage {
    /// What it does with paths among them.
    pub(super) access: Access,
    /// Whether each word that is no option is a path.
    pub(super) all_are_paths: bool,
    /// Whether the first of them is a pattern.
    pub(super) first_is_pattern: bool,
}

/// Commands whose arguments are no paths.
const WITHOUT_PATHS: &[&str] = &[
    ":", "break", "continue", "echo", "exit", "false", "jobs", "kill", "printf", "pwd", "return", "shift",
    "sleep", "true", "type", "ulimit", "umask", "wait", "which", "whoami",
];

/// Programs that only read the files that they are given, whatever their options.
const READ: &[&str] = &[
    "cat",
    "cksum",
    "cmp",
    "comm",
    "df",
    "diff",
    "du",
    "egrep",
    "fgrep",
    "fold",
    "grep",
    "head",
    "hexdump",
    "join",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "wc",
];

/// Programs that make, change or remove the files that they are given, and show nothing of them.
const WRITE: &[&str] =
    &["chgrp", "chmod", "chown", "mkdir", "rm", "rmdir", "shred", "tee", "touch", "truncate", "unlink"];

/// Programs that do both.
const BOTH: &[&str] =
    &["cp", "dd", "install", "ln", "mv", "rsync", "sort", "split", "tar", "uniq", "unzip", "zip"];

/// Whether a program only reads, also if it is given further arguments, whatever they are.
pub(super) fn only_reads(name: &str) -> bool {
    name == "echo" || (READ.contains(&name) && !matches!(name, "less" | "more" | "rg" | "test"))
}

/// Programs whose first argument is a pattern.
const PATTERN: &[&str] = &["egrep", "fgrep", "grep", "rg"];

/// How a program uses its arguments, if they can be paths.
pub(super) fn usage(name: &str) -> Option<Usage> {
    if WITHOUT_PATHS.contains(&name) {
        return None;
    }
    let access = match name {
        _ if READ.contains(&name) => Access::Read,
        _ if WRITE.contains(&name) => Access::Write,
        _ => Access::Any,
    };
    let all_are_paths = access != Access::Any || BOTH.contains(&name);
    Some(Usage { access, all_are_paths, first_is_pattern: PATTERN.contains(&name) })
}

/// Whether the first argument of such a program is its pattern, and not a value of an option.
pub(super) fn begins_with_pattern(words: &[Word]) -> bool {
    words.get(1).is_some_and(|word| !word.text.starts_with('-'))
}
