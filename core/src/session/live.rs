//! The half of a session's state that concerns this process only: what is awaited, and text that is not yet recorded.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::asks::Question;
use super::schema::Check;
use super::stream::Assembly;
use super::title::Titling;
use crate::ids::{AttemptId, CallId};
use crate::model::{FinishReason, Preparation, PrepareError};
use crate::time::Timestamp;
use crate::tools::CallInput;

/// What concerns this process only. Empty whenever a session is opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// The model's answer that is awaited, or the wait before the next attempt.
    pub(super) call: Option<Call>,
    /// Tool calls that are being looked at or run.
    pub(super) tools: BTreeMap<CallId, Tool>,
    /// Prompts whose runs are being prepared, and until when, by their sequence.
    pub(super) preparing: BTreeMap<u64, Timestamp>,
    /// What preparing has come to, for prompts that have not begun.
    pub(super) prepared: BTreeMap<u64, Result<Preparation, PrepareError>>,
    /// What the calls would do that a person is asked about, sub-agents' included.
    pub(super) questions: Vec<Question>,
    /// The title that a model is asked for.
    pub(super) title: Option<Titling>,
    /// The answer that is held against its run's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<Check>,
    /// When a cancelled turn stops waiting for its tools.
    pub(super) settle: Option<Timestamp>,
}

/// A model's answer that is awaited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    /// The attempt that is under way, or that failed last.
    pub(super) attempt: AttemptId,
    /// When the credentials were had anew, if they were: once a step.
    pub(super) renewed: Option<Renewal>,
    /// How far it is.
    pub(super) state: CallState,
    /// What has come so far.
    pub(super) assembly: Assembly,
    /// When what has come is recorded; none while nothing waits for that.
    pub(super) flush: Option<Timestamp>,
    /// When something of it was recorded last.
    pub(super) flushed: Option<Timestamp>,
}

/// After which attempt of a step its credentials were had anew. It and those before it do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Renewal {
    /// The attempt.
    pub(super) attempt: u32,
    /// How many of those up to it were refused as too long, which does not count either.
    pub(super) refused: u32,
}

/// How far an attempt is, and until when that may last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum CallState {
    /// The request is being made.
    Connecting { until: Timestamp },
    /// The provider has accepted it and said nothing yet.
    Waiting { until: Timestamp },
    /// The answer is coming.
    Streaming { until: Timestamp },
    /// The model is done, for that reason. After that time nothing more is waited for.
    Ending { until: Timestamp, reason: FinishReason },
    /// It failed; the next attempt is made then.
    Pausing { until: Timestamp },
}

/// A tool call that occupies a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tool {
    /// What is called.
    pub(super) input: CallInput,
    /// Whether others may run beside it.
    pub(super) overlaps: bool,
    /// Since when it runs; none while it is looked at.
    pub(super) started: Option<Timestamp>,
    /// Whether a person is asked about it.
    pub(super) asked: bool,
    /// By when that must have ended; none if it has a bound of its own.
    pub(super) until: Option<Timestamp>,
    /// Whether it was told to stop because it had not.
    pub(super) overdue: bool,
    /// How many bytes of its output have been recorded while it runs.
    pub(super) shown: usize,
}
