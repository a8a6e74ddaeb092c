//! Filling in what is hidden: which of its characters stay, what the others become, and that no two look the same.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// What longer characters become, by how many bytes they have: where a stretch of letters begins, and how many of it are
/// used.
pub(super) const WIDER: [(u32, u32); 3] = [(0x048a, 0xa6), (0x4e00, 0x5000), (0x20000, 0x5000)];

/// After how many that will not do the next is taken as it is. If that changes a decision, the export is refused.
const TRIES: usize = 5_000;

/// A character of what is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is this one.
    Is(char),
    /// It is any of so many bytes.
    Free(usize),
}

/// What free places are filled with.
#[derive(Clone, Debug)]
pub(super) struct Fillers {
    /// Where a character of one byte was. The first stands for nothing in particular.
    pub(super) narrow: Vec<char>,
    /// Where longer ones were, as in [`WIDER`].
    pub(super) wide: [(u32, u32); 3],
}

/// How many texts of each shape there are.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    counts: BTreeMap<String, u64>,
}

impl Shapes {
    /// What no other text of that shape has become. Capital letters do not tell two apart, since rules may not either.
    pub(super) fn fresh(
        &mut self,
        places: &[Place],
        fillers: &Fillers,
        will_do: impl Fn(&str) -> bool,
    ) -> String {
        let shape = fill(places, fillers, 0);
        let count = self.counts.entry(shape.to_ascii_lowercase()).or_default();
        let mut hidden = shape;
        for _ in 0..TRIES {
            hidden = fill(places, fillers, *count);
            *count += 1;
            if will_do(&hidden) || places.iter().all(|place| matches!(place, Place::Is(_))) {
                break;
            }
        }
        hidden
    }
}

/// The places of a text, of which those at these bytes stay.
pub(super) fn places(text: &str, kept: &BTreeSet<usize>) -> Vec<Place> {
    let place = |(at, char): (usize, char)| {
        if stays(char) || kept.contains(&at) { Place::Is(char) } else { Place::Free(char.len_utf8()) }
    };
    text.char_indices().map(place).collect()
}

/// What JSON escapes stays as it is, so that a text is as long within JSON as without. So does what stands where there was
/// no character, since a path with that in it cannot be granted.
pub(super) fn stays(char: char) -> bool {
    char.is_control() || matches!(char, '"' | '\\' | '\u{fffd}')
}

/// The places with the free ones filled with the digits of a number.
fn fill(places: &[Place], fillers: &Fillers, mut number: u64) -> String {
    let fill = |place: &Place| match place {
        Place::Is(char) => *char,
        Place::Free(bytes) => digit(*bytes, fillers, &mut number),
    };
    places.iter().map(fill).collect()
}

fn digit(bytes: usize, fillers: &Fillers, number: &mut u64) -> char {
    let mut next = |count: u64| {
        let digit = *number % count.max(1);
        *number /= count.max(1);
        digit
    };
    match bytes.checked_sub(2).and_then(|wide| fillers.wide.get(wide)) {
        None => fillers.narrow.get(next(fillers.narrow.len() as u64) as usize).copied().unwrap_or('x'),
        Some((first, count)) => char::from_u32(first + next(u64::from(*count)) as u32).unwrap_or('x'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_characters_become_letters_of_their_length() {
        for (wide, (first, count)) in WIDER.iter().enumerate() {
            let all = (*first..first + count).map(|char| char::from_u32(char).expect("it is a character"));
            assert!(all.into_iter().all(|char| char.len_utf8() == wide + 2 && char.is_alphanumeric()));
        }
    }

    #[test]
    fn what_will_not_do_is_drawn_again() {
        let fillers = Fillers { narrow: "xab".chars().collect(), wide: WIDER };
        let places = [Place::Is('-'), Place::Free(1)];
        let mut shapes = Shapes::default();
        let mut fresh = || shapes.fresh(&places, &fillers, |hidden| hidden != "-a");
        assert_eq!([fresh(), fresh()], ["-x", "-b"].map(String::from));
        assert_eq!(Shapes::default().fresh(&places[..1], &fillers, |_| false), "-");
    }
}
