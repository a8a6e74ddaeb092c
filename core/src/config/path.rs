//! The path to a key, such as `providers.openai.base_url` or `models."openai/gpt-4.1".context_window`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::tree::quoted;

/// The names on the way to a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<String>);

impl Path {
    /// The path one name further.
    pub fn join(&self, name: &str) -> Self {
        let mut names = self.0.clone();
        names.push(name.to_string());
        Self(names)
    }

    /// The path with the names from one place to before another as one name with dots in it.
    pub(super) fn joined(&self, from: usize, to: usize) -> Self {
        let (before, after) = (self.0.iter().take(from), self.0.iter().skip(to));
        let within: Vec<_> = self.0.iter().take(to).skip(from).map(String::as_str).collect();
        Self(before.cloned().chain([within.join(".")]).chain(after.cloned()).collect())
    }

    /// The names.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// Reads a path as it is written. Names that have dots or quotes in them stand in double quotes.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut names = Vec::new();
        let mut rest = text;
        loop {
            let (name, after) = first(rest).ok_or_else(|| {
                let text = crate::quote::quoted(text);
                format!("{text} is not the path of a key; write names with dots between, such as providers.openai.base_url")
            })?;
            names.push(name);
            match after.strip_prefix('.') {
                Some(more) => rest = more,
                None if after.is_empty() => return Ok(Self(names)),
                None => rest = "",
            }
        }
    }
}

/// The first name of a path and what comes after it.
fn first(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        let end = end_of_quotes(text)?;
        return Some((serde_json::from_str(&text[..end]).ok()?, &text[end..]));
    }
    let end = text.find('.').unwrap_or(text.len());
    (end > 0 && !text[..end].contains('"')).then(|| (text[..end].to_string(), &text[end..]))
}

fn end_of_quotes(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '"' if !escaped => return Some(at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            let plain = |char: char| char.is_alphanumeric() || "_-$/:".contains(char);
            if !name.is_empty() && name.chars().all(plain) {
                f.write_str(name)?;
            } else {
                f.write_str(&quoted(name))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for (text, names) in [
            ("model", &["model"][..]),
            ("providers.openai.base_url", &["providers", "openai", "base_url"]),
            ("models.\"openai/gpt-4.1\".tools", &["models", "openai/gpt-4.1", "tools"]),
            ("a.\"b\\\"c\\\\\"", &["a", "b\"c\\"]),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.names(), names);
            assert_eq!(path.to_string(), text);
        }
        for text in ["", ".", "a.", ".a", "a..b", "a\"b", "\"a", "\"a\"b", "\"\\x\""] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }
}
