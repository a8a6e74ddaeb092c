//! What others say, cut to what fits in one line of ours.

use alloc::string::String;

/// As much of a provider's words as is shown to people and kept.
pub(crate) const MESSAGE: usize = 500;

/// The text as one line of at most `limit` characters: white space and control characters become single spaces.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    let mut length = 0;
    for word in words {
        let space = usize::from(length > 0);
        let room = limit.saturating_sub(length + space);
        let count = word.chars().take(room + 1).count();
        if count > room {
            return cut(line, word, space, limit.saturating_sub(length));
        }
        line.extend(core::iter::repeat_n(' ', space).chain(word.chars()));
        length += space + count;
    }
    line
}

/// Fills the room that is left with the beginning of a word that is too long, and an ellipsis.
fn cut(mut line: String, word: &str, space: usize, room: usize) -> String {
    if room == 0 {
        line.pop();
    }
    if room > space {
        line.extend(core::iter::repeat_n(' ', space).chain(word.chars()).take(room - 1));
    }
    line.push('…');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_short_and_one() {
        for (text, limit, expected) in [
            ("", 5, ""),
            ("  a\n\tb\u{1b}c  ", 9, "a b c"),
            ("abcde", 5, "abcde"),
            ("abcdef", 5, "abcd…"),
            ("ab cdef", 5, "ab c…"),
            ("abcd ef", 5, "abcd…"),
            ("abcde f", 5, "abcd…"),
            ("ééé éé", 5, "ééé …"),
            ("éé éé", 5, "éé éé"),
        ] {
            assert_eq!(one_line(text, limit), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_line_is_never_longer_than_allowed(text: String, limit in 1usize..40) {
            let line = one_line(&text, limit);
            proptest::prop_assert!(line.chars().count() <= limit, "{:?}", line);
        }
    }
}
