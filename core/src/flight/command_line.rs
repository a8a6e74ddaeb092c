//! A command as the line that patterns are matched against: where in it its words are, and where in a pattern.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::tools::{self, Sign};

/// A place in a word: which word of all that there are, and which of its letters.
pub(super) type Place = (usize, usize);

/// The line of a command.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) letters: Vec<char>,
    /// For each letter where it comes from, except for quotes.
    pub(super) places: Vec<Option<Place>>,
    /// Where its words are, with their quotes.
    pub(super) words: Vec<Range<usize>>,
}

impl Line {
    /// The line of these words. Each word gets a number if it has none.
    pub(super) fn new(
        words: &[String],
        programs: &BTreeSet<String>,
        numbers: &mut BTreeMap<String, usize>,
    ) -> Self {
        let mut line = Self::default();
        for word in words {
            if !line.words.is_empty() {
                line.push(' ', None);
            }
            let begin = line.letters.len();
            let is_quoted = tools::line(core::slice::from_ref(word)) != *word;
            line.quote(is_quoted);
            for part in parts(word, programs) {
                let next = numbers.len();
                let number = *numbers.entry(part.to_string()).or_insert(next);
                line.part(part, number);
            }
            line.quote(is_quoted);
            line.words.push(begin..line.letters.len());
        }
        line
    }

    fn part(&mut self, part: &str, number: usize) {
        for (nth, letter) in part.chars().enumerate() {
            match letter {
                '\'' => r"'\''".chars().for_each(|letter| self.push(letter, None)),
                _ => self.push(letter, Some((number, nth))),
            }
        }
    }

    fn quote(&mut self, is_quoted: bool) {
        if is_quoted {
            self.push('\'', None);
        }
    }

    fn push(&mut self, letter: char, place: Option<Place>) {
        self.letters.push(letter);
        self.places.push(place);
    }
}

/// What of a word is hidden by itself. A program is looked for by its name, wherever it lies.
pub(super) fn parts<'w>(word: &'w str, programs: &BTreeSet<String>) -> Vec<&'w str> {
    match word.rfind('/') {
        Some(slash) if programs.contains(word) => vec![&word[..=slash], &word[slash + 1..]],
        Some(_) | None => vec![word],
    }
}

/// The words of a pattern, each with its quotes.
pub(super) fn words(signs: &[Sign]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let (mut begin, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, sign) in signs.iter().enumerate() {
        let was_escaped = core::mem::take(&mut is_escaped);
        match sign {
            Sign::Letter('\'') if !was_escaped => is_quoted = !is_quoted,
            Sign::Letter('\\') if !was_escaped => is_escaped = !is_quoted,
            Sign::Letter(' ') if !was_escaped && !is_quoted => {
                words.push(begin..at);
                begin = at + 1;
            }
            Sign::Letter(_) | Sign::One | Sign::Star => {}
        }
    }
    words.push(begin..signs.len());
    words
}

/// The word that is written so in the line of a command; none if no word is.
pub(super) fn unquoted(written: &str) -> Option<String> {
    let inner = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let word = inner.map_or_else(|| written.to_string(), |inner| inner.replace(r"'\''", "'"));
    (tools::line(core::slice::from_ref(&word)) == written).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::{Kind, signs};

    fn line(words: &[String]) -> (Line, BTreeMap<String, usize>) {
        let mut numbers = BTreeMap::new();
        let programs = words.first().cloned().into_iter().collect();
        (Line::new(words, &programs, &mut numbers), numbers)
    }

    proptest! {
        #[test]
        fn a_line_is_that_of_the_matcher_and_its_words_are_found_again(
            words in proptest::collection::vec("[ab/;' \\\\]{0,5}", 1..4),
        ) {
            let (line, numbers) = line(&words);
            let text: String = line.letters.iter().collect();
            prop_assert_eq!(&text, &tools::line(&words));
            let all: Vec<&String> = numbers.keys().collect();
            let by_number = |number| all.iter().find(|word| numbers[**word] == number).expect("it is there");
            for (letter, place) in line.letters.iter().zip(&line.places) {
                if let Some((number, nth)) = place {
                    prop_assert_eq!(by_number(*number).chars().nth(*nth), Some(*letter));
                }
            }
            let signs: Vec<_> = text.chars().map(Sign::Letter).collect();
            prop_assert_eq!(super::words(&signs), line.words);
            for (range, word) in super::words(&signs).into_iter().zip(&words) {
                let written: String = line.letters[range].iter().collect();
                prop_assert_eq!(unquoted(&written), Some(word.clone()));
            }
        }
    }

    #[test]
    fn a_program_has_a_name_of_its_own() {
        let (_, numbers) = line(&["/usr/bin/git".to_string(), "a/b".to_string()]);
        assert_eq!(numbers.keys().collect::<Vec<_>>(), ["/usr/bin/", "a/b", "git"]);
    }

    #[test]
    fn words_of_a_pattern_may_have_stars() {
        let signs: Vec<_> =
            signs(r"git 'a b' t* \* x", Kind::Line).into_iter().map(|(_, sign)| sign).collect();
        assert_eq!(words(&signs), [0..3, 4..9, 10..12, 13..14, 15..16]);
    }

    #[test]
    fn what_no_line_has_in_it_is_no_word() {
        assert_eq!(unquoted("'a'"), None);
        assert_eq!(unquoted("a;"), None);
        assert_eq!(unquoted("''"), Some(String::new()));
    }
}
