//! Names in paths and in hosts, and the patterns of both.
//!
//! Each name is hidden by itself, so that what lies in a directory still does. Where a pattern says a name whole, there is
//! what stands for that name. Where it has a wildcard within a name, each letter of that name is hidden by itself
//! ([`Alphabet`]), and a name that it fits has the images of these letters on the places where they fall. So what is
//! hidden is fitted by what it was fitted by and by nothing else, and as long a beginning of the pattern has no wildcard. What
//! that costs is that names tell where such patterns fit them, wherever they lie.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::alphabet::{Alphabet, Text};
use super::fall::{fall, respelled};
use super::shape::{Place, Shapes, stays};
use crate::tools::{Kind, Sign, signs};

/// The names of paths or of hosts. All patterns must be known before the first name is hidden.
#[derive(Debug)]
pub(super) struct Names {
    kind: Kind,
    alphabet: Alphabet,
    /// The names, by the order in which they were met.
    met: BTreeMap<String, usize>,
    /// What patterns say of a name without saying it whole.
    spelled: Vec<Vec<Sign>>,
    /// The names that patterns say whole.
    whole: BTreeSet<String>,
    known: BTreeMap<String, String>,
    /// What stands for names.
    given: BTreeSet<String>,
    shapes: Shapes,
}

impl Names {
    pub(super) fn of_paths() -> Self {
        Self::new(Kind::Path, Alphabet::of_paths())
    }

    pub(super) fn of_hosts() -> Self {
        Self::new(Kind::Line, Alphabet::of_hosts())
    }

    fn new(kind: Kind, alphabet: Alphabet) -> Self {
        Self {
            kind,
            alphabet,
            met: BTreeMap::new(),
            spelled: Vec::new(),
            whole: BTreeSet::new(),
            known: BTreeMap::new(),
            given: BTreeSet::new(),
            shapes: Shapes::default(),
        }
    }

    /// There are these names.
    pub(super) fn learn(&mut self, text: &str) {
        for name in text.split(self.separator()) {
            let next = self.met.len();
            if !self.met.contains_key(name) {
                self.met.insert(name.to_string(), next);
            }
        }
    }

    /// There is this pattern.
    pub(super) fn learn_pattern(&mut self, pattern: &str) {
        let separator = Sign::Letter(self.separator());
        let signs: Vec<_> = signs(pattern, self.kind).into_iter().map(|(_, sign)| sign).collect();
        for part in signs.split(|sign| *sign == separator) {
            let Some(name) = literal(part) else {
                self.spell(within_a_name(part, self.kind));
                continue;
            };
            self.whole.insert(name);
        }
    }

    fn spell(&mut self, parts: impl IntoIterator<Item = Vec<Sign>>) {
        for part in parts {
            if !self.spelled.contains(&part) {
                self.spelled.push(part);
            }
        }
    }

    /// All names and patterns are known.
    pub(super) fn settle(&mut self) {
        let mut met: Vec<_> = core::mem::take(&mut self.met).into_iter().collect();
        met.sort_by_key(|(_, nth)| *nth);
        // What is denied is denied in capital letters too, which does not show where a name is hidden whole.
        let is_twin =
            |name: &&String| met.iter().any(|(other, _)| other != *name && other.eq_ignore_ascii_case(name));
        let twins: Vec<_> = self.whole.iter().filter(is_twin).map(|name| letters(name)).collect();
        self.spell(twins);
        for letter in self.spelled.iter().flatten() {
            if let Sign::Letter(letter) = letter {
                self.alphabet.image(*letter);
            }
        }
        for (name, _) in met {
            self.hide_name(&name);
        }
    }

    /// What stands for a path or a host.
    pub(super) fn hide(&mut self, text: &str) -> String {
        let separator = self.separator();
        let names = text.split(separator).map(|name| self.hide_name(name));
        names.collect::<Vec<_>>().join(separator.encode_utf8(&mut [0; 4]))
    }

