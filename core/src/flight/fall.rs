//! On which letters of a text those of a pattern fall, and a pattern with other letters.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::tools::Sign;

/// For each letter of a text that fits a pattern, the sign of the pattern that falls on it, or none where a wildcard does.
/// Letters are taken as they are if the text fits so, else capital ones like small ones. Stars stand for anything.
pub(super) fn fall(signs: &[Sign], text: &[char]) -> Option<Vec<Option<usize>>> {
    let exactly = fall_by(signs, text, |a, b| a == b);
    exactly.or_else(|| fall_by(signs, text, |a, b| a.eq_ignore_ascii_case(b)))
}

fn fall_by(signs: &[Sign], text: &[char], same: impl Fn(&char, &char) -> bool) -> Option<Vec<Option<usize>>> {
    let mut falls = vec![None; text.len()];
    let (mut sign, mut at) = (0, 0);
    // The last star, and where what it stands for ends. What an earlier one stands for need not be tried again.
    let mut star = None;
    while let Some(letter) = text.get(at) {
        match signs.get(sign) {
            Some(Sign::Star) => star = Some((sign, at)),
            Some(Sign::One) => {
                falls[at] = None;
                at += 1;
            }
            Some(Sign::Letter(wanted)) if same(wanted, letter) => {
                falls[at] = Some(sign);
                at += 1;
            }
            Some(Sign::Letter(_)) | None => {
                let (begin, end) = star?;
                falls[end] = None;
                star = Some((begin, end + 1));
                (sign, at) = (begin, end + 1);
            }
        }
        sign += 1;
    }
    signs.get(sign..)?.iter().all(|sign| *sign == Sign::Star).then_some(falls)
}

/// A pattern with other letters in the places of some of its own.
pub(super) fn respelled(pattern: &str, letters: &BTreeMap<usize, char>) -> String {
    pattern.char_indices().map(|(at, char)| letters.get(&at).copied().unwrap_or(char)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::{Access, Action, Kind, Part, PathUse, Rule, Subject, signs, strength};

    /// Whether a rule for that name is about it, in the real matcher.
    fn fits(action: Action, pattern: &str, name: &str) -> bool {
        let rule = Rule { action, subject: Subject::Path { access: Access::Read, pattern: pattern.into() } };
        let path = PathUse { path: alloc::format!("/{name}"), inside: true };
        strength(&rule, &Part::Path { path, access: Access::Read, argument: false }, "/").is_some()
    }

    #[test]
    fn letters_fall_on_what_they_stand_for() {
        let falls = |pattern: &str, text: &str| {
            let signs: Vec<_> = signs(pattern, Kind::Path).into_iter().map(|(_, sign)| sign).collect();
            fall(&signs, &text.chars().collect::<Vec<_>>())
        };
        assert_eq!(falls("a*c", "abcbc"), Some(vec![Some(0), None, None, None, Some(2)]));
        assert_eq!(falls("?b", "ab"), Some(vec![None, Some(1)]));
        assert_eq!(falls("*B", "ab"), Some(vec![None, Some(1)]));
        assert_eq!(falls("a*c", "ab"), None);
        assert_eq!(falls("", "a"), None);
    }

    proptest! {
        #[test]
        fn they_fall_where_the_matcher_lets_them(pattern in "[abA*?]{1,7}", name in "[abAB]{1,8}") {
            let signs: Vec<_> = signs(&pattern, Kind::Path).into_iter().map(|(_, sign)| sign).collect();
            let name: Vec<char> = name.chars().collect();
            let falls = fall(&signs, &name);
            prop_assert_eq!(falls.is_some(), fits(Action::Deny, &pattern, &name.iter().collect::<String>()));
            let is_exact = fits(Action::Allow, &pattern, &name.iter().collect::<String>());
            let fallen: Vec<_> = falls.iter().flatten().zip(&name).filter_map(|(sign, letter)| Some(((*sign)?, *letter))).collect();
            for (sign, letter) in &fallen {
                let Sign::Letter(wanted) = signs[*sign] else { panic!("a wildcard") };
                prop_assert!(wanted == *letter || !is_exact && wanted.eq_ignore_ascii_case(letter));
            }
            if falls.is_some() {
                let letters = (0..signs.len()).filter(|sign| matches!(signs[*sign], Sign::Letter(_)));
                prop_assert_eq!(fallen.iter().map(|(sign, _)| *sign).collect::<Vec<_>>(), letters.collect::<Vec<_>>());
            }
        }
    }
}
