//! What is said between a session and a language model, whatever the provider's protocol.
//!
//! A [`ModelRequest`] becomes a protocol's body, and a protocol's stream becomes [`ModelEvent`]s, in `provider`.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::{Attachment, Block, ErrorInfo, ToolOutcome, Usage};
use crate::ids::CallId;

/// A model and who serves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// The provider's name here, such as `openai`.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

impl core::fmt::Display for ModelRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.model.is_empty() {
            f.write_str(&self.provider)
        } else {
            write!(f, "{}/{}", self.provider, self.model)
        }
    }
}

impl ModelRef {
    /// The model as people name it: what plays a scenario is called by that, as on the command line.
    pub fn shown(&self) -> String {
        if self.provider == "rehearsal" && !self.model.is_empty() {
            return alloc::format!("rehearsal:{}", self.model);
        }
        self.to_string()
    }
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Whom.
    pub model: ModelRef,
    /// The system prompt.
    pub system: String,
    /// The tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// The conversation: starts with the user, roles alternate, ends with the user or with tool results.
    pub items: Vec<Item>,
}

/// A piece of the conversation as a model is shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// What a person said; never empty.
    User {
        /// The text.
        text: String,
        /// What goes with it and is not text.
        media: Vec<Attachment>,
    },
    /// What a model said; never empty.
    Assistant {
        /// Who said it.
        model: ModelRef,
        /// In the order in which it was said. The outcomes of its calls stand in the calls.
        blocks: Vec<Block>,
    },
    /// What came of the calls of the assistant item before: exactly one for each, in the order of the calls.
    Results(Vec<CallResult>),
}

/// What came of one call, as a model is told it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call.
    pub call: CallId,
    /// The name by which the provider knows it: its own where that is unique in the request, else ours.
    pub wire_id: String,
    /// The tool.
    pub name: String,
    /// The outcome; its text is never empty.
    pub outcome: ToolOutcome,
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its arguments, as JSON text.
    pub schema: String,
}

/// Something that a provider's stream said.
///
/// Blocks are numbered from 0 in the order in which they first appear in the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelEvent {
    /// The provider accepted the request and begins to answer.
    Connected,
    /// More text.
    Text {
        /// The block that it belongs to.
        block: u32,
        /// The text to add.
        text: String,
    },
    /// More reasoning.
    Reasoning {
        /// The block that it belongs to.
        block: u32,
        /// The text to add.
        text: String,
    },
    /// The provider's seal on a block of reasoning or on a call, to be sent back word for word.
    Opaque {
        /// The block that it belongs to.
        block: u32,
        /// JSON text.
        data: String,
    },
    /// A tool call begins.
    Call {
        /// Its block.
        block: u32,
        /// The provider's name for it.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a tool call's arguments.
    Input {
        /// The call's block.
        block: u32,
        /// The text to add.
        text: String,
    },
    /// What the answer has used so far; the last one counts.
    Usage(Usage),
    /// The model is done, and nothing of its answer is missing. What goes with that may still come, such as usage; some
    /// servers never say that it has.
    Ending(FinishReason),
    /// The answer is complete.
    Finished(FinishReason),
    /// The attempt failed.
    Failed(CallError),
}

/// The same events in fewer: pieces of one block that follow each other become one piece. It makes no difference to what
/// is put together from them.
pub fn join_adjacent(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    let mut joined: Vec<ModelEvent> = Vec::with_capacity(events.len());
    for event in events {
        if !joined.last_mut().is_some_and(|last| last.absorb(&event)) {
            joined.push(event);
        }
    }
    joined
}

impl ModelEvent {
    /// Takes in what another adds to the same block; says whether it has.
    fn absorb(&mut self, other: &ModelEvent) -> bool {
        match (self, other) {
            (ModelEvent::Text { block, text }, ModelEvent::Text { block: same, text: more })
            | (ModelEvent::Reasoning { block, text }, ModelEvent::Reasoning { block: same, text: more })
            | (ModelEvent::Input { block, text }, ModelEvent::Input { block: same, text: more })
                if *block == *same =>
            {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

/// Why a model stopped, as its provider says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It wants its tools run.
    ToolCalls,
    /// Its output limit cut it.
    Length,
    /// The provider withheld it.
    ContentFilter,
    /// Anything else, or nothing.
    Unknown,
}

/// Why an attempt failed, as seen by whoever made the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// What it was.
    pub kind: CallErrorKind,
    /// What the other side or the system said, for people.
    pub message: String,
    /// How long the provider asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Whether the provider itself says that trying again makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub should_retry: Option<bool>,
}

/// What kind of failure an attempt met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallErrorKind {
    /// The provider could not be reached, or the connection broke.
    Transport,
    /// The stream ended before the answer did.
    Truncated,
    /// The provider answered with an HTTP status that is not success.
    Status {
        /// The status.
        status: u16,
        /// The provider's own code for it, such as `insufficient_quota`; may be empty.
        code: String,
    },
    /// The provider reported an error in the stream.
    Stream {
        /// The provider's own code or type for it; may be empty.
        code: String,
    },
    /// The stream is not what the protocol says it is.
    Protocol,
    /// There are no credentials, or they could not be read.
    Credentials,
    /// We did not wait any longer; which wait it was.
    Timeout(crate::time::Deadline),
}

/// What preparing a run has found: all that its requests are made of besides the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// The model that was chosen.
    pub model: ModelRef,
    /// The system prompt.
    pub system: String,
    /// The JSON Schema that the run's answer must satisfy, as JSON text, which the model is told behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_schema: Option<String>,
    /// The tools on offer.
    pub tools: Vec<ToolSpec>,
    /// How many tokens the model can read and write in all; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What the model's tokens cost; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Box<Prices>>,
    /// What there is to say to people about it, such as that the model's limits are not known. Said when a session is
    /// prepared so for the first time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The model for small things such as titles; the same one if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small: Option<Box<SmallModel>>,
    /// Whether its credentials can be had anew if they are refused, such as a token that has run out.
    #[serde(default)]
    pub renewable: bool,
}

