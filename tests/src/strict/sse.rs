//! Server-sent events, and cutting texts into pieces, as every protocol needs it.

use serde_json::Value;

/// The moment at which everything claims to have been made; fixed, so that runs compare.
pub(super) const CREATED: u64 = 1_700_000_000;

/// An event without a name.
pub(super) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// An event that is named by its `type`.
pub(super) fn named(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// A comment, which a client must skip.
pub(super) fn comment(text: &str) -> String {
    format!(": {text}\n\n")
}

/// `text` in pieces of at most `size` bytes, or one character where that is longer.
pub(super) fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let mut end = size.clamp(1, rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
