//! How a secret looks in base64.

use crate::tools::base64;

/// In both alphabets: by itself with its padding and without, and as far as it looks the same whatever follows it.
pub(super) fn forms(secret: &[u8]) -> Vec<String> {
    let all = base64(secret);
    let of_addresses = all.replace('+', "-").replace('/', "_");
    let forms = |all: &str| {
        let begin = all.get(..secret.len() / 3 * 4).unwrap_or_default();
        [all, all.trim_end_matches('='), begin].map(str::to_owned)
    };
    [forms(&all), forms(&of_addresses)].concat()
}
