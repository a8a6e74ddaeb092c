//! Words for people: what goes to standard error while a run is under way, and text made fit for a terminal.

use alloc::format;
use alloc::string::{String, ToString};

use serde::Deserialize;

use crate::content::{ToolOutcome, ToolStatus};

/// How many characters of a tool's arguments are shown.
const SHOWN_CHARS: usize = 100;

/// The text without what a terminal would obey: control characters other than line breaks and tabs are shown as `\u{..}`.
pub fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() && char != '\n' && char != '\t' {
            clean.extend(char.escape_default());
        } else {
            clean.push(char);
        }
    }
    clean
}

/// A tool call in one line, by what matters most of its arguments.
pub(super) fn call_line(name: &str, input: &str) -> String {
    #[derive(Deserialize)]
    struct Main {
        command: Option<String>,
        file_path: Option<String>,
        pattern: Option<String>,
        path: Option<String>,
    }
    let main = serde_json::from_str::<Main>(input).ok();
    let main = main.and_then(|main| main.command.or(main.file_path).or(main.pattern).or(main.path));
    let main = main.unwrap_or_default();
    let line = main.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(SHOWN_CHARS).collect();
    if short.len() < main.len() {
        short.push('…');
    }
    printable(&format!("{name} {short}")).trim_end().to_string()
}

/// What came of a tool call, in a few words.
pub(super) fn outcome_line(outcome: &ToolOutcome, duration: u64) -> String {
    let first = outcome.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: String = printable(first).chars().take(SHOWN_CHARS).collect();
    let took = format!("{}.{} s", duration / 1000, duration % 1000 / 100);
    match outcome.status {
        ToolStatus::Ok => took,
        ToolStatus::Error => format!("failed after {took}: {first}"),
        ToolStatus::Denied => "denied".to_string(),
        ToolStatus::Cancelled => "cancelled".to_string(),
        ToolStatus::Interrupted => "interrupted".to_string(),
        ToolStatus::NotReached => "not started".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(printable("a\u{1b}[2Jb\r\n\tc\u{9b}"), "a\\u{1b}[2Jb\\r\n\tc\\u{9b}");
    }

    #[test]
    fn a_call_is_told_by_what_matters() {
        assert_eq!(call_line("bash", r#"{"command":"cargo test\nls"}"#), "bash cargo test…");
        assert_eq!(call_line("view", r#"{"file_path":"a","limit":1}"#), "view a");
        assert_eq!(call_line("ls", "not json"), "ls");
    }
}
