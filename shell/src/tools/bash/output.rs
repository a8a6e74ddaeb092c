//! A command's output as far as it is kept: its beginning and its end.
//!
//! Memory stays bounded whatever a command prints. What is not UTF-8 is replaced.

use std::collections::VecDeque;

use encoding_rs::{Decoder, UTF_8};

/// How many characters of the beginning are kept, and how many of the end.
const KEPT: usize = 15_000;

/// The output so far.
pub(super) struct Output {
    decoder: Decoder,
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    left_out: u64,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            decoder: UTF_8.new_decoder_without_bom_handling(),
            head: String::new(),
            head_chars: 0,
            tail: VecDeque::new(),
            left_out: 0,
        }
    }
}

impl Output {
    /// Adds bytes; returns the text that they are. A character that is not complete comes with the rest of it.
    pub(super) fn add(&mut self, bytes: &[u8]) -> String {
        self.decode(bytes, false)
    }

    /// Whether something was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// All that was kept, with a word about what was not.
    pub(super) fn finish(mut self) -> (String, bool) {
        self.decode(&[], true);
        let cut = self.is_cut();
        let mut text = self.head;
        if cut {
            text.push_str(&format!("\n[... {} characters left out here ...]\n", self.left_out));
        }
        text.extend(self.tail);
        (text, cut)
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> String {
        let room = self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
        let mut text = String::with_capacity(room);
        // There is room for all of it, so all of it is read.
        let _ = self.decoder.decode_to_string(bytes, &mut text, last);
        text.chars().for_each(|c| self.push(c));
        text
    }

    fn push(&mut self, c: char) {
        if self.head_chars < KEPT {
            self.head.push(c);
            self.head_chars += 1;
            return;
        }
        if self.tail.len() == KEPT {
            self.tail.pop_front();
            self.left_out += 1;
        }
        self.tail.push_back(c);
    }
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
    }

    #[test]
    fn the_middle_is_left_out() {
        let (head, tail) = ("\u{e9}".repeat(KEPT), "z".repeat(KEPT));
        check(&[head.as_bytes(), tail.as_bytes()], &format!("{head}{tail}"));
        let expected = format!("{head}\n[... 3 characters left out here ...]\n{tail}");
        check(&[head.as_bytes(), b"abc", tail.as_bytes()], &expected);
    }
}
