//! Parts of sentences: what somebody wrote, in quotes, and numbers of things.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

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

/// A number of things: `1 line`, `2 lines`.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {thing}{}", if number == N::from(1) { "" } else { "s" })
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

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!([0_usize, 1, 2].map(|number| count(number, "line")), ["0 lines", "1 line", "2 lines"]);
        assert_eq!(count(1_u64, "step"), "1 step");
    }
}
