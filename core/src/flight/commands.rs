//! Words of commands, and the patterns of commands.
//!
//! A word is hidden as a whole, except that what is no letter and no digit stays, and so do the few words and directories
//! that decisions know by name. A pattern has what stands for its words wherever a command that it fits has them whole. What
//! it says otherwise, such as a word with a star in it or a piece of a text in quotes, is hidden letter by letter
//! ([`Alphabet`]), and the commands that it fits have the images of these letters on the places where they fall. So what is
//! hidden is fitted by what it was fitted by and by nothing else, and as long a beginning of the pattern has no star. What
//! that costs is that commands tell where such patterns fit them; those that none fits tell nothing.
//!
//! Where a letter of a pattern falls on a word that stays, it stays too, and with it what falls on the same place.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::alphabet::{Alphabet, Text};
use super::command_line::{self, Line, parts, unquoted};
use super::fall::{fall, respelled};
use super::shape::{Place, Shapes};
use crate::tools::{self, Kind, Sign, signs};

/// The words of commands. All commands and patterns must be known before the first word is hidden.
#[derive(Debug)]
pub(super) struct Commands {
    alphabet: Alphabet,
    met: BTreeSet<Vec<String>>,
    /// Words that are the first of a command.
    programs: BTreeSet<String>,
    patterns: BTreeMap<String, Pattern>,
    /// By the word and the place in it, what letters of patterns fall there.
    falls: BTreeMap<command_line::Place, BTreeSet<Letter>>,
    /// The letters of patterns that stay.
    staying: BTreeSet<Letter>,
    numbers: BTreeMap<String, usize>,
    known: BTreeMap<(Text, String), String>,
    shapes: Shapes,
}

/// A letter of a pattern: which pattern, and which of its signs.
type Letter = (usize, usize);

#[derive(Clone, Debug)]
struct Pattern {
    number: usize,
    signs: Vec<Sign>,
    words: Vec<Word>,
}

/// A word of a pattern.
#[derive(Clone, Debug)]
struct Word {
    place: Range<usize>,
    /// What it says, if it is hidden whole; none if it is hidden letter by letter.
    whole: Option<String>,
}

/// A pattern that fits a line.
struct Fit<'l> {
    pattern: &'l str,
    line: &'l Line,
    falls: Vec<Option<usize>>,
}

impl Commands {
    pub(super) fn new() -> Self {
        Self {
            alphabet: Alphabet::of_commands(),
            met: BTreeSet::new(),
            programs: BTreeSet::new(),
            patterns: BTreeMap::new(),
            falls: BTreeMap::new(),
            staying: BTreeSet::new(),
            numbers: BTreeMap::new(),
            known: BTreeMap::new(),
            shapes: Shapes::default(),
        }
    }

    /// There is this command.
    pub(super) fn learn(&mut self, words: Vec<String>) {
        let Some(program) = words.first() else { return };
        self.programs.insert(program.clone());
        if let Some((_, name)) = program.rsplit_once('/') {
            // A rule may be about the program by its name.
            let named = core::iter::once(name.to_string()).chain(words.iter().skip(1).cloned());
            self.met.insert(named.collect());
        }
        self.met.insert(words);
    }

    /// There is this pattern.
    pub(super) fn learn_pattern(&mut self, text: &str) {
        let number = self.patterns.len();
        self.patterns.entry(text.to_string()).or_insert_with(|| Pattern::new(text, number));
    }

    /// All commands and patterns are known.
    pub(super) fn settle(&mut self) {
        let met = core::mem::take(&mut self.met);
        let lines: Vec<_> =
            met.iter().map(|words| Line::new(words, &self.programs, &mut self.numbers)).collect();
        let texts: Vec<String> = self.patterns.keys().cloned().collect();
        let ways: Vec<_> = texts.iter().flat_map(|text| ways(text)).collect();
        let fits: Vec<_> = lines.iter().flat_map(|line| fits(&ways, line)).collect();
        for fit in &fits {
            if let Some(pattern) = self.patterns.get_mut(fit.pattern) {
                pattern.spell(fit);
            }
        }
        for fit in &fits {
            self.note(fit);
        }
        self.stay();
        self.settle_images();
    }

