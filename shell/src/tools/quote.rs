//! How names and numbers are written in what a model and a person read.
//!
//! A file name may hold anything but `/` and NUL, terminal escapes and changes of writing direction included; here it
//! becomes harmless. The contents of files are not touched: whoever edits needs them as they stand.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) use hostler_core::quote::count;

/// A path for people: relative to the workspace if it is inside, without anything that a terminal would obey.
pub(super) fn path(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => bytes(rest.as_os_str().as_bytes()),
        Err(_) => bytes(path.as_os_str().as_bytes()),
    }
}

/// A text that may hold anything, made harmless and put on one line.
pub(super) fn text(text: &str) -> String {
    bytes(text.as_bytes())
}

/// Bytes that should be UTF-8, made harmless and put on one line.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut quoted = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut quoted, c));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    quoted
}

fn push(quoted: &mut String, c: char) {
    if c.is_control() || steers(c) {
        quoted.extend(c.escape_default());
    } else {
        quoted.push(c);
    }
}

/// Whether it is invisible and changes how the text around it is laid out.
fn steers(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A size in the unit that suits it.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn names_are_harmless_and_short() {
        for (given, shown) in [
            (&b"/w/src/main.rs"[..], "src/main.rs"),
            (b"/w", "."),
            (b"/other/a", "/other/a"),
            (b"/w/\x1b[31mred", "\\u{1b}[31mred"),
            (b"/w/two\nlines", "two\\nlines"),
            (b"/w/\xff\xc3\xa9", "\\xff\u{e9}"),
            ("/w/a\u{202e}b".as_bytes(), "a\\u{202e}b"),
        ] {
            assert_eq!(path(Path::new("/w"), Path::new(OsStr::from_bytes(given))), shown);
        }
    }

    #[test]
    fn numbers_are_put_in_words() {
        assert_eq!((size(5), size(4096), size(3 << 20)), ("5 bytes".into(), "4 KiB".into(), "3 MiB".into()));
    }
}