/// A model for small things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmallModel {
    /// The model.
    pub model: ModelRef,
    /// What its tokens cost; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

impl Preparation {
    /// The model that is asked for small things, and what its tokens cost.
    pub fn small(&self) -> (&ModelRef, Option<&Prices>) {
        match &self.small {
            Some(small) => (&small.model, small.prices.as_ref()),
            None => (&self.model, self.prices.as_deref()),
        }
    }
}

/// What a model's tokens cost, in micro-dollars a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// For tokens read.
    pub input: u64,
    /// For tokens written.
    pub output: u64,
    /// For tokens read from the cache.
    pub cache_read: u64,
    /// For tokens written to the cache.
    pub cache_write: u64,
    /// What they cost in a long request, if that makes a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrices>,
}

/// What a model's tokens cost in a request that is longer than usual, in micro-dollars a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongPrices {
    /// A request of more tokens than these is a long one.
    pub above: u64,
    /// For tokens read.
    pub input: u64,
    /// For tokens written.
    pub output: u64,
    /// For tokens read from the cache.
    pub cache_read: u64,
    /// For tokens written to the cache.
    pub cache_write: u64,
}

impl Prices {
    /// What that usage costs in micro-dollars, rounded up. It counts as that of one request.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let [input, output, cache_read, cache_write] = match self.long {
            Some(long) if read > long.above => [long.input, long.output, long.cache_read, long.cache_write],
            _ => [self.input, self.output, self.cache_read, self.cache_write],
        };
        let sum = u128::from(usage.input) * u128::from(input)
            + u128::from(usage.output) * u128::from(output)
            + u128::from(usage.cache_read) * u128::from(cache_read)
            + u128::from(usage.cache_write) * u128::from(cache_write);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Why a run could not be prepared.
pub type PrepareError = ErrorInfo;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(block: u32, text: &str) -> ModelEvent {
        ModelEvent::Text { block, text: text.into() }
    }

    #[test]
    fn a_long_request_has_prices_of_its_own() {
        let long = LongPrices {
            above: 1_000,
            input: 10_000_000,
            output: 20_000_000,
            cache_read: 1_000_000,
            cache_write: 0,
        };
        let prices = Prices {
            input: 1_000_000,
            output: 2_000_000,
            cache_read: 100_000,
            cache_write: 0,
            long: Some(long),
        };
        let usage = |input, cache_read| Usage { input, output: 10, cache_read, ..Usage::default() };
        assert_eq!(prices.cost(&usage(900, 100)), 900 + 20 + 10);
        assert_eq!(prices.cost(&usage(900, 101)), 9_000 + 200 + 101);
        assert_eq!(Prices { long: None, ..prices }.cost(&usage(900, 110)), 900 + 20 + 11);
        assert_eq!(prices.cost(&usage(u64::MAX, u64::MAX)), u64::MAX);
    }

    #[test]
    fn only_pieces_of_one_block_that_follow_each_other_are_joined() {
        let call = ModelEvent::Call { block: 2, id: "c".into(), name: "ls".into() };
        let input = |text: &str| ModelEvent::Input { block: 2, text: text.into() };
        let thought = |text: &str| ModelEvent::Reasoning { block: 0, text: text.into() };
        let events = alloc::vec![
            thought("h"),
            thought("m"),
            text(1, "a"),
            text(1, "b"),
            text(3, "c"),
            text(1, "d"),
            call.clone(),
            input("{"),
            input("}")
        ];
        let joined = [thought("hm"), text(1, "ab"), text(3, "c"), text(1, "d"), call, input("{}")];
        assert_eq!(join_adjacent(events), joined);
    }
}
