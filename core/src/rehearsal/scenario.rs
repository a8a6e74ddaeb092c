//! A scenario: what the rehearsal model says, request by request.
//!
//! The types only; the file format is read in `reading`, and acted out in `play`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::content::Usage;
use crate::model::FinishReason;

/// A scenario: the answers to the requests of one prompt, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The steps: at least one.
    pub steps: Vec<Step>,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How its attempts go: at least one; the last goes for all that follow.
    pub attempts: Vec<Attempt>,
}

/// How one attempt goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// A text that a result of the last tool calls must contain; else the attempt fails for good.
    pub expect: Option<String>,
    /// What is said, in order.
    pub say: Vec<Sentence>,
    /// How it ends.
    pub ending: Ending,
    /// The tokens that it claims to have used.
    pub usage: Usage,
}

/// Something that is said or done in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// Text, in that many pieces.
    Text {
        /// The text.
        text: String,
        /// Into how many pieces it is cut.
        pieces: usize,
    },
    /// Reasoning, in that many pieces.
    Reasoning {
        /// The text.
        text: String,
        /// Into how many pieces it is cut.
        pieces: usize,
    },
    /// A tool call.
    Call {
        /// The tool.
        tool: String,
        /// The arguments, as the text that the model writes.
        input: String,
        /// The provider's name for it; made up if there is none.
        id: Option<String>,
    },
    /// That many milliseconds pass.
    Delay(u64),
    /// The same text many times, each time a piece.
    Repeat {
        /// The text.
        text: String,
        /// How often.
        times: usize,
    },
}

/// How an attempt ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is complete, for that reason; without one for the reason that its calls give.
    Finish(Option<FinishReason>),
    /// The connection breaks.
    Cut,
    /// It falls silent, for ever.
    Stall,
    /// It is refused before it begins.
    Refuse(Refusal),
}

/// A provider's refusal to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The provider's code for it.
    pub code: String,
    /// What it says.
    pub message: String,
    /// How long it asks to wait, in milliseconds.
    pub retry_after: Option<u64>,
    /// Whether it says that trying again makes sense.
    pub should_retry: Option<bool>,
}

/// Why a scenario cannot be played, in one sentence that names the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} cannot be read: {problem}.")]
pub struct ScenarioError {
    /// Where: `The scenario`, or `Step 2, attempt 1, item 3 of its say`.
    pub(super) place: String,
    /// What is wrong there.
    pub(super) problem: String,
}

impl Scenario {
    /// Reads a scenario file. The format is described in `docs/rehearsal.md`; what does not belong there is refused.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        super::reading::scenario(text)
    }
}

impl Step {
    /// How the attempt with that number, from 1, goes.
    pub fn attempt(&self, number: u32) -> Option<&Attempt> {
        let at = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        self.attempts.get(at).or(self.attempts.last())
    }
}
