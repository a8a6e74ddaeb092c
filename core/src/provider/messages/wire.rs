//! The events of a message stream as they come over the wire, read as leniently as is safe.
//!
//! Everything may be missing or null, and what is not known is ignored. What they mean is in `decode`.

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
    /// Which block of the message it is about.
    #[serde(default)]
    pub(super) index: Value,
    #[serde(borrow, default)]
    pub(super) message: Option<Start<'a>>,
    /// Kept as it came, since some blocks have to go back word for word.
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Value,
}

/// The message as it is when it begins.
#[derive(Deserialize)]
pub(super) struct Start<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// A block as it is when it begins.
#[derive(Deserialize)]
pub(super) struct BlockStart<'a> {
    #[serde(default)]
    pub(super) r#type: Value,
    #[serde(default)]
    pub(super) text: Value,
    #[serde(default)]
    pub(super) thinking: Value,
    #[serde(borrow, default)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) name: Value,
    /// Empty where arguments are streamed; whole where they are not.
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// What is new in a block, or in the message.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(default)]
    pub(super) text: Value,
    #[serde(default)]
    pub(super) thinking: Value,
    #[serde(borrow, default)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) partial_json: Value,
    #[serde(default)]
    pub(super) stop_reason: Value,
}

/// Token counts; each of them stands until another one comes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_input_tokens: Option<f64>,
    cache_creation_input_tokens: Option<f64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Option<f64>,
}

impl Counts {
    /// Takes over the counts that a usage object has. A broken one is no reason to lose an answer.
    pub(super) fn update(&mut self, raw: &RawValue) {
        let Ok(new) = serde_json::from_str::<Self>(raw.get()) else { return };
        self.input_tokens = new.input_tokens.or(self.input_tokens);
        self.output_tokens = new.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens = new.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            new.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.output_tokens_details = new.output_tokens_details.or(self.output_tokens_details.take());
    }

    /// The tokens that they count. What was read from the cache or written to it is not part of the input here.
    pub(super) fn usage(&self) -> Usage {
        Usage {
            input: count(self.input_tokens),
            output: count(self.output_tokens),
            cache_read: count(self.cache_read_input_tokens),
            cache_write: count(self.cache_creation_input_tokens),
            reasoning: count(self.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(objects: &[&str], expected: [u64; 5]) {
        let mut counts = Counts::default();
        for object in objects {
            counts.update(serde_json::from_str(object).unwrap());
        }
        let usage = counts.usage();
        let found = [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning];
        assert_eq!(found, expected, "{objects:?}");
    }

    #[test]
    fn the_last_count_of_each_kind_stands() {
        check(&[], [0; 5]);
        let start = r#"{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1,
            "cache_creation":{"ephemeral_5m_input_tokens":20},"service_tier":"standard"}"#;
        check(&[start], [7, 1, 100, 20, 0]);
        check(&[start, r#"{"output_tokens":42}"#], [7, 42, 100, 20, 0]);
        let end = r#"{"input_tokens":9,"output_tokens":50,"cache_read_input_tokens":null,"output_tokens_details":{"thinking_tokens":30}}"#;
        check(&[start, r#"{"output_tokens":42}"#, end], [9, 50, 100, 20, 30]);
        check(&[start, r#"{"output_tokens":"many"}"#, "7", "null"], [7, 1, 100, 20, 0]);
        check(&[r#"{"input_tokens":-1,"output_tokens":2.0}"#], [0, 2, 0, 0, 0]);
    }
}
