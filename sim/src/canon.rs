//! What tells two states apart whatever the clock says and however often somebody has asked: a hash of all that a value
//! shows of itself, with times and the numbers of requests taken out and kept beside it.
//!
//! A time is put in relation to now when two states are compared, and the number of a request to how many there were
//! (see [`Frame`]). Then states that differ only in when they were reached are one.

use std::fmt::{self, Debug, Write};

use crate::dice::mix;

/// A value without its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canon {
    shape: u64,
    times: Vec<u64>,
    requests: Vec<u64>,
}

/// What times and numbers are put in relation to.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The time.
    pub now: u64,
    /// How far back it matters how long ago something was.
    pub memory: u64,
    /// How many requests there were.
    pub requests: u64,
}

impl Frame {
    /// A time, as seen from now. All that is longer ago than is remembered is the same.
    pub fn time(&self, at: u64) -> u64 {
        if at > self.now { at - self.now } else { ((self.now - at).min(self.memory)) | 1 << 63 }
    }
}

impl Canon {
    /// What a value is like.
    pub fn of(value: &impl Debug) -> Self {
        let mut reader =
            Reader { hash: 0xcbf2_9ce4_8422_2325, expects: Expects::Nothing, canon: Self::default() };
        // The reader takes in everything.
        let _ = write!(reader, "{value:?}");
        Self { shape: mix(reader.hash), ..reader.canon }
    }

    /// A number for it, as seen from there.
    pub fn seen(&self, frame: &Frame) -> u64 {
        let mut hash = self.shape;
        self.times.iter().for_each(|at| hash = mix(hash ^ frame.time(*at)));
        self.requests.iter().for_each(|id| hash = mix(hash ^ frame.requests.wrapping_sub(*id)));
        hash
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Time,
    Request,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Nothing,
    Bracket(Kind),
    Number(Kind),
}

/// Reads what a value shows of itself. What is derived writes names, brackets and numbers each in one piece, and text
/// never without its quotation marks.
struct Reader {
    hash: u64,
    expects: Expects,
    canon: Canon,
}

impl Reader {
    fn add(&mut self, text: &str) {
        let mut hash = self.hash ^ text.len() as u64;
        let mut rest = text.as_bytes();
        while let Some((chunk, more)) = rest.split_first_chunk::<8>() {
            hash = (hash ^ u64::from_le_bytes(*chunk)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
            rest = more;
        }
        for byte in rest {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.hash = hash.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl fmt::Write for Reader {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let expected = std::mem::replace(&mut self.expects, Expects::Nothing);
        match (expected, text) {
            (Expects::Bracket(kind), "(") => self.expects = Expects::Number(kind),
            (Expects::Number(kind), number) => {
                let number = number.parse().map_err(|_| fmt::Error)?;
                match kind {
                    Kind::Time => self.canon.times.push(number),
                    Kind::Request => self.canon.requests.push(number),
                }
                return Ok(());
            }
            (_, "Timestamp") => self.expects = Expects::Bracket(Kind::Time),
            (_, "RequestId") => self.expects = Expects::Bracket(Kind::Request),
            _ => {}
        }
        self.add(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::ids::RequestId;
    use hostler_core::time::Timestamp;

    use super::*;

    fn seen(value: &impl Debug, now: u64, requests: u64) -> u64 {
        Canon::of(value).seen(&Frame { now, memory: 100, requests })
    }

    #[test]
    fn what_happens_later_in_the_same_way_is_the_same() {
        let value = |at: u64, id: u64| (Some(Timestamp::from_millis(at)), "text", RequestId(id), 7);
        assert_eq!(seen(&value(50, 3), 20, 4), seen(&value(1_050, 13), 1_020, 14));
        assert_ne!(seen(&value(50, 3), 20, 4), seen(&value(51, 3), 20, 4));
        assert_ne!(seen(&value(50, 3), 20, 4), seen(&value(50, 3), 20, 5));
        assert_ne!(seen(&value(50, 3), 20, 4), seen(&value(50, 3), 50, 4));
    }

    #[test]
    fn it_is_forgotten_how_long_ago_something_was_only_once_that_does_not_matter() {
        let value = Timestamp::from_millis(1_000);
        assert_ne!(seen(&value, 1_099, 0), seen(&value, 1_100, 0));
        assert_eq!(seen(&value, 1_100, 0), seen(&value, 5_000, 0));
    }

    #[test]
    fn text_that_looks_like_a_time_is_text() {
        for (a, b) in [("Timestamp(1)", "Timestamp(2)"), ("a\", \"b", "a\\\", \\\"b"), ("", "a")] {
            assert_ne!(seen(&a, 5, 0), seen(&b, 5, 0));
        }
        assert_ne!(seen(&("a", "bc"), 0, 0), seen(&("ab", "c"), 0, 0));
        assert_ne!(seen(&1234, 0, 0), seen(&1243, 0, 0));
    }
}