    /// What stands for a pattern.
    pub(super) fn hide_pattern(&mut self, pattern: &str) -> String {
        let mut hidden = BTreeMap::new();
        let separator = Sign::Letter(self.separator());
        for part in signs(pattern, self.kind).split(|(_, sign)| *sign == separator) {
            let (places, signs): (Vec<_>, Vec<_>) = part.iter().copied().unzip();
            match literal(&signs) {
                Some(name) => hidden.extend(places.into_iter().zip(self.hide_name(&name).chars())),
                None => hidden.extend(places.into_iter().zip(signs).filter_map(|(at, sign)| match sign {
                    Sign::Letter(letter) => Some((at, self.alphabet.image(letter))),
                    Sign::One | Sign::Star => None,
                })),
            }
        }
        // These say that it begins in the workspace, and no name.
        let begin = pattern.len() - pattern.trim_start_matches("./").len();
        hidden.retain(|at, _| *at >= begin);
        respelled(pattern, &hidden)
    }

    /// What stands for a name that has been met.
    pub(super) fn known(&self, name: &str) -> Option<&String> {
        self.known.get(name)
    }

    /// Whether this stands for a name.
    pub(super) fn is_given(&self, hidden: &str) -> bool {
        self.given.contains(hidden)
    }

    fn hide_name(&mut self, name: &str) -> String {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let letters: Vec<char> = name.chars().collect();
        let falls = self.spelled.iter().filter_map(|signs| fall(signs, &letters));
        let said: BTreeSet<usize> = falls.flat_map(|falls| places_in(&falls)).collect();
        let place = |(at, letter): (usize, &char)| match letter {
            letter if stays(*letter) => Place::Is(*letter),
            letter if said.contains(&at) => Place::Is(self.alphabet.image(*letter)),
            letter => Place::Free(letter.len_utf8()),
        };
        let places: Vec<_> = letters.iter().enumerate().map(place).collect();
        let hidden = self.shapes.fresh(&places, &self.alphabet.fillers(Text::Plain), |_| true);
        self.given.insert(hidden.clone());
        self.known.insert(name.to_string(), hidden.clone());
        hidden
    }

    fn separator(&self) -> char {
        match self.kind {
            Kind::Path => '/',
            Kind::Line => '.',
        }
    }
}

/// The name that these signs say, if they say only one.
fn literal(signs: &[Sign]) -> Option<String> {
    let letter = |sign: &Sign| match sign {
        Sign::Letter(letter) => Some(*letter),
        Sign::One | Sign::Star => None,
    };
    signs.iter().map(letter).collect()
}

fn letters(name: &str) -> Vec<Sign> {
    name.chars().map(Sign::Letter).collect()
}

/// The places on which a letter falls.
fn places_in(falls: &[Option<usize>]) -> Vec<usize> {
    falls.iter().enumerate().filter_map(|(at, sign)| sign.map(|_| at)).collect()
}

/// All that a part of a pattern without separators may say of one name, where some wildcards go beyond names: `a**b` is
/// about names that are `a*b`, and about others that are `a*` or `*b`.
fn within_a_name(part: &[Sign], kind: Kind) -> Vec<Vec<Sign>> {
    let pieces = pieces(part, kind);
    let mut all = Vec::new();
    for begin in 0..pieces.len() {
        for end in begin..pieces.len() {
            let mut signs = Vec::from_iter((begin > 0).then_some(Sign::Star));
            signs.extend(pieces[begin..=end].join(&Sign::Star));
            signs.extend((end + 1 < pieces.len()).then_some(Sign::Star));
            all.push(signs);
        }
    }
    all.retain(|signs| signs.iter().any(|sign| matches!(sign, Sign::Letter(_))));
    all
}

/// What is between the wildcards that go beyond names.
fn pieces(part: &[Sign], kind: Kind) -> Vec<Vec<Sign>> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut rest = part.iter().peekable();
    while let Some(sign) = rest.next() {
        let goes_beyond = kind == Kind::Line || rest.peek() == Some(&&Sign::Star);
        if *sign == Sign::Star && goes_beyond {
            while rest.next_if_eq(&&Sign::Star).is_some() {}
            pieces.push(core::mem::take(&mut piece));
        } else {
            piece.push(*sign);
        }
    }
    pieces.push(piece);
    pieces
}
