//! Chunks: a chat completion as it is streamed, in the shapes of the public API reference.

use crate::strict::{
    answer::{Call, Usage},
    sse::CREATED,
};
use serde_json::{Map, Value, json};

/// What is the same in every chunk of one completion.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    /// The completion's id, unless the provider leaves it out.
    pub(super) id: Option<String>,
    /// The model that the request named.
    pub(super) model: String,
    /// Whether the request asked for usage, which makes every other chunk say `"usage": null`.
    pub(super) include_usage: bool,
}

impl Envelope {
    /// A chunk with one choice.
    pub(super) fn chunk(&self, delta: Value, finish: Option<&str>) -> Value {
        let mut chunk = self.base();
        chunk.insert("choices".into(), json!([choice(delta, finish)]));
        if self.include_usage {
            chunk.insert("usage".into(), Value::Null);
        }
        Value::Object(chunk)
    }

    /// The last chunk with a choice, carrying the usage as some providers do.
    pub(super) fn finish_with_usage(&self, finish: &str, usage: Usage) -> Value {
        let mut chunk = self.base();
        chunk.insert("choices".into(), json!([choice(json!({}), Some(finish))]));
        chunk.insert("usage".into(), spent(usage));
        Value::Object(chunk)
    }

    /// The chunk that has no choice and tells the usage.
    pub(super) fn usage(&self, usage: Usage) -> Value {
        let mut chunk = self.base();
        chunk.insert("choices".into(), json!([]));
        chunk.insert("usage".into(), spent(usage));
        Value::Object(chunk)
    }

    fn base(&self) -> Map<String, Value> {
        let mut base = Map::new();
        if let Some(id) = &self.id {
            base.insert("id".into(), json!(id));
        }
        base.insert("object".into(), json!("chat.completion.chunk"));
        base.insert("created".into(), json!(CREATED));
        base.insert("model".into(), json!(self.model));
        base.insert("system_fingerprint".into(), json!("fp_strict"));
        base
    }
}

fn choice(delta: Value, finish: Option<&str>) -> Value {
    json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish})
}

/// The deltas that spell a call, which is the `place`th of its answer.
pub(super) fn call_deltas(call: &Call, place: usize) -> Vec<Value> {
    let index = call.index.unwrap_or(place);
    let Some(pieces) = call.argument_pieces() else { return vec![head(call, index, &call.arguments)] };
    let mut deltas = vec![head(call, index, "")];
    for piece in pieces {
        let rest = json!({"index": index, "function": {"arguments": piece}});
        deltas.push(if call.repeat_head { head(call, index, piece) } else { rest });
    }
    deltas
}

fn head(call: &Call, index: usize, arguments: &str) -> Value {
    let function = json!({"name": call.name, "arguments": arguments});
    match &call.id {
        Some(id) => json!({"index": index, "id": id, "type": "function", "function": function}),
        None => json!({"index": index, "type": "function", "function": function}),
    }
}

fn spent(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
