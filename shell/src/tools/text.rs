//! Files as text and back: UTF-8 and UTF-16, with or without a byte order mark.
//!
//! Other encodings are not guessed. What is not text in one of these can be looked at, with replacement characters, but
//! never goes back to a file.

use encoding_rs::{Decoder, UTF_8, UTF_16BE, UTF_16LE};

/// How a file's text is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
}

/// How a file's text is laid out in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The encoding.
    pub(super) encoding: Encoding,
    /// Whether a byte order mark comes first. UTF-16 is recognised by it, so there it always does.
    pub(super) bom: bool,
}

/// How many bytes are looked at to tell text from what is not.
pub(super) const SNIFFED: usize = 8192;

/// Tells the layout of a text by its first bytes; none if it is not text.
pub(super) fn sniff(bytes: &[u8]) -> Option<Layout> {
    let encoding = match bytes {
        [0xef, 0xbb, 0xbf, ..] => Encoding::Utf8,
        [0xff, 0xfe, ..] => Encoding::Utf16Le,
        [0xfe, 0xff, ..] => Encoding::Utf16Be,
        _ if bytes.iter().take(SNIFFED).any(|byte| *byte == 0) => return None,
        _ => return Some(Layout::default()),
    };
    Some(Layout { encoding, bom: true })
}

impl Layout {
    /// How many bytes come before the text.
    pub(super) fn bom_len(self) -> usize {
        match (self.bom, self.encoding) {
            (false, _) => 0,
            (true, Encoding::Utf8) => 3,
            (true, Encoding::Utf16Le | Encoding::Utf16Be) => 2,
        }
    }

    /// The encoding's name.
    pub(super) fn name(self) -> &'static str {
        self.codec().name()
    }

    /// A decoder for what comes after the byte order mark; replaces what it cannot read.
    pub(super) fn decoder(self) -> Decoder {
        self.codec().new_decoder_without_bom_handling()
    }

    /// The text of a whole file, if all of it can be read.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<String> {
        let rest = bytes.get(self.bom_len()..)?;
        let text = self.codec().decode_without_bom_handling_and_without_replacement(rest)?;
        Some(text.into_owned())
    }

    /// The bytes of a whole file with that text.
    pub(super) fn encode(self, text: &str) -> Vec<u8> {
        let units = || self.bom.then_some(0xfeff).into_iter().chain(text.encode_utf16());
        match self.encoding {
            Encoding::Utf8 if self.bom => [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
        }
    }

    fn codec(self) -> &'static encoding_rs::Encoding {
        match self.encoding {
            Encoding::Utf8 => UTF_8,
            Encoding::Utf16Le => UTF_16LE,
            Encoding::Utf16Be => UTF_16BE,
        }
    }
}

/// Whether every line of a text ends with CR and LF.
pub(super) fn is_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends
}

/// The same text with CR and LF at the end of every line.
pub(super) fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_goes_back_as_it_was() {
        for (bytes, text) in [
            (&b"a\xc3\xa9"[..], "a\u{e9}"),
            (b"\xef\xbb\xbfa", "a"),
            (b"\xff\xfea\0\x3d\xd8\x00\xde", "a\u{1f600}"),
            (b"\xfe\xff\0a", "a"),
            (b"", ""),
        ] {
            let layout = sniff(bytes).unwrap_or_default();
            assert_eq!(layout.decode(bytes).as_deref(), Some(text), "{bytes:?}");
            assert_eq!(layout.encode(text), bytes, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_not_text_is_not_taken_for_it() {
        assert_eq!(sniff(b"\x7fELF\0"), None);
        for bytes in [&b"caf\xe9"[..], b"\xff\xfea"] {
            assert_eq!(sniff(bytes).and_then(|layout| layout.decode(bytes)), None);
        }
    }

    #[test]
    fn line_ends_are_told_apart() {
        for (text, crlf) in [("a\r\nb\r\n", true), ("a\r\nb\n", false), ("a\n", false), ("a", false)] {
            assert_eq!(is_crlf(text), crlf, "{text:?}");
        }
        assert_eq!(to_crlf("a\nb\r\n"), "a\r\nb\r\n");
    }
}
