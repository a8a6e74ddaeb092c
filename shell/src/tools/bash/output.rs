//! A command's output as far as it is kept: its beginning and its end.
//!
//! Memory stays bounded whatever a command prints, and most of what is left out is looked at only once. What is not UTF-8
//! is replaced.

/// How many characters of the beginning are kept, and how many of the end.
const KEPT: usize = 15_000;

/// The output so far.
#[derive(Default)]
pub(super) struct Output {
    /// The beginning of a character of which the rest is yet to come.
    torn: Vec<u8>,
    head: String,
    head_chars: usize,
    tail: String,
    tail_chars: usize,
    left_out: usize,
}

impl Output {
    /// Adds bytes; returns the text that they are. A character that is not complete comes with the rest of it.
    pub(super) fn add(&mut self, bytes: &[u8]) -> String {
        let text = self.decode(bytes);
        self.push(&text);
        text
    }

    /// All that was kept, with a word about what was not; and whether that is so.
    pub(super) fn finish(mut self) -> (String, bool) {
        if !self.torn.is_empty() {
            self.push("\u{fffd}");
        }
        self.cut();
        let mut text = self.head;
        let is_cut = self.left_out > 0;
        if is_cut {
            text.push_str(&format!("\n[... {} characters left out here ...]\n", self.left_out));
        }
        text.push_str(&self.tail);
        (text, is_cut)
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let joined = [std::mem::take(&mut self.torn).as_slice(), bytes].concat();
        let mut text = String::with_capacity(joined.len());
        let mut chunks = joined.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunks.peek().is_none() && is_beginning(chunk.invalid()) {
                self.torn = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push('\u{fffd}');
            }
        }
        text
    }

    fn push(&mut self, text: &str) {
        let (first, rest) = split(text, KEPT - self.head_chars);
        self.head.push_str(first);
        self.head_chars += first.chars().count();
        self.tail.push_str(rest);
        self.tail_chars += rest.chars().count();
        if self.tail_chars > 2 * KEPT {
            self.cut();
        }
    }

    /// Leaves out what is no longer among the last.
    fn cut(&mut self) {
        if self.tail_chars > KEPT {
            let kept = self.tail.char_indices().rev().nth(KEPT - 1).map_or(0, |(start, _)| start);
            self.tail.drain(..kept);
            self.left_out += self.tail_chars - KEPT;
            self.tail_chars = KEPT;
        }
    }
}

/// Whether bytes begin a character and end too early.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The first so many characters, and the rest.
fn split(text: &str, chars: usize) -> (&str, &str) {
    if chars == 0 {
        return ("", text);
    }
    text.char_indices().nth(chars).map_or((text, ""), |(end, _)| text.split_at(end))
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
        assert_eq!(output.finish().0, expected);
    }

    #[test]
    fn characters_survive_being_torn_apart() {
        check(&[], "");
        check(&[b"a\xc3", b"\xa9b"], "a\u{e9}b");
        check(&[b"a\xff", b"b\xe2\x82"], "a\u{fffd}b\u{fffd}");
        check(&[b"\xf0", b"\x9f", b"\x90", b"\x8e"], "\u{1f40e}");
        check(&[b"\xf0\x9f", b"ab"], "\u{fffd}ab");
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
    }

    #[test]
    fn what_is_held_does_not_grow() {
        let mut output = Output::default();
        for _ in 0..1000 {
            output.add("\u{e9}".repeat(30_000).as_bytes());
        }
        assert!(output.tail.capacity() < 1 << 20, "{}", output.tail.capacity());
        assert!(
            output
                .finish()
                .0
                .contains(&format!("[... {} characters left out here ...]", 30_000_000 - 2 * KEPT))
        );
    }
}
