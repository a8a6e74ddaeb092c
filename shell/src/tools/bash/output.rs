//! A command's output as far as it is kept: its beginning and its end here, and more of it in a file if there is a place
//! for that.
//!
//! Memory stays bounded whatever a command prints, and what is left out is looked at only once. What is not UTF-8 is
//! replaced.

use std::borrow::Cow;

use super::spool::{Kept, Spool};

/// How many characters of the beginning are kept, and how many of the end.
const KEPT: usize = 15_000;
/// How many bytes the end has at the most.
const END_BYTES: usize = 4 * KEPT;
/// How many bytes may wait before they are cut to the end of them.
const WAITING: usize = 4 * END_BYTES;

/// The output so far.
#[derive(Default)]
pub(super) struct Output {
    /// The beginning of a character of which the rest is yet to come.
    torn: Vec<u8>,
    head: String,
    head_chars: usize,
    /// What came last, with all that is the end of it.
    tail: String,
    /// How many characters came after the head.
    later_chars: usize,
    /// How many bytes of text there were in all.
    bytes: u64,
    spool: Spool,
}

/// What a command has printed, as it is told.
pub(super) struct Told {
    /// All that was kept, with a word about what was not.
    pub(super) text: String,
    /// Whether something was left out of it.
    pub(super) is_cut: bool,
    /// How many bytes of text there were in all.
    pub(super) bytes: u64,
    /// The file that has more of it.
    pub(super) file: Option<String>,
}

impl Output {
    /// No output so far; what is too much for a result goes to that file as well.
    pub(super) fn new(spool: Spool) -> Self {
        Self { spool, ..Self::default() }
    }

    /// Adds bytes; returns the text that they are. A character that is not complete comes with the rest of it.
    pub(super) fn add<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        let text = self.decode(bytes);
        self.push(&text);
        text
    }

    /// All that is told of it.
    pub(super) fn finish(mut self) -> Told {
        if !self.torn.is_empty() {
            self.push("\u{fffd}");
        }
        let left_out = self.later_chars.saturating_sub(KEPT);
        if left_out == 0 {
            return Told { text: self.head + &self.tail, is_cut: false, bytes: self.bytes, file: None };
        }
        self.spool_begins();
        let kept = self.spool.finish();
        let (end, file) = (last_chars(&self.tail, KEPT), kept.file());
        let text =
            format!("{}\n[... {left_out} characters left out here{} ...]\n{end}", self.head, words(&kept));
        Told { text, is_cut: true, bytes: self.bytes, file }
    }

    fn decode<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.torn.is_empty() {
            let (whole, torn) = bytes.split_at(bytes.len() - torn_end(bytes));
            self.torn = torn.to_vec();
            return text_of(whole);
        }
        let mut joined = std::mem::take(&mut self.torn);
        joined.extend_from_slice(bytes);
        self.torn = joined.split_off(joined.len() - torn_end(&joined));
        Cow::Owned(String::from_utf8_lossy(&joined).into_owned())
    }

    fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        let (first, rest) = split(text, KEPT - self.head_chars);
        self.head.push_str(first);
        self.head_chars += first.chars().count();
        self.later_chars += rest.chars().count();
        self.tail.push_str(rest);
        if self.spool.is_open() {
            self.spool.add(rest);
        }
        if self.tail.len() > WAITING {
            self.spool_begins();
            let start = self.tail.floor_char_boundary(self.tail.len() - END_BYTES);
            self.tail.drain(..start);
        }
    }

    /// Begins the file with all that came before, of which nothing is missing yet.
    fn spool_begins(&mut self) {
        if self.spool.open() {
            self.spool.add(&self.head);
            self.spool.add(&self.tail);
        }
    }
}

fn words(kept: &Kept) -> String {
    match kept {
        Kept::Nowhere => String::new(),
        Kept::Whole(path) => {
            format!("; all of the output is in {}, which view and grep can read", path.display())
        }
        Kept::Ends(path) => format!(
            "; the first and the last 32 MiB of the output are in {}, which view and grep can read",
            path.display()
        ),
        Kept::Failed(error) => format!("; they could not be kept in a file ({error})"),
    }
}

