//! Short digests: to recognise a text or a batch again, not to keep secrets.

use alloc::string::String;
use core::fmt::Write;

use sha2::{Digest, Sha256};

/// The first 16 hexadecimal digits of the SHA-256 of the bytes.
pub fn of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(16);
    for byte in Sha256::digest(bytes).iter().take(8) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_digest_is_the_beginning_of_sha256() {
        assert_eq!(super::of(b"abc"), "ba7816bf8f01cfea");
    }
}
