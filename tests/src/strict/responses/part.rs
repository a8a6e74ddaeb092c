//! Parts: what each kind of item of an output looks like, and in which events it is told.

use super::seals::Thought;
use serde_json::{Value, json};

/// What is being said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text.
    Text,
    /// A refusal to answer.
    Refusal,
    /// A thought that is told openly, as models do that hide nothing.
    Thought,
    /// A thought of which a summary is told at most. With or without the thought itself, which only the provider reads.
    Sealed { encrypted: bool },
    /// A call of a function, with its id if it has one.
    Call { id: Option<String>, name: String },
}

/// Where in the output something is said.
pub(super) struct Place<'a> {
    /// The id of the item.
    pub(super) item: &'a str,
    /// The place of the item.
    pub(super) output: usize,
}

impl Place<'_> {
    /// An event about what is said there. `index` names the place within the item.
    fn event(&self, kind: &str, index: Option<&str>, more: &[(&str, Value)]) -> Value {
        let mut event = json!({"type": kind, "item_id": self.item, "output_index": self.output});
        if let Some(index) = index {
            event[index] = json!(0);
        }
        for (name, value) in more {
            event[*name] = value.clone();
        }
        event
    }
}

const CONTENT: Option<&str> = Some("content_index");
const SUMMARY: Option<&str> = Some("summary_index");

impl Part {
    /// How the ids of its items begin.
    pub(super) fn prefix(&self) -> &'static str {
        match self {
            Self::Text | Self::Refusal => "msg",
            Self::Thought | Self::Sealed { .. } => "rs",
            Self::Call { .. } => "fc",
        }
    }

    /// The item in which `text` has been said.
    pub(super) fn item(&self, id: &str, status: &str, text: &str, model: &str) -> Value {
        let parts = if text.is_empty() { json!([]) } else { json!([self.whole(text)]) };
        match self {
            Self::Text | Self::Refusal => {
                json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": parts})
            }
            Self::Thought => json!({"id": id, "type": "reasoning", "summary": [], "content": parts}),
            Self::Sealed { encrypted } => {
                let mut item = json!({"id": id, "type": "reasoning", "summary": parts});
                if *encrypted {
                    let told: &[&str] = if text.is_empty() { &[] } else { &[text] };
                    item["encrypted_content"] = json!(Thought { model, id, summary: told }.seal());
                }
                item
            }
            Self::Call { id: call, name } => {
                let mut item = json!({"id": id, "type": "function_call", "status": status, "name": name, "arguments": text});
                if let Some(call) = call {
                    item["call_id"] = json!(call);
                }
                item
            }
        }
    }

    /// The part of an item that says `text`.
    fn whole(&self, text: &str) -> Value {
        match self {
            Self::Text => json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}),
            Self::Refusal => json!({"type": "refusal", "refusal": text}),
            Self::Thought => json!({"type": "reasoning_text", "text": text}),
            Self::Sealed { .. } => json!({"type": "summary_text", "text": text}),
            Self::Call { .. } => Value::Null,
        }
    }

    /// The event before the first addition; a call has none.
    pub(super) fn begun(&self, place: &Place<'_>) -> Option<Value> {
        let part = [("part", self.whole(""))];
        match self {
            Self::Text | Self::Refusal | Self::Thought => {
                Some(place.event("response.content_part.added", CONTENT, &part))
            }
            Self::Sealed { .. } => Some(place.event("response.reasoning_summary_part.added", SUMMARY, &part)),
            Self::Call { .. } => None,
        }
    }

    /// The event that adds `text`. Its padding, of a length that depends on nothing told, is for nobody to read.
    pub(super) fn delta(&self, place: &Place<'_>, text: &str) -> Value {
        let delta = ("delta", json!(text));
        let padding = ("obfuscation", json!("x".repeat(16 - text.len() % 16)));
        match self {
            Self::Text => {
                place.event("response.output_text.delta", CONTENT, &[delta, ("logprobs", json!([])), padding])
            }
            Self::Refusal => place.event("response.refusal.delta", CONTENT, &[delta]),
            Self::Thought => place.event("response.reasoning_text.delta", CONTENT, &[delta, padding]),
            Self::Sealed { .. } => {
                place.event("response.reasoning_summary_text.delta", SUMMARY, &[delta, padding])
            }
            Self::Call { .. } => {
                place.event("response.function_call_arguments.delta", None, &[delta, padding])
            }
        }
    }

    /// The events after the last addition, when `text` is all that was added.
    pub(super) fn ended(&self, place: &Place<'_>, text: &str) -> Vec<Value> {
        let part = [("part", self.whole(text))];
        let said = ("text", json!(text));
        let done = match self {
            Self::Call { name, .. } => {
                let whole = [("name", json!(name)), ("arguments", json!(text))];
                return vec![place.event("response.function_call_arguments.done", None, &whole)];
            }
            _ if text.is_empty() => return Vec::new(),
            Self::Text => place.event("response.output_text.done", CONTENT, &[said, ("logprobs", json!([]))]),
            Self::Refusal => place.event("response.refusal.done", CONTENT, &[("refusal", json!(text))]),
            Self::Thought => place.event("response.reasoning_text.done", CONTENT, &[said]),
            Self::Sealed { .. } => place.event("response.reasoning_summary_text.done", SUMMARY, &[said]),
        };
        let (closed, index) = match self {
            Self::Sealed { .. } => ("response.reasoning_summary_part.done", SUMMARY),
            _ => ("response.content_part.done", CONTENT),
        };
        vec![done, place.event(closed, index, &part)]
    }
}
