//! Programs that talk to hosts: which of their options have a value, and which leave them at the hosts that are named.

use super::super::word::Word;

/// Options of `curl` that have a value in the next word.
pub(in crate::tools::command) const CURL_VALUED: &[&str] = &[
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
pub(in crate::tools::command) fn is_plain_curl(word: &Word) -> bool {
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
pub(in crate::tools::command) fn stands_alone(name: &str, word: &Word) -> bool {
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
