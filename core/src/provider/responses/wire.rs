//! The events of a response stream as they come over the wire, read as leniently as is safe.
//!
//! Everything may be missing or null, and what is not known is ignored. What they mean is in `decode`.

use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::Usage;
use crate::provider::lenient::count;

/// One event, of any type.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(default)]
    pub(super) r#type: Value,
    /// Which item of the output it is about.
    #[serde(default)]
    pub(super) output_index: Value,
    /// The same, where items are not numbered.
    #[serde(default)]
    pub(super) item_id: Value,
    /// Kept as it came, since some items have to go back word for word.
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    /// Which part of a summary it is about.
    #[serde(default)]
    pub(super) summary_index: Value,
    #[serde(default)]
    pub(super) delta: Value,
    #[serde(default)]
    pub(super) arguments: Value,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Value,
}

/// An item of the output, as it is so far.
#[derive(Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) r#type: Value,
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) call_id: Value,
    #[serde(default)]
    pub(super) name: Value,
    #[serde(default)]
    pub(super) arguments: Value,
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) summary: Value,
    #[serde(default)]
    pub(super) encrypted_content: Value,
}

/// The response as it is in the end.
#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default)]
    pub(super) incomplete_details: Value,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Value,
}

/// What the parts of a message or of a summary say.
pub(super) fn said(parts: &Value) -> Vec<&str> {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str().or(part["refusal"].as_str())).collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageWire {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<f64>,
}

/// The tokens that a usage object counts; none if it is not one. A broken count is no reason to lose an answer.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let wire: Option<UsageWire> = serde_json::from_str(raw.get()).ok()?;
    let wire = wire?;
    let details = wire.input_tokens_details.unwrap_or_default();
    let (cache_read, cache_write) = (count(details.cached_tokens), count(details.cache_write_tokens));
    let input = count(wire.input_tokens).saturating_sub(cache_read).saturating_sub(cache_write);
    let reasoning = count(wire.output_tokens_details.unwrap_or_default().reasoning_tokens);
    Some(Usage { input, output: count(wire.output_tokens), cache_read, cache_write, reasoning })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<[u64; 5]>) {
        let found = serde_json::from_str(json).ok().and_then(usage);
        let numbers = found.map(|u| [u.input, u.output, u.cache_read, u.cache_write, u.reasoning]);
        assert_eq!(numbers, expected, "{json}");
    }

    #[test]
    fn tokens_are_counted_once_each() {
        check(r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#, Some([10, 5, 0, 0, 0]));
        check(
            r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":8},"output_tokens":5,
                "output_tokens_details":{"reasoning_tokens":3}}"#,
            Some([2, 5, 8, 0, 3]),
        );
        check(r#"{"input_tokens":3,"input_tokens_details":{"cached_tokens":9}}"#, Some([0, 0, 9, 0, 0]));
        check(r#"{"input_tokens":-3,"input_tokens_details":null}"#, Some([0, 0, 0, 0, 0]));
        check(r#"{"input_tokens":"many"}"#, None);
        check("null", None);
    }
}
