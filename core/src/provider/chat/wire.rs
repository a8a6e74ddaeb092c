//! The chunks of a chat completions stream as they come over the wire, read as leniently as is safe.
//!
//! Everything may be missing or null, and what is not known is ignored. What they mean is in `decode`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::Usage;
use crate::provider::lenient::count;

/// One chunk.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    /// Says `error` in what some servers send in place of a chunk.
    #[serde(default)]
    pub(super) object: Value,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Value,
}

/// One of the answers that are being written at once; only the first is ours.
#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Value,
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    #[serde(default)]
    pub(super) finish_reason: Value,
    /// Where Moonshot puts it.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    /// Where OpenRouter puts what went wrong in mid-stream.
    #[serde(default)]
    pub(super) error: Value,
}

/// What is new in an answer.
#[derive(Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) reasoning_content: Value,
    #[serde(default)]
    pub(super) reasoning: Value,
    /// Where OpenRouter puts what wants to come back.
    #[serde(default)]
    pub(super) reasoning_details: Value,
    #[serde(default)]
    pub(super) refusal: Value,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallDelta>>,
    /// The form that tool calls had before there could be several.
    #[serde(default)]
    pub(super) function_call: Option<FunctionDelta>,
}

/// What is new in a tool call.
#[derive(Default, Deserialize)]
pub(super) struct CallDelta {
    #[serde(default)]
    pub(super) index: Value,
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) function: Option<FunctionDelta>,
}

/// The tool and the arguments of a call, or a piece of them.
#[derive(Default, Deserialize)]
pub(super) struct FunctionDelta {
    #[serde(default)]
    pub(super) name: Value,
    #[serde(default)]
    pub(super) arguments: Option<Arguments>,
}

/// A piece of a call's arguments: what a string says, or the JSON text of anything else.
pub(super) struct Arguments(pub(super) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        if text.starts_with('"') {
            serde_json::from_str(text).map(Self).map_err(serde::de::Error::custom)
        } else {
            Ok(Self(text.to_string()))
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageWire {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// Where DeepSeek says what came from the cache.
    prompt_cache_hit_tokens: Option<f64>,
    /// Where Moonshot does.
    cached_tokens: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<f64>,
}

/// The tokens that a usage object counts; none if it is not one. A broken count is no reason to lose an answer.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let wire: UsageWire = serde_json::from_str(raw.get()).ok()?;
    let prompt_details = wire.prompt_tokens_details.unwrap_or_default();
    let cached = prompt_details.cached_tokens.or(wire.prompt_cache_hit_tokens).or(wire.cached_tokens);
    let (prompt, cache_read) = (count(wire.prompt_tokens), count(cached));
    let cache_write = count(prompt_details.cache_write_tokens);
    let reasoning = count(wire.completion_tokens_details.unwrap_or_default().reasoning_tokens);
    let mut output = count(wire.completion_tokens);
    // xAI counts reasoning beside the completion; the total gives it away.
    if reasoning > 0 && count(wire.total_tokens) == prompt.saturating_add(output).saturating_add(reasoning) {
        output = output.saturating_add(reasoning);
    }
    let input = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
    Some(Usage { input, output, cache_read, cache_write, reasoning })
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
        check(r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#, Some([10, 5, 0, 0, 0]));
        check(
            r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8},
                "completion_tokens_details":{"reasoning_tokens":3}}"#,
            Some([2, 5, 8, 0, 3]),
        );
        check(r#"{"prompt_tokens":10,"prompt_cache_hit_tokens":4}"#, Some([6, 0, 4, 0, 0]));
        check(r#"{"prompt_tokens":10,"cached_tokens":4}"#, Some([6, 0, 4, 0, 0]));
        check(r#"{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":9}}"#, Some([0, 0, 9, 0, 0]));
        check(
            r#"{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":3}}"#,
            Some([4, 0, 2, 3, 0]),
        );
        check(
            r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":22,"completion_tokens_details":{"reasoning_tokens":7}}"#,
            Some([10, 12, 0, 0, 7]),
        );
        check(
            r#"{"prompt_tokens":null,"completion_tokens":2.0,"prompt_tokens_details":null}"#,
            Some([0, 2, 0, 0, 0]),
        );
        check(r#"{"prompt_tokens":-3}"#, Some([0, 0, 0, 0, 0]));
        check(r#"{"prompt_tokens":"many"}"#, None);
        check(r#"3"#, None);
    }
}
