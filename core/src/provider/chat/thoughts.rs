//! What some servers want back of a model's thoughts, put together from what they stream.
//!
//! DeepSeek and others who tell thoughts in `reasoning_content` refuse a conversation with calls in which an answer comes
//! back without that field, even if it was empty. OpenRouter has `reasoning_details` besides, where seals of the provider behind it are:
//! pieces of texts and summaries, and what is encrypted. Both are kept with the first block of reasoning.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::provider::answer::Answer;

/// What has come of thoughts so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Thoughts {
    /// The first block of reasoning.
    block: Option<u32>,
    /// Whether there was the field that wants to come back.
    content: bool,
    details: Vec<Map<String, Value>>,
}

/// What is kept of them with their block.
#[derive(Deserialize, Serialize)]
pub(super) struct Seal<'a> {
    /// Whether the texts of all blocks of reasoning go back as `reasoning_content`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) reasoning_content: bool,
    /// What goes back as `reasoning_details`: a list, as JSON text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<&'a RawValue>,
}

impl<'a> Seal<'a> {
    /// Reads what was kept, if it is that.
    pub(super) fn read(opaque: &'a str) -> Option<Self> {
        serde_json::from_str(opaque).ok()
    }
}

impl Thoughts {
    /// There is a field for thoughts, whatever it says.
    pub(super) fn has_content(&mut self) {
        self.content = true;
    }

    /// Takes pieces of details, and tells what of them can be read.
    pub(super) fn details(&mut self, pieces: Value) -> String {
        let Value::Array(pieces) = pieces else { return String::new() };
        let mut said = String::new();
        for piece in pieces {
            if let Value::Object(piece) = piece {
                let texts = ["text", "summary"].into_iter().filter_map(|field| piece.get(field)?.as_str());
                texts.for_each(|text| said.push_str(text));
                self.detail(piece);
            }
        }
        said
    }

    /// More of the detail that came last, if it is of the same kind and number, else a new one.
    fn detail(&mut self, piece: Map<String, Value>) {
        let same = |last: &&mut Map<String, Value>| {
            last.get("type") == piece.get("type")
                && last.get("index") == piece.get("index")
                && !piece.contains_key("data")
        };
        let Some(last) = self.details.last_mut().filter(same) else { return self.details.push(piece) };
        for (name, value) in piece {
            match (last.get_mut(&name), value) {
                (Some(Value::String(held)), Value::String(more)) if name == "text" || name == "summary" => {
                    held.push_str(&more);
                }
                (Some(_), Value::Null) => {}
                (_, value) => drop(last.insert(name, value)),
            }
        }
    }

    /// A block of reasoning has said something.
    pub(super) fn are_in(&mut self, block: u32) {
        self.block.get_or_insert(block);
    }

    /// Seals the block with what wants to come back, in a block of its own if there is none. Where nothing was thought and
    /// nothing is called, nothing is missed.
    pub(super) fn seal(&mut self, calls: bool, answer: &mut Answer) {
        let Self { block, content, details } = core::mem::take(self);
        if details.is_empty() && !(content && (calls || block.is_some())) {
            return;
        }
        let list = serde_json::to_string(&details).unwrap_or_default();
        let list: Option<&RawValue> = serde_json::from_str(&list).ok();
        let seal =
            Seal { reasoning_content: content, reasoning_details: list.filter(|_| !details.is_empty()) };
        let block = block.unwrap_or_else(|| answer.begin());
        // A struct of texts always has a JSON text; there is nothing here that could fail.
        answer.seal(block, &serde_json::to_string(&seal).unwrap_or_else(|_| "null".to_owned()));
    }
}
