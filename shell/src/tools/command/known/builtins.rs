//! What is known of the commands of the shell itself.

/// Builtin commands after which names or words may mean something else.
pub(in crate::tools::command) const CHANGES_MEANING: &[&str] = &[
    ".",
    "alias",
    "bind",
    "bg",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "dirs",
    "disown",
    "enable",
    "fc",
    "fg",
    "hash",
    "history",
    "let",
    "logout",
    "mapfile",
    "newgrp",
    "readarray",
    "shopt",
    "source",
    "suspend",
    "unalias",
];

/// Tests whose operands are expressions, or names of variables that may have one in brackets.
pub(in crate::tools::command) const ARITHMETIC_TESTS: &[&str] =
    &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

/// Options of `set` that change nothing of what words mean.
pub(in crate::tools::command) const SET_OPTIONS: &[&str] = &[
    "-e", "-u", "-x", "-o", "+e", "+u", "+x", "+o", "-eu", "-ex", "-eux", "-euo", "-exo", "-euxo", "-ue",
    "pipefail", "errexit", "nounset", "xtrace",
];
