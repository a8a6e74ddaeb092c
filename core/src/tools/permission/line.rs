//! The words of a command as one line, quoted so that no two commands look the same.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The words of a command as a shell would take them. Rules about commands are matched against this line, so that a word
/// with a space in it never passes for two.
pub fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    alloc::format!("'{}'", word.replace('\'', r"'\''"))
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '_' | '-' | '.' | '/' | ':' | ',' | '=' | '+' | '@' | '%' | '^' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_apart() {
        let line = |words: &[&str]| line(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>());
        assert_eq!(line(&["git", "log", "-n3"]), "git log -n3");
        assert_eq!(line(&["git log"]), "'git log'");
        assert_eq!(line(&["echo", "", "it's", "a;b"]), r"echo '' 'it'\''s' 'a;b'");
    }

    proptest! {
        #[test]
        fn no_two_commands_look_the_same(
            a in proptest::collection::vec("[ab' \\\\]{0,4}", 1..4),
            b in proptest::collection::vec("[ab' \\\\]{0,4}", 1..4),
        ) {
            prop_assert_eq!(line(&a) == line(&b), a == b);
        }
    }
}
