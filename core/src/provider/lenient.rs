//! Values that come over the wire, taken for what they should be: whatever else they are counts as nothing.

use alloc::string::{String, ToString};

use serde_json::Value;

/// A string; empty for anything else.
pub(super) fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// An id, which may be a number.
pub(super) fn id(value: Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        other => text(other),
    }
}

/// A number of tokens: servers write whole numbers with a point, or negative ones, or none.
pub(super) fn count(tokens: Option<f64>) -> u64 {
    tokens.unwrap_or(0.0) as u64
}
