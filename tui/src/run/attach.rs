//! Files that go with a prompt: texts as they are, pictures and PDFs in base64.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hostler_core::content::Attachment;
use hostler_core::prompt::PROMPT_BYTES;

/// What begins files of a kind that is sent as it is, and the kind.
const KINDS: [(&[u8], &str); 5] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"RIFF", "image/webp"),
];

/// The file as it goes with a prompt, or why it cannot, in one sentence.
pub(super) fn file(path: &Path) -> Result<Attachment, String> {
    let bytes = read(path).map_err(|error| unreadable(path, "--file", &error))?;
    let name = path.display().to_string();
    let kind = KINDS.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, kind)| *kind);
    match kind.filter(|kind| *kind != "image/webp" || bytes.get(8..12) == Some(b"WEBP")) {
        Some(kind) => Ok(Attachment { name, media_type: kind.to_owned(), data: base64(&bytes) }),
        None => match String::from_utf8(bytes) {
            Ok(data) if !data.contains('\0') => {
                Ok(Attachment { name, media_type: "text/plain".to_owned(), data })
            }
            Ok(_) | Err(_) => Err(format!(
                "{name} is neither text in UTF-8 nor a picture nor a PDF, so it cannot be attached; leave it out or convert it."
            )),
        },
    }
}

/// The text of a file that an option names, or why it cannot be had.
pub(super) fn text(path: &Path, option: &str) -> Result<String, String> {
    let bytes = read(path).map_err(|error| unreadable(path, option, &error))?;
    String::from_utf8(bytes)
        .map_err(|_| format!("{} is not text in UTF-8; give {option} a text.", path.display()))
}

fn unreadable(path: &Path, option: &str, error: &io::Error) -> String {
    format!("{} cannot be read ({error}); check the path after {option}.", path.display())
}

/// One byte more than a prompt may have is enough for the prompt to be refused.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(PROMPT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes as RFC 4648 writes them, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            let digit = char::from(DIGITS[((bits >> (18 - 6 * at)) & 63) as usize]);
            text.push(if at > three.len() { '=' } else { digit });
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_file_is_known_by_what_it_begins_with() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a");
        let check = |bytes: &[u8], kind: Option<&str>| {
            std::fs::write(&path, bytes).unwrap();
            let found = file(&path).map(|file| file.media_type);
            assert_eq!(found.as_deref().ok(), kind, "{bytes:?}: {found:?}");
        };
        check(b"h\xc3\xa9llo\n", Some("text/plain"));
        check(b"", Some("text/plain"));
        check(b"\x89PNG\r\n\x1a\n\0\xff", Some("image/png"));
        check(b"RIFF\0\0\0\0WEBP", Some("image/webp"));
        check(b"RIFF\0\0\0\0WAVE", None);
        check(b"%PDF-1.7\xff", Some("application/pdf"));
        check(b"\xff\xfe", None);
        assert!(file(&temp.path().join("missing")).unwrap_err().contains("check the path after --file"));
        assert!(file(temp.path()).is_err());
    }
}
