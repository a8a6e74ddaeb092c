//! Server-sent events: the chunks of a chat completion in the shapes of the public API reference.

use serde_json::{Map, Value, json};

/// The moment at which every completion claims to have been made; fixed, so that runs compare.
const CREATED: u64 = 1_700_000_000;

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

/// What a completion cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) reasoning: u64,
}

impl Usage {
    fn json(self) -> Value {
        json!({
            "prompt_tokens": self.input,
            "completion_tokens": self.output,
            "total_tokens": self.input + self.output,
            "prompt_tokens_details": {"cached_tokens": self.cached, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": self.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        })
    }
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
        chunk.insert("usage".into(), usage.json());
        Value::Object(chunk)
    }

    /// The chunk that has no choice and tells the usage.
    pub(super) fn usage(&self, usage: Usage) -> Value {
        let mut chunk = self.base();
        chunk.insert("choices".into(), json!([]));
        chunk.insert("usage".into(), usage.json());
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

/// An event that carries `data`.
pub(super) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The event that ends a stream.
pub(super) fn done() -> String {
    "data: [DONE]\n\n".to_owned()
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

/// The list of models, in the shape of `GET /v1/models`.
pub(super) fn model_list(models: &[String]) -> Value {
    let entry = |id: &String| json!({"id": id, "object": "model", "created": CREATED, "owned_by": "strict"});
    json!({"object": "list", "data": models.iter().map(entry).collect::<Vec<_>>()})
}