    /// Notes what falls where of the words that are hidden letter by letter.
    fn note(&mut self, fit: &Fit<'_>) {
        let Some(pattern) = self.patterns.get(fit.pattern) else { return };
        for (place, sign) in fit.line.places.iter().zip(&fit.falls) {
            if let (Some(place), Some(sign)) = (place, sign)
                && pattern.spells(*sign)
            {
                self.falls.entry(*place).or_default().insert((pattern.number, *sign));
            }
        }
    }

    /// Finds out which letters stay.
    fn stay(&mut self) {
        let words = self.numbers.iter().filter(|(word, _)| is_known(word));
        let known: BTreeSet<usize> = words.map(|(_, number)| *number).collect();
        loop {
            let stays = |((number, _), letters): &(&command_line::Place, &BTreeSet<Letter>)| {
                known.contains(number) || !letters.is_disjoint(&self.staying)
            };
            let staying: BTreeSet<_> =
                self.falls.iter().filter(stays).flat_map(|(_, letters)| letters).copied().collect();
            if staying == self.staying {
                return;
            }
            self.staying = staying;
        }
    }

    /// Gives out images, first those that fall on no word that stays.
    fn settle_images(&mut self) {
        let of_patterns = self.patterns.values().flat_map(|pattern| &pattern.words);
        let whole = of_patterns.filter_map(|word| word.whole.as_ref());
        for word in self.numbers.keys().chain(whole).filter(|word| is_known(word)) {
            word.chars().for_each(|char| self.alphabet.avoid(char));
        }
        let mut patterns: Vec<_> = self.patterns.values().cloned().collect();
        patterns.sort_by_key(|pattern| pattern.number);
        let letters = || patterns.iter().flat_map(Pattern::spelled);
        letters().filter(|(at, _)| self.staying.contains(at)).for_each(|(_, char)| self.alphabet.keep(char));
        for (at, char) in letters() {
            self.hide_letter(at, char);
        }
    }

    fn hide_letter(&mut self, at: Letter, char: char) -> char {
        if !char.is_alphanumeric() || self.staying.contains(&at) { char } else { self.alphabet.image(char) }
    }

    /// What stands for a word.
    pub(super) fn hide_word(&mut self, word: &str) -> String {
        let text = |part: &str| if part.contains(' ') { Text::Prose } else { Text::Plain };
        let parts = parts(word, &self.programs).into_iter();
        parts
            .map(|part| if is_known(part) { part.to_string() } else { self.fill(part, text(part)) })
            .collect()
    }

    fn fill(&mut self, word: &str, text: Text) -> String {
        let key = (text, word.to_string());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let number = self.numbers.get(word).copied().filter(|_| text != Text::Nonsense);
        let places: Vec<_> =
            word.chars().enumerate().map(|(nth, char)| self.place(number, nth, char)).collect();
        let will_do = |hidden: &str| !is_known(&hidden.to_ascii_lowercase());
        let hidden = self.shapes.fresh(&places, &self.alphabet.fillers(text), will_do);
        self.known.insert(key, hidden.clone());
        hidden
    }

    fn place(&mut self, word: Option<usize>, nth: usize, char: char) -> Place {
        // Of letters that fall on one place all stay or none.
        let fallen = word.and_then(|number| self.falls.get(&(number, nth))?.first()).copied();
        match fallen {
            _ if !char.is_alphanumeric() => Place::Is(char),
            Some(letter) => Place::Is(self.hide_letter(letter, char)),
            None => Place::Free(char.len_utf8()),
        }
    }

