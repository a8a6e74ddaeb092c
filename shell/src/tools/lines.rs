//! A text line by line, however long the text or a line of it is: memory stays bounded.

use std::io::{self, Read};

use encoding_rs::Decoder;

use super::text::Layout;

const BLOCK: usize = 64 * 1024;

/// The lines of a text that is being read.
pub(super) struct Lines<R> {
    source: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: String,
    at: usize,
    ended: bool,
    damaged: bool,
}

/// A line without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// As much of it as was asked for.
    pub(super) text: String,
    /// How many characters of it there are.
    pub(super) chars: usize,
}

impl<R: Read> Lines<R> {
    /// The lines of what comes after the byte order mark.
    pub(super) fn new(source: R, layout: Layout) -> Self {
        let (decoder, raw) = (layout.decoder(), vec![0; BLOCK]);
        Self { source, decoder, raw, text: String::new(), at: 0, ended: false, damaged: false }
    }

    /// Whether something so far could not be decoded and was replaced.
    pub(super) fn damaged(&self) -> bool {
        self.damaged
    }

    /// The next line, at most `limit` characters of it; none at the end.
    pub(super) fn next(&mut self, limit: usize) -> io::Result<Option<Line>> {
        let mut line = Line::default();
        let mut begun = false;
        while self.at < self.text.len() || self.fill()? {
            begun = true;
            let rest = &self.text[self.at..];
            let end = rest.find('\n');
            line.push(&rest[..end.unwrap_or(rest.len())], limit);
            self.at += end.map_or(rest.len(), |end| end + 1);
            if end.is_some() {
                line.strip_return();
                break;
            }
        }
        Ok(begun.then_some(line))
    }

    /// Decodes more; whether there was any.
    fn fill(&mut self) -> io::Result<bool> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() && !self.ended {
            let length = self.source.read(&mut self.raw)?;
            self.ended = length == 0;
            let room = self.decoder.max_utf8_buffer_length(length).unwrap_or(4 * BLOCK);
            self.text.reserve(room);
            let (_, _, damaged) =
                self.decoder.decode_to_string(&self.raw[..length], &mut self.text, self.ended);
            self.damaged |= damaged;
        }
        Ok(!self.text.is_empty())
    }
}

impl Line {
    fn push(&mut self, part: &str, limit: usize) {
        let room = limit.saturating_sub(self.chars);
        let end = part.char_indices().nth(room).map_or(part.len(), |(at, _)| at);
        self.text.push_str(&part[..end]);
        self.chars += part.chars().count();
    }

    fn strip_return(&mut self) {
        if self.text.chars().count() == self.chars && self.text.ends_with('\r') {
            self.text.pop();
            self.chars -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::text::sniff;

    #[track_caller]
    fn check(bytes: &[u8], limit: usize, expected: &[(&str, usize)]) {
        let layout = sniff(bytes).unwrap_or_default();
        let mut lines = Lines::new(&bytes[layout.bom_len()..], layout);
        let mut found = Vec::new();
        while let Ok(Some(line)) = lines.next(limit) {
            found.push((line.text, line.chars));
        }
        let expected: Vec<_> = expected.iter().map(|(text, chars)| (text.to_string(), *chars)).collect();
        assert_eq!(found, expected, "{bytes:?}");
    }

    #[test]
    fn lines_come_without_their_ends() {
        check(b"", 9, &[]);
        check(b"a\nb", 9, &[("a", 1), ("b", 1)]);
        check(b"a\r\n\r\n", 9, &[("a", 1), ("", 0)]);
        check(b"\xff\xfea\0\n\0b\0", 9, &[("a", 1), ("b", 1)]);
        check("h\u{e9}llo\n".as_bytes(), 2, &[("h\u{e9}", 5)]);
    }

    #[test]
    fn a_line_longer_than_a_block_is_one_line() {
        let long = format!("{}\nend", "\u{e9}".repeat(BLOCK));
        check(long.as_bytes(), 3, &[("\u{e9}\u{e9}\u{e9}", BLOCK), ("end", 3)]);
    }

    #[test]
    fn damage_is_replaced_and_told() {
        let mut lines = Lines::new(&b"caf\xe9\n"[..], Layout::default());
        let line = lines.next(9).ok().flatten().unwrap_or_default();
        assert_eq!((line.text.as_str(), lines.damaged()), ("caf\u{fffd}", true));
    }
}
