//! Patterns with stars, matched in time that grows with pattern times text and no faster.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What the wildcards of a pattern mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `*` stands for anything.
    Line,
    /// `*` and `?` stay within a name, `**` does not.
    Path,
}

/// How letters are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// As they are.
    Exact,
    /// Capital letters of ASCII and small ones are the same, as they are to some file systems.
    Folded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Letter(char),
    /// One letter, but no `/`.
    One,
    /// Any letters, but no `/`.
    Name,
    /// Any letters.
    All,
    /// Nothing, or whole directories up to a `/`: either goes past the token after it or into that.
    Directories,
    /// Inside those directories.
    Within,
}

/// Whether a text fits a pattern. `\` takes the letter after it for what it is.
pub(super) fn fits(pattern: &str, text: &str, kind: Kind, case: Case) -> bool {
    let tokens = tokens(pattern, kind);
    let mut at = vec![false; tokens.len() + 1];
    let mut next = at.clone();
    reach(&tokens, &mut at, 0);
    for letter in text.chars() {
        next.fill(false);
        for (index, token) in tokens.iter().enumerate().filter(|(index, _)| at[*index]) {
            match token {
                Token::Letter(wanted) if same(*wanted, letter, case) => reach(&tokens, &mut next, index + 1),
                Token::One if letter != '/' => reach(&tokens, &mut next, index + 1),
                Token::Name if letter != '/' => reach(&tokens, &mut next, index),
                Token::All => reach(&tokens, &mut next, index),
                Token::Within => {
                    next[index] = true;
                    if letter == '/' {
                        reach(&tokens, &mut next, index + 1);
                    }
                }
                Token::Letter(_) | Token::One | Token::Name | Token::Directories => {}
            }
        }
        core::mem::swap(&mut at, &mut next);
    }
    at[tokens.len()]
}

/// How many letters a pattern has before its first wildcard.
pub(super) fn literal_prefix(pattern: &str, kind: Kind) -> usize {
    tokens(pattern, kind).iter().take_while(|token| matches!(token, Token::Letter(_))).count()
}

/// How many letters a pattern has that stand for themselves.
pub(super) fn literal_letters(pattern: &str, kind: Kind) -> usize {
    tokens(pattern, kind).iter().filter(|token| matches!(token, Token::Letter(_))).count()
}

/// The letters that a pattern begins with, before its first wildcard.
pub(super) fn literal_begin(pattern: &str, kind: Kind) -> String {
    let letter = |token| match token {
        Token::Letter(letter) => Some(letter),
        Token::One | Token::Name | Token::All | Token::Directories | Token::Within => None,
    };
    tokens(pattern, kind).into_iter().map_while(letter).collect()
}

/// Whether a pattern has no wildcard.
pub(super) fn is_literal(pattern: &str, kind: Kind) -> bool {
    tokens(pattern, kind).iter().all(|token| matches!(token, Token::Letter(_)))
}

/// The only text that fits a pattern; none if several do.
pub(super) fn literal(pattern: &str) -> Option<String> {
    let letter = |token| match token {
        Token::Letter(letter) => Some(letter),
        Token::One | Token::Name | Token::All | Token::Directories | Token::Within => None,
    };
    tokens(pattern, Kind::Path).into_iter().map(letter).collect()
}

/// What a pattern is made of, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// A letter that stands for itself.
    Letter(char),
    /// `?`
    One,
    /// `*`, each of two by itself.
    Star,
}

/// The signs of a pattern and where each is written: a letter behind a `\` is where the letter is.
pub(crate) fn signs(pattern: &str, kind: Kind) -> Vec<(usize, Sign)> {
    let mut signs = Vec::with_capacity(pattern.len());
    let mut letters = pattern.char_indices();
    while let Some((at, letter)) = letters.next() {
        signs.push(match (letter, kind) {
            ('\\', _) => {
                let (at, letter) = letters.next().unwrap_or((at, letter));
                (at, Sign::Letter(letter))
            }
            ('*', _) => (at, Sign::Star),
            ('?', Kind::Path) => (at, Sign::One),
            _ => (at, Sign::Letter(letter)),
        });
    }
    signs
}

/// The pattern that only that text fits.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Marks a place in the pattern as reached, and those that can be reached from it by nothing.
fn reach(tokens: &[Token], at: &mut [bool], mut index: usize) {
    loop {
        at[index] = true;
        match tokens.get(index) {
            Some(Token::Name | Token::All) => index += 1,
            Some(Token::Directories) => {
                at[index + 1] = true;
                index += 2;
            }
            Some(Token::Letter(_) | Token::One | Token::Within) | None => return,
        }
    }
}