    /// What stands for a pattern.
    pub(super) fn hide_pattern(&mut self, text: &str) -> String {
        let pattern = self.patterns.get(text).cloned().unwrap_or_else(|| Pattern::new(text, usize::MAX));
        let mut letters: Vec<_> = pattern.signs.iter().map(letter).collect();
        for word in &pattern.words {
            match &word.whole {
                Some(written) => {
                    let hidden = self.hide_written(written);
                    letters[word.place.clone()]
                        .iter_mut()
                        .zip(hidden.chars())
                        .for_each(|(letter, hidden)| *letter = Some(hidden));
                }
                None => {
                    for at in word.place.clone() {
                        letters[at] = letters[at].map(|char| self.hide_letter((pattern.number, at), char));
                    }
                }
            }
        }
        let places = signs(text, Kind::Line).into_iter().map(|(at, _)| at);
        let hidden = places.zip(letters).filter_map(|(at, letter)| Some((at, letter?))).collect();
        respelled(text, &hidden)
    }

    /// What stands for a word as it is written in a line. What no line has as a word, and what falls on no piece of one,
    /// is nothing that any command has.
    fn hide_written(&mut self, written: &str) -> String {
        match unquoted(written) {
            Some(word) => tools::line(&[self.hide_word(&word)]),
            None => self.fill(written, Text::Nonsense),
        }
    }
}

impl Pattern {
    fn new(text: &str, number: usize) -> Self {
        let signs = signs_of(text);
        let word = |place: Range<usize>| {
            let whole = signs[place.clone()].iter().map(letter).collect();
            Word { place, whole }
        };
        let words = command_line::words(&signs).into_iter().map(word).collect();
        Self { number, signs, words }
    }

    /// Words that do not fall on the same word of that line are hidden letter by letter.
    fn spell(&mut self, fit: &Fit<'_>) {
        for word in &mut self.words {
            let falls = |at: usize| fit.falls.iter().position(|sign| *sign == Some(at));
            let begin = falls(word.place.start).unwrap_or(usize::MAX);
            let found = fit.line.words.iter().find(|found| found.start == begin);
            let letters = found.and_then(|found| fit.line.letters.get(found.clone()));
            let is_same = letters.map(|letters| letters.iter().collect()) == word.whole;
            if !is_same && !word.place.is_empty() {
                word.whole = None;
            }
        }
    }

    fn spells(&self, sign: usize) -> bool {
        self.words.iter().any(|word| word.whole.is_none() && word.place.contains(&sign))
    }

    /// The letters that are hidden by themselves.
    fn spelled(&self) -> impl Iterator<Item = (Letter, char)> {
        let words = self.words.iter().filter(|word| word.whole.is_none());
        let places = words.flat_map(|word| word.place.clone());
        places.filter_map(|at| Some(((self.number, at), letter(self.signs.get(at)?)?)))
    }
}

/// The patterns by which a rule with that pattern may be about a command, as what is allowed and what is denied by it are
/// not the same.
fn ways(pattern: &str) -> impl Iterator<Item = (&str, Vec<Sign>)> {
    let bare = pattern.strip_suffix(" *").map(String::from);
    let ways = [Some(pattern.to_string()), bare, Some(format!("{pattern} *"))];
    ways.into_iter().flatten().map(move |way| (pattern, signs_of(&way)))
}

/// Which of these patterns fit a line.
fn fits<'l>(ways: &[(&'l str, Vec<Sign>)], line: &'l Line) -> Vec<Fit<'l>> {
    let fit = |(pattern, signs): &(&'l str, Vec<Sign>)| {
        Some(Fit { pattern, line, falls: fall(signs, &line.letters)? })
    };
    ways.iter().filter_map(fit).collect()
}

fn signs_of(pattern: &str) -> Vec<Sign> {
    signs(pattern, Kind::Line).into_iter().map(|(_, sign)| sign).collect()
}

fn letter(sign: &Sign) -> Option<char> {
    match sign {
        Sign::Letter(letter) => Some(*letter),
        Sign::One | Sign::Star => None,
    }
}

/// Whether decisions know a word, or the directory of a program, by name.
fn is_known(word: &str) -> bool {
    tools::tells(word) || word.strip_suffix('/').is_some_and(tools::is_system)
}
