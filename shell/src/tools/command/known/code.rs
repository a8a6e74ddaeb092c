//! Programs that take code in other languages.

use super::super::word::Word;

/// Programs that run code from their options or their standard input, and what they are called without a version.
const FAMILIES: &[(&str, &[&str])] = &[
    ("python", &["python", "pypy"]),
    ("perl", &["perl"]),
    ("ruby", &["ruby", "irb"]),
    ("node", &["node", "nodejs", "deno", "bun", "tsx", "ts-node"]),
    ("php", &["php"]),
    ("lua", &["lua", "luajit"]),
];

/// Whose options such a program has; nothing if it is none.
fn family(name: &str) -> &'static str {
    let begin = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    FAMILIES.iter().find(|(_, names)| names.contains(&begin)).map_or("", |(family, _)| family)
}

pub(in crate::tools::command) fn is_interpreter(name: &str) -> bool {
    !family(name).is_empty()
}

/// Whether an option of those has code in it or behind it. Then that is what is run, and not what comes on standard input.
pub(in crate::tools::command) fn is_code_option(name: &str, option: &str) -> bool {
    let letters = match family(name) {
        "python" => "c",
        "perl" | "ruby" => "eE",
        "node" => "ep",
        "php" => "rBRE",
        "lua" => "e",
        _ => "",
    };
    let is_long = matches!(option, "--eval" | "--print") && letters.contains('p');
    let cluster = option.strip_prefix('-').unwrap_or_default();
    // Letters before it that have no value.
    let is_flag = |letter: char| "nlaswpBISO0".contains(letter) && !letters.contains(letter);
    let rest = cluster.trim_start_matches(is_flag);
    is_long || rest.starts_with(|letter| letters.contains(letter))
}

/// Whether an option of those changes nothing of what is run, and has no value.
pub(in crate::tools::command) fn is_harmless_option(name: &str, option: &str) -> bool {
    match family(name) {
        "python" => matches!(option, "-u" | "-B" | "-O" | "-OO" | "-s" | "-S" | "-E" | "-q"),
        "perl" | "ruby" => option == "-w",
        _ => false,
    }
}

/// Whether a program with that option alone says something of itself and runs nothing.
pub(in crate::tools::command) fn ends_it(name: &str, option: &str) -> bool {
    // It makes Python tell what it does besides.
    matches!(option, "--version" | "-V" | "--help") || (option == "-v" && family(name) != "python")
}

/// Modules of Python that run no code but what is in files, or none at all.
pub(in crate::tools::command) const HARMLESS_MODULES: &[&str] = &[
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

/// Programs that take code as their first argument, unless it comes from a file.
const AWK: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// Words without the code among them, which looks like a path and is none.
pub(in crate::tools::command) fn without_code(name: &str, words: &[Word]) -> Vec<Word> {
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
