//! Words for people: what goes to standard error while a run is under way, and text made fit for a terminal.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;

use crate::content::{ToolOutcome, ToolStatus};

/// How many characters of a tool's arguments are shown.
const SHOWN_CHARS: usize = 100;

/// The text without what a terminal would obey: control characters other than line breaks and tabs, and what turns text
/// around or breaks lines without being one of them, are shown as `\u{..}`.
pub fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if is_obeyed(char) && char != '\n' && char != '\t' {
            clean.extend(char.escape_unicode());
        } else {
            clean.push(char);
        }
    }
    clean
}

/// The text in one line, fit for a terminal.
pub fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether a terminal does something else with a character than to show it.
pub(super) fn is_obeyed(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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

/// The text, or as many of its words as fit and a sign that there were more.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS) else { return text.to_string() };
    let (cut, rest) = text.split_at(end);
    let whole =
        if rest.starts_with(char::is_whitespace) { cut.len() } else { cut.rfind(' ').unwrap_or(cut.len()) };
    format!("{}…", cut[..whole].trim_end())
}

/// What came of a tool call, in a few words.
pub(super) fn outcome_line(outcome: &ToolOutcome, duration: u64) -> String {
    let first = outcome.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = shortened(&printable(first));
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
        assert_eq!(printable("a\u{1b}[2Jb\r\n\tc\u{9b}"), "a\\u{1b}[2Jb\\u{d}\n\tc\\u{9b}");
        assert_eq!(printable("a\u{202e}b\u{2028}c\u{2066}d"), "a\\u{202e}b\\u{2028}c\\u{2066}d");
        assert_eq!(printable("naïve – 漢字 👩‍💻"), "naïve – 漢字 👩‍💻");
        assert_eq!(one_line(" a\n\tb\u{2028}c\u{1b} "), "a b c\\u{1b}");
    }

    #[test]
    fn what_is_too_long_ends_with_a_word() {
        let words = "word ".repeat(30);
        assert_eq!(shortened(&words), format!("{}…", "word ".repeat(20).trim_end()));
        assert_eq!(shortened(&format!("xx{words}")), format!("xx{}…", "word ".repeat(19).trim_end()));
        assert_eq!(shortened(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
        assert_eq!(shortened(&"é".repeat(100)), "é".repeat(100));
    }

    #[test]
    fn a_call_is_told_by_what_matters() {
        assert_eq!(call_line("bash", r#"{"command":"cargo test\nls"}"#), "bash cargo test…");
        assert_eq!(call_line("view", r#"{"file_path":"a","limit":1}"#), "view a");
        assert_eq!(call_line("ls", "not json"), "ls");
    }
}
