//! Plain data as an outline for people: a line a field, with what says nothing left out.

use alloc::format;
use alloc::string::String;

use serde_json::Value;

use crate::client::printable;
use crate::time::Timestamp;

/// How many characters of a text are shown.
const SHOWN_CHARS: usize = 100;

/// A number is taken for a time if it is no further away than that, in milliseconds.
const NEAR: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Writes outlines at a moment; times in them are said by how far away they are.
pub(super) struct Outline {
    now: u64,
    pub(super) text: String,
}

impl Outline {
    pub(super) fn at(now: Timestamp) -> Self {
        Self { now: now.as_millis(), text: String::new() }
    }

    /// Writes a line.
    pub(super) fn line(&mut self, depth: usize, line: &str) {
        (0..depth).for_each(|_| self.text.push_str("  "));
        self.text.push_str(&printable(line));
        self.text.push('\n');
    }

    /// Writes a value under a name.
    pub(super) fn value(&mut self, depth: usize, name: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                self.line(depth, name);
                map.iter().for_each(|(key, value)| self.value(depth + 1, key, value));
            }
            Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
                self.line(depth, name);
                list.iter().for_each(|item| self.value(depth + 1, "-", item));
            }
            Value::Array(list) if list.is_empty() => {}
            Value::Array(list) => {
                let items = list.iter().filter_map(|item| self.short(item));
                let items: alloc::vec::Vec<_> = items.collect();
                self.line(depth, &format!("{name} {}", items.join(", ")));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                if let Some(short) = self.short(value) {
                    self.line(depth, &format!("{name} {short}"));
                }
            }
        }
    }

    fn short(&self, value: &Value) -> Option<String> {
        match value {
            Value::Bool(value) => Some(String::from(if *value { "yes" } else { "no" })),
            Value::Number(number) => {
                let time = number.as_u64().filter(|number| number.abs_diff(self.now) < NEAR);
                Some(time.map_or_else(|| format!("{number}"), |time| self.time(time)))
            }
            Value::String(text) => Some(shown(text)),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// A time, by how far away it is.
    pub(super) fn time(&self, time: u64) -> String {
        match time.checked_sub(self.now) {
            Some(0) => String::from("now"),
            Some(ahead) => format!("in {}", seconds(ahead)),
            None => format!("{} ago", seconds(self.now - time)),
        }
    }
}

/// So many milliseconds.
pub(super) fn seconds(millis: u64) -> String {
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

/// A text in one line, in quotes if it is more than a word.
pub(super) fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    if !cut.is_empty() && cut.chars().all(|char| char.is_alphanumeric() || "._-/:$".contains(char)) {
        return cut;
    }
    format!("{cut:?}")
}
