//! Server-sent events: bytes, in whatever pieces they come, taken apart into events.
//!
//! Knows lines, fields and comments, and nothing of what an event says: that is for a protocol, such as
//! [`chat`](super::chat). Event ids and retry times are ignored, since no stream of ours is resumed.

use alloc::string::String;
use alloc::vec::Vec;

/// The longest line, and the longest data of one event, that is taken: far more than any provider sends.
pub const LIMIT: usize = 16 * 1024 * 1024;

/// The mark that some servers put before a text.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its data: the data lines, joined by line feeds.
    pub data: String,
}

/// A line or an event is longer than anything sensible, and the rest of the stream cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The stream has a line or an event of more than {limit} bytes.")]
pub struct TooLong {
    /// How many bytes were allowed.
    pub limit: usize,
}

/// Takes a stream of events apart, however it is split into chunks.
#[derive(Clone, Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, whose line feed may still come.
    after_return: bool,
    /// Whether the first line is over.
    begun: bool,
    event: SseEvent,
    has_data: bool,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new(LIMIT)
    }
}

impl SseDecoder {
    /// A decoder at the start of a stream, with that limit on lines and events.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            begun: false,
            event: SseEvent::default(),
            has_data: false,
        }
    }

    /// Takes the next bytes of the stream, and pushes the events that they complete.
    ///
    /// After an error the events pushed so far stand, and nothing more must be pushed.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if core::mem::take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
                return self.extend_line(rest);
            };
            self.after_return = rest[end] == b'\r';
            self.extend_line(&rest[..end])?;
            self.end_line(out)?;
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// Takes the end of the stream: what an event had said before it was cut off, if anything.
    ///
    /// The standard throws that away; but servers exist that leave out the empty line after their last event.
    pub fn end(mut self) -> Option<SseEvent> {
        let mut out = Vec::new();
        self.end_line(&mut out).ok()?;
        self.dispatch(&mut out);
        out.pop()
    }

    fn extend_line(&mut self, part: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + part.len() > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let line = core::mem::take(&mut self.line);
        let first = !core::mem::replace(&mut self.begun, true);
        let bytes = if first { line.strip_prefix(BOM).unwrap_or(&line) } else { &line };
        if bytes.is_empty() {
            self.dispatch(out);
        } else {
            self.field(&String::from_utf8_lossy(bytes))?;
        }
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn field(&mut self, line: &str) -> Result<(), TooLong> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => self.data(value),
            "event" => {
                self.event.name = value.into();
                Ok(())
            }
            // Older llama.cpp servers write `error: {...}` where the standard has no such field.
            "error" => {
                self.event.name = "error".into();
                self.data(value)
            }
            _ => Ok(()),
        }
    }

    fn data(&mut self, value: &str) -> Result<(), TooLong> {
        if self.event.data.len() + value.len() >= self.limit {
            return Err(TooLong { limit: self.limit });
        }
        if core::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        Ok(())
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = core::mem::take(&mut self.event);
        if core::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decodes chunks to `name=data` strings, ending in `!` if the decoder refused.
    fn decode<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut decoder, mut out, mut refused) = (SseDecoder::new(limit), Vec::new(), false);
        for chunk in chunks {
            refused = refused || decoder.push(chunk, &mut out).is_err();
        }
        if refused {
            out.push(SseEvent { name: "!".into(), data: String::new() });
        } else {
            out.extend(decoder.end());
        }
        out.iter().map(|event| format!("{}={}", event.name, event.data)).collect()
    }

    fn check(stream: &str, expected: &[&str]) {
        assert_eq!(decode(LIMIT, [stream.as_bytes()]), expected, "{stream:?} whole");
        assert_eq!(decode(LIMIT, stream.as_bytes().chunks(1)), expected, "{stream:?} byte by byte");
    }

    #[test]
    fn fields_comments_and_line_ends() {
        check("data: a\n\n", &["=a"]);
        check("data:a\n\ndata:  b\n\n", &["=a", "= b"]);
        check("data: a\ndata: b\n\n", &["=a\nb"]);
        check("data\ndata\n\n", &["=\n"]);
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", &["=a", "=b", "=c"]);
        check(": hello\nevent: x\nid: 1\nretry: 3\nother\ndata: a\n\ndata: b\n\n", &["x=a", "=b"]);
        check("event: lost\n\ndata: b\n\n", &["=b"]);
        check("\u{feff}data: a\n\n\u{feff}data: no\n\n", &["=a"]);
        check("error: {\"code\":500}\n\n", &["error={\"code\":500}"]);
        check("data: {\"a\": \"é😀:\"}\n\n", &["={\"a\": \"é😀:\"}"]);
        check("", &[]);
        check("\n\n\r\n", &[]);
    }

    #[test]
    fn the_last_event_may_lack_its_end() {
        check("data: a\n\ndata: b\n", &["=a", "=b"]);
        check("data: a\n\ndata: [DONE]", &["=a", "=[DONE]"]);
        check("data: a\n\n: bye", &["=a"]);
    }

    #[test]
    fn what_is_not_unicode_is_replaced() {
        assert_eq!(decode(LIMIT, [&b"data: a\xff\xc3\n\n"[..]]), ["=a\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn too_long_a_line_or_event_is_refused() {
        assert_eq!(decode(10, [&b"data: 1234\n\n"[..]]), ["=1234"]);
        assert_eq!(decode(10, [&b"data: 1\n\ndata: 12345\n\n"[..]]), ["=1", "!="]);
        assert_eq!(decode(10, [&b"data:12345\ndata:12345\n\n"[..]]), ["!="]);
    }

    proptest! {
        #[test]
        fn any_split_decodes_the_same(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "data:", "data: ", "event: ", "error:", ":", " ", "a", "é", "😀", "\u{feff}", "\n", "\n", "\r", "\r\n", "\n\n", "{}",
                ]),
                0..60,
            ),
            cuts in prop::collection::vec(1usize..9, 1..20),
            limit in prop::sample::select(vec![12usize, LIMIT]),
        ) {
            let stream = pieces.concat();
            let whole = decode(limit, [stream.as_bytes()]);
            prop_assert_eq!(&whole, &decode(limit, crate::provider::fixture::streams::split(stream.as_bytes(), &cuts)));
        }
    }
}