/// The text that bytes are. Most are UTF-8, which is found out much quicker than where they are not.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// How many bytes at the end begin a character and do not complete it.
fn torn_end(bytes: &[u8]) -> usize {
    let begins = |length: &usize| bytes.len().checked_sub(*length).is_some_and(|at| bytes[at] >= 0xc0);
    (1..=3).find(begins).filter(|length| is_beginning(&bytes[bytes.len() - length..])).unwrap_or(0)
}

/// Whether bytes begin a character and end too early.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// The first so many characters, and the rest.
fn split(text: &str, chars: usize) -> (&str, &str) {
    if chars == 0 {
        return ("", text);
    }
    text.char_indices().nth(chars).map_or((text, ""), |(end, _)| text.split_at(end))
}

/// The last so many characters.
fn last_chars(text: &str, chars: usize) -> &str {
    let start = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&[u8]], expected: &str) {
        let mut output = Output::default();
        for piece in pieces {
            output.add(piece);
        }
        let told = output.finish();
        assert_eq!(told.text, expected);
        assert_eq!((told.is_cut, told.file), (expected.contains("left out here"), None));
    }

    #[test]
    fn characters_survive_being_torn_apart() {
        check(&[], "");
        check(&[b"a\xc3", b"\xa9b"], "a\u{e9}b");
        check(&[b"a\xff", b"b\xe2\x82"], "a\u{fffd}b\u{fffd}");
        check(&[b"\xf0", b"\x9f", b"\x90", b"\x8e"], "\u{1f40e}");
        check(&[b"\xf0\x9f", b"ab"], "\u{fffd}ab");
        check(&[b"\xc3\xc3", b"\xa9"], "\u{fffd}\u{e9}");
        check(&[b"\xc3", b"", b"\xa9\x80"], "\u{e9}\u{fffd}");
    }

    #[test]
    fn the_middle_is_left_out() {
        let (head, tail) = ("\u{e9}".repeat(KEPT), "z".repeat(KEPT));
        check(&[head.as_bytes(), tail.as_bytes()], &format!("{head}{tail}"));
        let expected = format!("{head}\n[... 3 characters left out here ...]\n{tail}");
        check(&[head.as_bytes(), b"abc", tail.as_bytes()], &expected);
        check(&[format!("{head}abc{tail}").as_bytes()], &expected);
        let single: Vec<_> = format!("{head}abc{tail}").bytes().map(|byte| [byte]).collect();
        check(&single.iter().map(|byte| byte.as_slice()).collect::<Vec<_>>(), &expected);
        let (wide, much) = ("\u{1f40e}".repeat(KEPT), "abc".repeat(WAITING));
        let expected = format!("{head}\n[... {} characters left out here ...]\n{wide}", much.len());
        check(&[head.as_bytes(), much.as_bytes(), wide.as_bytes()], &expected);
    }

    #[test]
    fn what_is_held_does_not_grow() {
        let mut output = Output::default();
        for _ in 0..1000 {
            output.add("\u{e9}".repeat(30_000).as_bytes());
        }
        assert!(output.tail.capacity() < 1 << 20, "{}", output.tail.capacity());
        let told = output.finish();
        assert!(told.text.contains(&format!("[... {} characters left out here ...]", 30_000_000 - 2 * KEPT)));
        assert_eq!(told.bytes, 60_000_000);
    }

    #[test]
    fn what_is_left_out_is_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("session/call.txt");
        let text: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
        for size in [usize::MAX, 1000] {
            let mut output = Output::new(Spool::to(Some(path.clone())));
            text.as_bytes().chunks(size.min(text.len())).for_each(|piece| drop(output.add(piece)));
            let told = output.finish();
            assert_eq!(told.file.as_deref(), path.to_str());
            assert!(told.text.contains("; all of the output is in /"), "{}", told.text.len());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