fn same(a: char, b: char, case: Case) -> bool {
    match case {
        Case::Exact => a == b,
        Case::Folded => a.eq_ignore_ascii_case(&b),
    }
}

fn tokens(pattern: &str, kind: Kind) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut begins = true;
    while let Some(letter) = letters.next() {
        match (letter, kind) {
            ('\\', _) => tokens.push(Token::Letter(letters.next().unwrap_or('\\'))),
            ('*', Kind::Line) => tokens.push(Token::All),
            ('*', Kind::Path) if letters.next_if_eq(&'*').is_none() => tokens.push(Token::Name),
            ('*', Kind::Path) if begins && letters.next_if_eq(&'/').is_some() => {
                tokens.extend([Token::Directories, Token::Within]);
                continue;
            }
            ('*', Kind::Path) => tokens.push(Token::All),
            ('?', Kind::Path) => tokens.push(Token::One),
            _ => tokens.push(Token::Letter(letter)),
        }
        begins = letter == '/';
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(kind: Kind, pattern: &str, fitting: &[&str], others: &[&str]) {
        for (texts, expected) in [(fitting, true), (others, false)] {
            for text in texts {
                assert_eq!(fits(pattern, text, kind, Case::Exact), expected, "{pattern} {text}");
            }
        }
    }

    #[test]
    fn stars_stand_for_what_they_say() {
        check(Kind::Line, "git *", &["git log", "git log a/b", "git "], &["git", "gi", "legit log"]);
        check(Kind::Line, "a*b*c", &["abc", "a--b/-c", "abcbc"], &["acb", "abcd"]);
        check(Kind::Line, r"echo \*?", &["echo *?"], &["echo x?", "echo **"]);
        check(Kind::Path, "/etc/**", &["/etc/", "/etc/a", "/etc/a/b"], &["/etc", "/etcetera"]);
        check(Kind::Path, "/a/*.rs", &["/a/b.rs", "/a/.rs"], &["/a/b/c.rs", "/a/b.rst"]);
        check(Kind::Path, "/a/**/b", &["/a/b", "/a/x/b", "/a/x/y/b"], &["/a/xb", "/ab"]);
        check(Kind::Path, "**/b", &["b", "a/b", "a/c/b"], &["ab", "a/bc"]);
        check(Kind::Path, "/a?c", &["/abc"], &["/a/c", "/ac"]);
    }

    #[test]
    fn prefixes_end_at_the_first_wildcard() {
        assert_eq!(literal_prefix("git log *", Kind::Line), 8);
        assert_eq!(literal_prefix(r"a\*b*c", Kind::Line), 3);
        assert_eq!(literal_prefix("/a?", Kind::Path), 2);
        assert_eq!(literal_letters("*.example.com", Kind::Line), 12);
    }

    proptest! {
        #[test]
        fn a_text_fits_its_own_pattern_and_no_other_text_does(text in "[ab*?/\\\\]{0,12}", other in "[ab*?/\\\\]{0,12}") {
            for kind in [Kind::Line, Kind::Path] {
                prop_assert!(fits(&escaped(&text), &text, kind, Case::Exact));
                prop_assert_eq!(fits(&escaped(&text), &other, kind, Case::Exact), text == other);
                prop_assert_eq!(literal_prefix(&escaped(&text), kind), text.chars().count());
            }
        }

        #[test]
        fn the_signs_of_a_pattern_are_what_it_is_matched_by(pattern in "[ab*?/\\\\]{0,12}") {
            for kind in [Kind::Line, Kind::Path] {
                let signs = signs(&pattern, kind);
                let letters = signs.iter().filter(|(_, sign)| matches!(sign, Sign::Letter(_))).count();
                let prefix = signs.iter().take_while(|(_, sign)| matches!(sign, Sign::Letter(_))).count();
                // The slash of `**/` is a letter here and part of the wildcard there.
                prop_assert!(pattern.contains("**/") || letters == literal_letters(&pattern, kind));
                prop_assert_eq!(prefix, literal_prefix(&pattern, kind));
                for (at, sign) in signs {
                    let written = pattern[at..].chars().next();
                    prop_assert!(matches!(sign, Sign::Letter(letter) if Some(letter) == written)
                        || sign == Sign::Star && written == Some('*')
                        || sign == Sign::One && written == Some('?'));
                }
            }
        }

        #[test]
        fn no_pattern_takes_long(pattern in "[a*?/\\\\]{0,60}", text in "[a/]{0,2000}") {
            fits(&pattern, &text, Kind::Path, Case::Folded);
            fits(&pattern, &text, Kind::Line, Case::Exact);
        }
    }
}
