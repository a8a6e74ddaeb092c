//! What is known of programs and variables by their names.
//!
//! Where a list is incomplete, somebody is asked once more than necessary. So what is on a list must be certain.

pub(super) use hostler_core::tools::Access;

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

/// Builtin commands after which names or words may mean something else.
pub(super) const CHANGES_MEANING: &[&str] = &[
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

/// Programs that execute what they are given, in ways of their own.
pub(super) const RUNNERS: &[&str] = &[
    "apptainer",
    "at",
    "bash-static",
    "batch",
    "bwrap",
    "chroot",
    "chrt",
    "cpulimit",
    "crontab",
    "dbus-run-session",
    "docker",
    "entr",
    "expect",
    "fakeroot",
    "fd",
    "fdfind",
    "firejail",
    "flock",
    "gdb",
    "hyperfine",
    "kubectl",
    "ld.so",
    "lldb",
    "lima",
    "linux32",
    "linux64",
    "ltrace",
    "machinectl",
    "nsenter",
    "numactl",
    "osascript",
    "parallel",
    "perf",
    "pkexec",
    "podman",
    "prlimit",
    "proot",
    "rlwrap",
    "run-parts",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "sg",
    "socat",
    "ssh",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "tmux",
    "torify",
    "torsocks",
    "unshare",
    "valgrind",
    "watch",
    "winpty",
    "xterm",
    "xvfb-run",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
    "npx",
    "bunx",
    "pipx",
    "uvx",
    "direnv",
    "nix",
    "nix-shell",
    "dlx",
    "tclsh",
    "wish",
    "m4",
    "vi",
    "vim",
    "view",
    "nvim",
    "ed",
    "ex",
    "emacs",
    "emacsclient",
    "nano",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sqlite3",
    "psql",
    "mysql",
    "ftp",
    "sftp",
    "scp",
    "telnet",
    "nc",
    "ncat",
    "netcat",
    "cpio",
    "jshell",
    "dc",
    "bc",
    "ghci",
    "scala",
    "erl",
    "iex",
    "elixir",
    "swift",
    "julia",
    "Rscript",
    "R",
    "octave",
    "gnuplot",
    "wine",
    "qemu-x86_64",
    "dotnet-script",
    "mosh",
    "rsh",
    "rexec",
    "xdg-open",
    "open",
    "systemctl",
    "service",
    "launchctl",
    "ionotify",
    "inotifywait",
    "fswatch",
    "time-cap",
    "eatmydata",
    "catchsegv",
];

/// Beginnings of options with which a program that is otherwise harmless executes another one. Long ones are as short as
/// the programs take them.
const EXECUTING_OPTIONS: &[(&str, &[&str])] = &[
    ("bsdtar", &["--use", "-I"]),
    ("cargo", &["--config", "-Z"]),
    ("cargo-clippy", &["--config"]),
    ("go", &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"]),
    ("cc", COMPILER),
    ("c++", COMPILER),
    ("clang", COMPILER),
    ("clang++", COMPILER),
    ("gcc", COMPILER),
    ("g++", COMPILER),
    ("less", &["+"]),
    ("make", &["--ev"]),
    ("man", &["-P", "-H", "--p", "--h"]),
    ("more", &["+"]),
    ("npm", &["--script-shell", "--node-options", "--prefix", "-C", "--shell"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-p"]),
    ("sort", &["--com"]),
    ("split", &["--fi"]),
    ("tar", &["--use", "--to", "--check", "--rsh", "--rmt", "--info", "--new"]),
    ("zip", &["-TT", "--unzip"]),
];

/// What makes a compiler execute another program, or load one.
const COMPILER: &[&str] = &["-wrapper", "-B", "-specs", "-fplugin", "-Xclang", "-load", "-Wl,"];

/// Whether an argument makes the program execute another one.
pub(super) fn executes(name: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    // Programs take the beginning of a long option for all of it.
    let long = text.split('=').next().filter(|long| long.starts_with("--") && long.len() > 2);
    let is_meant = |option: &&str| {
        text.starts_with(option)
            || (option.starts_with("--") && long.is_some_and(|long| option.starts_with(long)))
    };
    let by_option =
        EXECUTING_OPTIONS.iter().any(|(program, options)| *program == name && options.iter().any(is_meant));
    let by_word = EXECUTING_WORDS.iter().any(|(program, words)| *program == name && words.contains(&text));
    let by_letter = |letter: char| text.starts_with('-') && text.contains(letter);
    let by_letter = (name == "jobs" && by_letter('x')) || (name == "wait" && by_letter('p'));
    // `tar` takes its letters in one word, with a dash or without.
    let in_cluster = name == "tar" && !word.text.starts_with("--") && word.text.contains(['I', 'F']);
    by_option || by_word || by_letter || in_cluster
}

/// Words after which such a program executes another one, or whatever a linker is told.
const EXECUTING_WORDS: &[(&str, &[&str])] = &[
    ("bun", &["x"]),
    ("cargo", &["rustc", "rustdoc"]),
    ("npm", &["exec", "x", "explore"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
];

/// Programs that run code from their options or their standard input.
pub(super) fn is_interpreter(name: &str) -> bool {
    let begin = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    matches!(
        begin,
        "python"
            | "pypy"
            | "perl"
            | "ruby"
            | "irb"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "php"
            | "lua"
            | "luajit"
            | "tsx"
            | "ts-node"
    )
}

/// Whether an option of those has code in it or behind it. Then that is what is run, and not what comes on standard input.
pub(super) fn is_code_option(name: &str, option: &str) -> bool {
    let letters = match name.get(..2).unwrap_or_default() {
        "py" => "c",
        "pe" | "ru" => "eE",
        "no" | "bu" | "ts" => "ep",
        "ph" => "r",
        "lu" => "e",
        _ => "",
    };
    let is_long = matches!(option, "--eval" | "--print") && letters.contains('p');
    let cluster = option.strip_prefix('-').unwrap_or_default();
    // Letters before it that have no value.
    let is_flag = |letter: char| "nlaswpBISO0".contains(letter) && !letters.contains(letter);
    let rest = cluster.trim_start_matches(is_flag);
    is_long || rest.starts_with(|letter| letters.contains(letter))
}

/// Programs that take code as their first argument, unless it comes from a file.
const AWK: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// Words without the code among them, which looks like a path and is none.
pub(super) fn without_code(name: &str, words: &[Word]) -> Vec<Word> {
    if !AWK.contains(&name) {
        return words.to_vec();
    }
    let mut kept = Vec::new();
    let mut rest = words.iter();
    let mut code = true;
    kept.extend(rest.next().cloned());
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-F" | "-v" => drop(rest.next()),
            // One that separates fields is no path.
            text if text.starts_with("-F") => {}
            text if text.len() > 1 && text.starts_with('-') => {
                code &= text.starts_with("-v");
                kept.push(word.clone());
            }
            _ if code => code = false,
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// Options of those that change nothing of what is run.
pub(super) const HARMLESS_INTERPRETER_OPTIONS: &[&str] = &["-u", "-B", "-w", "-s", "-O"];

/// Modules of Python that run no code but what is in files, or none at all.
pub(super) const HARMLESS_MODULES: &[&str] = &[
    "black",
    "build",
    "compileall",
    "doctest",
    "flake8",
    "http.server",
    "isort",
    "json.tool",
    "mypy",
    "pip",
    "py_compile",
    "pylint",
    "pytest",
    "ruff",
    "unittest",
    "venv",
];

/// Tests whose operands are expressions, or names of variables that may have one in brackets.
pub(super) const ARITHMETIC_TESTS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

/// Options of `set` that change nothing of what words mean.
pub(super) const SET_OPTIONS: &[&str] = &[
    "-e", "-u", "-x", "-o", "+e", "+u", "+x", "+o", "-eu", "-ex", "-eux", "-euo", "-exo", "-euxo", "-ue",
    "pipefail", "errexit", "nounset", "xtrace",
];

/// Options of `sed` that come without a value and execute nothing.
pub(super) const SED_OPTIONS: &[&str] = &[
    "-n",
    "-E",
    "-r",
    "-s",
    "-z",
    "-i",
    "-u",
    "-nE",
    "-nr",
    "-En",
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--in-place",
    "--posix",
];

/// Whether a script of `sed` is one command that prints, deletes or replaces, and so neither executes nor writes.
pub(super) fn is_plain_sed(script: &str) -> bool {
    let is_address = |letter: char| letter.is_ascii_digit() || matches!(letter, ',' | '$' | '!' | ' ');
    let command = script.trim_start_matches(is_address);
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '/' | '|' | '#' | ',' | ':' | '@'))
    else {
        return false;
    };
    if rest.contains(['\n', '\\', '[', ';', '{', '}']) {
        return false;
    }
    let parts: Vec<_> = rest.split(mark).collect();
    matches!(parts.as_slice(), ["", _, _, flags] if flags.chars().all(|flag| flag.is_ascii_digit() || matches!(flag, 'g' | 'p' | 'i' | 'I')))
}

/// Options of `curl` that have a value in the next word.
pub(super) const CURL_VALUED: &[&str] = &[
    "-o",
    "-H",
    "-X",
    "-d",
    "-A",
    "-m",
    "-w",
    "--output",
    "--header",
    "--request",
    "--data",
    "--max-time",
    "--retry",
    "--connect-timeout",
    "--user-agent",
    "--data-raw",
    "--json",
    "--data-binary",
    "--write-out",
];

/// Whether a word of `curl` leaves it at the hosts that are named, as following redirections or reading options from a file
/// would not.
pub(super) fn is_plain_curl(word: &Word) -> bool {
    let text = word.text.as_str();
    let is_cluster =
        |letters: &str| !letters.is_empty() && letters.chars().all(|letter| "sSfIivkg".contains(letter));
    match text.strip_prefix('-') {
        // It makes several addresses, and names of files, of what is in brackets.
        None => !text.contains(['{', '[', '\\']),
        Some(_) if CURL_VALUED.contains(&text) => true,
        Some(long) if long.starts_with('-') => {
            matches!(
                long,
                "-silent" | "-show-error" | "-fail" | "-head" | "-include" | "-verbose" | "-compressed"
            )
        }
        Some(letters) => is_cluster(letters),
    }
}

/// Options of `wget` without a value in the next word.
const WGET_FLAGS: &[&str] =
    &["-q", "-S", "-c", "-N", "-nv", "-qO-", "-O-", "--quiet", "--no-verbose", "--spider", "--continue"];

/// Options of commands of `git` that talk to others, without a value in the next word.
const GIT_FLAGS: &[&str] = &[
    "-q",
    "-v",
    "-n",
    "-f",
    "--quiet",
    "--verbose",
    "--bare",
    "--mirror",
    "--no-checkout",
    "--progress",
    "--single-branch",
    "--tags",
    "--no-tags",
    "--heads",
    "--all",
    "--prune",
    "--force",
    "--set-upstream",
    "--ff-only",
    "--rebase",
];

/// Whether a word is no option that has the next word for its value, as far as that is known.
pub(super) fn stands_alone(name: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    let is_flag = match name {
        "curl" => text == "--url" || (is_plain_curl(word) && !CURL_VALUED.contains(&text)),
        "wget" => WGET_FLAGS.contains(&text),
        "git" => GIT_FLAGS.contains(&text),
        _ => false,
    };
    let has_its_own = text.starts_with("--") && text.contains('=');
    !text.starts_with('-') || text == "-" || text == "--" || is_flag || has_its_own
}

/// Variables of programs that only say how they show what they do.
const HARMLESS: &[&str] = &[
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "COLORTERM",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PROPTEST_CASES",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "TERM",
    "TZ",
];

/// Whether a variable can be set without a change of what other words mean. Those that matter to programs and shells have
/// capital letters, with a few exceptions.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    let is_own = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let is_proxy = name.ends_with("_proxy");
    HARMLESS.contains(&name)
        || (name.chars().all(is_own)
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && !is_proxy
            && !name.starts_with("npm_")
            && !matches!(name, "histchars" | "auto_resume"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_without_side_effects_are_plain() {
        for (script, plain) in [
            ("1,5p", true),
            ("$d", true),
            ("s/a/b/g", true),
            ("s|a|b|2", true),
            ("s/a/b/e", false),
            ("s/a/b/w f", false),
            ("1e rm x", false),
            ("w f", false),
            ("p;e rm", false),
            ("s/a/b/\ne rm", false),
            ("/x/e", false),
        ] {
            assert_eq!(is_plain_sed(script), plain, "{script}");
        }
    }

    #[test]
    fn variables_that_matter_are_not_harmless() {
        for (name, harmless) in [
            ("x", true),
            ("RUST_LOG", true),
            ("PATH", false),
            ("IFS", false),
            ("http_proxy", false),
            ("_", false),
            ("X", false),
        ] {
            assert_eq!(is_harmless_variable(name), harmless, "{name}");
        }
    }
}
