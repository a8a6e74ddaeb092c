//! Files that are no text: pictures, which a model may look at, and what to say of the others.

use std::path::Path;

use hostler_core::content::{Attachment, ToolOutcome, ToolStatus};
use serde::Serialize;

use super::outcome::{Failure, Outcome, with_facts};
use super::quote;
use super::text::sniff;

/// How large a picture may be that is attached. It is kept in the session and sent again with every later request.
const PICTURE: u64 = 200 * 1024;

/// Pictures by how their files begin.
const PICTURES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// Others by how their files begin, for people.
const OTHERS: [(&[u8], &str); 8] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or something that is one inside"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
];

#[derive(Serialize)]
struct Facts {
    path: String,
    media_type: &'static str,
    bytes: u64,
    attached: bool,
}

/// What `view` says of a file that begins so, if that is no text. `size` is that of the whole file.
pub(super) fn look(path: &Path, name: &str, start: &[u8], size: u64) -> Option<Outcome> {
    if let Some(media_type) = picture(start) {
        return Some(Ok(show(path, name, start, size, media_type)));
    }
    let kind = OTHERS.iter().find(|(begins, _)| start.starts_with(begins)).map(|(_, kind)| *kind);
    let is_text = kind.is_none() && sniff(start).is_some();
    (!is_text).then(|| Err(binary(name, kind, size)))
}

fn picture(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    PICTURES.iter().find(|(begins, _)| start.starts_with(begins)).map(|(_, media_type)| *media_type)
}

fn show(path: &Path, name: &str, start: &[u8], size: u64, media_type: &'static str) -> ToolOutcome {
    let whole = start.len() as u64 == size && size <= PICTURE;
    let (shown, limit) = (quote::size(size), quote::size(PICTURE));
    let words = if whole {
        format!("{name} is a picture ({media_type}, {shown}); it is attached, if your provider takes that.")
    } else {
        format!(
            "{name} is a picture ({media_type}, {shown}), too large to be looked at: the limit is {limit}."
        )
    };
    let facts = Facts { path: path.to_string_lossy().into_owned(), media_type, bytes: size, attached: whole };
    let picture =
        || Attachment { name: name.to_owned(), media_type: media_type.to_owned(), data: base64(start) };
    let media = whole.then(picture).into_iter().collect();
    ToolOutcome { media, ..with_facts(ToolStatus::Ok, words, &facts) }
}

fn binary(name: &str, kind: Option<&str>, size: u64) -> Failure {
    let kind = kind.map(|kind| format!("{kind}, ")).unwrap_or_default();
    let size = quote::size(size);
    Failure::new(format!("{name} is a binary file ({kind}{size}); use bash to look into it."))
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: &[u8], size: u64) -> Option<(String, Vec<Attachment>)> {
        let looked = look(Path::new("/w/f"), "f", start, size)?;
        Some(match looked {
            Ok(outcome) => (outcome.text, outcome.media),
            Err(failure) => (failure.sentence().to_owned(), Vec::new()),
        })
    }

    #[test]
    fn pictures_are_attached() {
        let webp = b"RIFF\x10\0\0\0WEBPVP8 ";
        for (start, media_type) in [
            (&b"\x89PNG\r\n\x1a\n\0"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (webp, "image/webp"),
        ] {
            let (text, media) = check(start, start.len() as u64).unwrap();
            assert_eq!(media[0].media_type, media_type);
            assert_eq!(media[0].data, base64(start));
            assert!(text.starts_with(&format!("f is a picture ({media_type}, ")), "{text}");
            let (text, media) = check(start, PICTURE + 1).unwrap();
            assert!(media.is_empty() && text.ends_with("the limit is 200 KiB."), "{text}");
        }
    }

    #[test]
    fn what_else_is_no_text_says_what_it_is() {
        for (start, says) in [
            (
                &b"%PDF-1.7 a text, almost"[..],
                "f is a binary file (a PDF document, 5 bytes); use bash to look into it.",
            ),
            (b"\x7fELF\x02", "f is a binary file (a program, 5 bytes); use bash to look into it."),
            (b"\0\x01\x02", "f is a binary file (5 bytes); use bash to look into it."),
        ] {
            assert_eq!(check(start, 5).unwrap().0, says);
        }
        for text in [&b""[..], b"a", b"RIFF, a text", b"\xff\xfea\0", b"caf\xe9"] {
            assert!(check(text, 5).is_none(), "{text:?}");
        }
    }

    #[test]
    fn base64_is_as_everybody_has_it() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(b"\xff\xfe\xfd\0"), "//79AA==");
    }
}
