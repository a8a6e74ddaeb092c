//! The chunks of a Gemini stream as they come over the wire, read as leniently as is safe.
//!
//! Everything may be missing or null, and what is not known is ignored. What they mean is in `decode`.

use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::Usage;
use crate::provider::lenient::count;

/// One chunk.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    /// Why the prompt was not even tried.
    #[serde(default)]
    pub(super) prompt_feedback: Value,
    #[serde(borrow, default)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Value,
}

/// One of the answers that are being written at once; only the first is ours.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(default)]
    pub(super) index: Value,
    #[serde(borrow, default)]
    pub(super) content: Option<Content<'a>>,
    #[serde(default)]
    pub(super) finish_reason: Value,
    #[serde(default)]
    pub(super) finish_message: Value,
}

/// What is new in an answer.
#[derive(Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) parts: Option<Vec<Part<'a>>>,
}

/// A piece of text or thought, or a whole call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(default)]
    pub(super) text: Value,
    #[serde(default)]
    pub(super) thought: Value,
    #[serde(borrow, default)]
    pub(super) thought_signature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<FunctionCall<'a>>,
}

/// A call.
#[derive(Deserialize)]
pub(super) struct FunctionCall<'a> {
    /// Only newer models give their calls ids.
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) name: Value,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageWire {
    prompt_token_count: Option<f64>,
    tool_use_prompt_token_count: Option<f64>,
    cached_content_token_count: Option<f64>,
    candidates_token_count: Option<f64>,
    thoughts_token_count: Option<f64>,
}

/// The tokens that a usage object counts; none if it is not one. A broken count is no reason to lose an answer.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let wire: Option<UsageWire> = serde_json::from_str(raw.get()).ok()?;
    let wire = wire?;
    let prompt = count(wire.prompt_token_count).saturating_add(count(wire.tool_use_prompt_token_count));
    let (cache_read, reasoning) = (count(wire.cached_content_token_count), count(wire.thoughts_token_count));
    let output = count(wire.candidates_token_count).saturating_add(reasoning);
    Some(Usage { input: prompt.saturating_sub(cache_read), output, cache_read, cache_write: 0, reasoning })
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
        check(
            r#"{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15,"promptTokensDetails":[]}"#,
            Some([10, 5, 0, 0, 0]),
        );
        check(
            r#"{"promptTokenCount":10,"cachedContentTokenCount":8,"toolUsePromptTokenCount":2,"candidatesTokenCount":5,"thoughtsTokenCount":7}"#,
            Some([4, 12, 8, 0, 7]),
        );
        check(r#"{"promptTokenCount":-3,"thoughtsTokenCount":null}"#, Some([0; 5]));
        check(r#"{"promptTokenCount":"many"}"#, None);
        check("null", None);
    }
}
