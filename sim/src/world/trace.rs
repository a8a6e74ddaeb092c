//! What has happened: a hash of all of it, and as much of it in words as is asked for.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Write};

use super::told::Told;
use crate::dice::mix;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A hash.
    Hash,
    /// A hash after every event, of everything down to the last byte.
    Deep,
    /// The last events in words.
    Words(usize),
}

/// What has happened.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The hash.
    pub hash: u64,
    /// The hashes after each event, if asked for.
    pub hashes: Vec<u64>,
    /// The last events in words, if asked for.
    pub words: VecDeque<String>,
    /// All events as they are, if words are asked for.
    pub told: Vec<Told>,
    /// What happened in each event, in a few words, if words are asked for.
    pub names: Vec<String>,
    level: Level,
}

impl Trace {
    /// Nothing has happened.
    pub fn new(level: Level) -> Self {
        Self {
            hash: 0,
            hashes: Vec::new(),
            words: VecDeque::new(),
            told: Vec::new(),
            names: Vec::new(),
            level,
        }
    }

    /// Adds numbers to the hash.
    pub fn note(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.hash = mix(self.hash ^ number);
        }
    }

    /// Adds all of a value to the hash, if everything is wanted.
    pub fn deep(&mut self, value: &impl Debug) {
        if self.level == Level::Deep {
            self.hash = mix(self.hash ^ hash_of(value));
        }
    }

    /// An event is over.
    pub fn close(&mut self) {
        if self.level == Level::Deep {
            self.hashes.push(self.hash);
        }
    }

    /// Whether words are wanted.
    pub fn speaks(&self) -> bool {
        matches!(self.level, Level::Words(_))
    }

    /// Keeps an event in words.
    pub fn say(&mut self, now: u64, words: impl FnOnce() -> String) {
        let Level::Words(most) = self.level else { return };
        if self.words.len() >= most {
            self.words.pop_front();
        }
        self.words.push_back(format!("{now:>9} {}", words()));
    }
}

/// A hash of all that a value shows of itself.
pub fn hash_of(value: &impl Debug) -> u64 {
    let mut hasher = Hasher(0xcbf2_9ce4_8422_2325);
    // The hasher takes in everything.
    let _ = write!(hasher, "{value:?}");
    mix(hasher.0)
}

struct Hasher(u64);

impl fmt::Write for Hasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// A value in words, cut to a line.
pub fn short(value: &impl Debug) -> String {
    let mut words = format!("{value:?}");
    if let Some((at, _)) = words.char_indices().nth(240) {
        words.truncate(at);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_events_are_kept_in_words_and_all_are_in_the_hash() {
        let mut trace = Trace::new(Level::Words(2));
        for n in 0..3 {
            trace.note(&[n]);
            trace.say(n, || format!("event {n}"));
        }
        assert_eq!(trace.words, ["        1 event 1", "        2 event 2"]);
        let mut other = Trace::new(Level::Hash);
        other.note(&[0, 1, 2]);
        assert_eq!(other.hash, trace.hash);
        assert_ne!(hash_of(&"a"), hash_of(&"b"));
    }
}
