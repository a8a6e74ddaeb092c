//! How tools put what came of a call: as text with facts, or as the sentence that says why it failed.

use std::io;

use hostler_core::content::{ToolOutcome, ToolStatus};
use serde::Serialize;

/// What a tool returns before it is made an outcome.
pub(super) type Outcome = Result<ToolOutcome, Failure>;

/// Why a call failed and what to do about it, in a sentence for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(String);

impl Failure {
    /// A failure with that sentence.
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// A failure of the system: what was being done to which file, and what the system said.
    pub(super) fn io(doing: &str, name: &str, error: &io::Error) -> Self {
        Self(format!("{name} could not be {doing} ({error}); check the path and its permissions."))
    }

    /// The sentence.
    #[cfg(test)]
    pub(super) fn sentence(&self) -> &str {
        &self.0
    }
}

/// Makes a failure an outcome like any other.
pub(super) fn settle(outcome: Outcome) -> ToolOutcome {
    outcome.unwrap_or_else(|failure| ToolOutcome::text(ToolStatus::Error, failure.0))
}

/// An outcome with facts for people and programs beside its text.
pub(super) fn with_facts(status: ToolStatus, text: impl Into<String>, facts: &impl Serialize) -> ToolOutcome {
    ToolOutcome { metadata: serde_json::to_string(facts).ok(), ..ToolOutcome::text(status, text) }
}

/// The outcome of a call that was cancelled before it did anything.
pub(super) fn cancelled() -> ToolOutcome {
    ToolOutcome::text(ToolStatus::Cancelled, "[cancelled; nothing was changed]")
}
