//! What somebody wrote, in quotes, as a part of a sentence that is about something else.

use alloc::format;
use alloc::string::String;

/// How many characters are quoted.
const SHOWN: usize = 80;

/// The text in quotes, or its beginning if it is long: a sentence is to be read, and what was written is known to whoever wrote
/// it.
pub fn quoted(text: &str) -> String {
    beginning(text, SHOWN)
}

/// So many characters of the text in quotes, which is more than enough to find something by that may be a secret.
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(quoted("a \"b\"\n"), r#""a \"b\"\n""#);
        assert_eq!(quoted(&"é".repeat(80)), format!("\"{}\"", "é".repeat(80)));
        assert_eq!(quoted(&"é".repeat(100_000)), format!("\"{}…\"", "é".repeat(80)));
        assert_eq!(beginning("Bearer sk-secret", 8), "\"Bearer s…\"");
    }
}
