//! Which character stands for which in the names that a pattern with a wildcard is about.
//!
//! What such a pattern says letter by letter has to be found again in the names that it fits, so each letter of it has an
//! image, one for a record and a kind of names. That is a cipher of the simplest sort, and whoever sees enough of it can
//! read it; it is used for the letters of such patterns, and in names for the places on which they fall, and nowhere else.
//! All other places are filled with what is no image, so that no pattern falls on them by chance.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::shape::{Fillers, WIDER, stays};

/// The characters of one kind of names.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// The images of letters of ASCII that are left, all small; the last is the next. What is the last one that is left is
    /// shared, and if that changes a decision the export is refused.
    letters: Vec<char>,
    /// The same for other characters of ASCII.
    others: Vec<char>,
    fillers: &'static str,
    images: BTreeMap<char, char>,
    /// What stands for itself in some pattern.
    selves: BTreeSet<char>,
}

/// What a text is whose places are filled. What one sort of them is filled with no other is, and none of it is an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Text {
    /// A name or a word.
    Plain,
    /// Words with blanks between them, which must not look like any that stand alone.
    Prose,
    /// What only a pattern says, and what nothing fits.
    Nonsense,
}

/// What prose is filled with.
const PROSE: &str = "0123";

/// What nonsense is filled with.
const NONSENSE: &str = "89";

impl Alphabet {
    /// The alphabet of names in paths, of which none has a meaning of its own in a pattern.
    pub(super) fn of_paths() -> Self {
        Self::new(
            "xabcdefghijklmnopqrstuvwyz",
            "'`}{][)(><^|@&%$#!,;:~=+_-",
            "xabcdefghijklmnopqrstuvwyz0123456789-_+=~:;,!#$%&@|^<>()[]{}`'",
        )
    }

    /// The alphabet of names in hosts.
    pub(super) fn of_hosts() -> Self {
        Self::new("xabcdefghijklmnopqrstuvwyz", "98765_-", "xabcdefghijklmnopqrstuvwyz0123456789-_")
    }

    /// The alphabet of words of commands, whose other characters all stay. A few letters are never images, so that there
    /// are fillers whatever the patterns are.
    pub(super) fn of_commands() -> Self {
        Self::new("abcdefghilmnoprstuvwyz", "7654", "xabcdefghijklmnopqrstuvwyz4567")
    }

    fn new(letters: &str, others: &str, fillers: &'static str) -> Self {
        Self {
            letters: letters.chars().collect(),
            others: others.chars().collect(),
            fillers,
            images: BTreeMap::new(),
            selves: BTreeSet::new(),
        }
    }

    /// This character is an image only if there is no other.
    pub(super) fn avoid(&mut self, char: char) {
        for images in [&mut self.letters, &mut self.others] {
            if let Some(at) = images.iter().position(|image| image.eq_ignore_ascii_case(&char)) {
                images[..=at].rotate_right(1);
            }
        }
    }

    /// This character stands for itself where a pattern says so, and so it is no image.
    pub(super) fn keep(&mut self, char: char) {
        let small = char.to_ascii_lowercase();
        self.letters.retain(|image| *image != small);
        self.others.retain(|image| *image != small);
        self.selves.insert(small);
    }

    /// The image of a character: a capital letter of the same one if it is one.
    pub(super) fn image(&mut self, of: char) -> char {
        if stays(of) {
            return of;
        }
        let small = of.to_ascii_lowercase();
        let image = self.images.get(&small).copied().unwrap_or_else(|| self.next(small));
        self.images.insert(small, image);
        if of.is_ascii_uppercase() { image.to_ascii_uppercase() } else { image }
    }

    fn next(&mut self, of: char) -> char {
        match of.len_utf8().checked_sub(2).and_then(|wide| WIDER.get(wide)) {
            None if of.is_ascii_alphabetic() => take(&mut self.letters, of),
            None => take(&mut self.others, of),
            Some((first, count)) => {
                let longer =
                    self.images.keys().filter(|char| char.len_utf8() == of.len_utf8()).count() as u32;
                // The last quarter of the stretch is not filled with.
                char::from_u32(first + count - 1 - longer % (count / 4)).unwrap_or('x')
            }
        }
    }

    /// What places are filled with of which no pattern says anything.
    pub(super) fn fillers(&self, text: Text) -> Fillers {
        let is_taken =
            |char: &char| self.selves.contains(char) || self.images.values().any(|image| image == char);
        let (fillers, begin, share) = match text {
            Text::Plain => (self.fillers, 0, 4),
            Text::Prose => (PROSE, 4, 1),
            Text::Nonsense => (NONSENSE, 5, 1),
        };
        let narrow = fillers.chars().filter(|char| !is_taken(char)).collect();
        let wide = WIDER.map(|(first, count)| (first + begin * (count / 8), share * (count / 8)));
        Fillers { narrow, wide }
    }
}

/// The last image that is not the character itself.
fn take(images: &mut Vec<char>, of: char) -> char {
    let found = images.iter().rposition(|image| *image != of);
    match found.or(images.len().checked_sub(1)) {
        Some(at) if images.len() > 1 => images.remove(at),
        Some(_) | None => images.first().copied().unwrap_or('x'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_differ_and_nothing_is_filled_with_them() {
        for mut alphabet in [Alphabet::of_paths(), Alphabet::of_hosts(), Alphabet::of_commands()] {
            alphabet.avoid('Z');
            alphabet.keep('g');
            let letters = "yvsecrtn-é日😀";
            let images: BTreeSet<_> = letters.chars().map(|letter| alphabet.image(letter)).collect();
            assert_eq!(images.len(), letters.chars().count());
            assert!(letters.chars().all(|letter| alphabet.image(letter) != letter));
            assert!(!images.contains(&'z') && !images.contains(&'g'));
            let all = [Text::Plain, Text::Prose, Text::Nonsense].map(|text| alphabet.fillers(text));
            assert!(
                all.iter()
                    .flat_map(|fillers| &fillers.narrow)
                    .all(|char| !images.contains(char) && *char != 'g')
            );
            for (wide, (first, count)) in WIDER.into_iter().enumerate() {
                let ends =
                    all.iter().map(|fillers| fillers.wide[wide]).map(|(first, count)| first..first + count);
                let longer = images
                    .iter()
                    .map(|char| u32::from(*char))
                    .filter(|char| (first..first + count).contains(char));
                let ends: Vec<_> = ends.chain(longer.map(|image| image..image + 1)).collect();
                assert!(ends.len() == 4 && ends.is_sorted_by(|a, b| a.end <= b.start), "{ends:?}");
            }
        }
    }

    #[test]
    fn capital_letters_stay_capital_letters_of_the_same_image() {
        let mut alphabet = Alphabet::of_paths();
        let small = alphabet.image('e');
        assert_eq!(alphabet.image('E'), small.to_ascii_uppercase());
        assert_eq!((alphabet.image('"'), alphabet.image('\n')), ('"', '\n'));
    }

    #[test]
    fn there_are_always_fillers() {
        for mut alphabet in [Alphabet::of_paths(), Alphabet::of_hosts(), Alphabet::of_commands()] {
            (' '..='~').for_each(|letter| {
                alphabet.image(letter);
            });
            assert!(alphabet.fillers(Text::Plain).narrow.len() > 3);
        }
    }
}
