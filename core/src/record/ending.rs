//! How turns and runs end, in the words that programs rely on.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::Totals;
use crate::content::ErrorInfo;
use crate::ids::{MessageId, PromptId, RunId};

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnOutcome {
    /// The answer is complete.
    Completed,
    /// Somebody cancelled it.
    Cancelled(Reason),
    /// It failed.
    Failed(ErrorInfo),
    /// The process that ran it ended.
    Interrupted,
    /// A limit ended it.
    Limited(Reason, String),
    /// Nothing but denied calls for several steps ended it.
    Denied,
    /// A person denied a call.
    DeniedByPerson,
    /// The provider withheld the answer.
    Refused,
    /// The conversation has become too long; the run goes on once it is summed up.
    Continued,
}

/// The terminal record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    /// The run.
    pub run: RunId,
    /// The prompt that it was the life of.
    pub prompt: PromptId,
    /// How it ended.
    pub status: RunStatus,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people: one sentence; empty if all went well.
    pub message: String,
    /// The last message with text, if there is one: the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<MessageId>,
    /// What the whole run used.
    pub totals: Totals,
    /// How long it took from acceptance, in milliseconds.
    pub duration: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The answer is complete.
    Ok,
    /// Something failed.
    Error,
    /// Somebody cancelled it.
    Cancelled,
    /// A limit ended it.
    Limit,
    /// Denials ended it.
    Denied,
}

/// Why a run ended, as a word that programs can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The answer is complete.
    Completed,
    /// The provider failed after the retries it deserved.
    Provider,
    /// The provider withheld the answer.
    Refusal,
    /// Records could not be written or read.
    Storage,
    /// Something here is wrong.
    Internal,
    /// The process that ran it ended.
    Interrupted,
    /// A tool failed, under `--fail-on-tool-error`.
    ToolError,
    /// The answer did not satisfy the schema.
    Schema,
    /// Bad usage or configuration, or an unknown session.
    Usage,
    /// The model is not known.
    UnknownModel,
    /// No provider is configured.
    NoProvider,
    /// Credentials were refused or are missing.
    Credentials,
    /// The model's output limit cut the answer.
    OutputLimit,
    /// The turn had as many steps as it may have.
    MaxSteps,
    /// The run cost as much as it may.
    MaxCost,
    /// The run took as long as it may.
    Timeout,
    /// The provider asked for a longer wait than is allowed.
    MaxWait,
    /// The model repeated itself.
    Repetition,
    /// The conversation cannot be made to fit.
    Context,
    /// Every call of three steps in a row was denied, or a person's denial ended the turn.
    Denied,
    /// The prompt was returned before it began.
    Returned,
    /// The server was lost.
    ServerLost,
    /// Another client cancelled it.
    Client,
    /// The server shut down.
    Shutdown,
    /// The user asked for it.
    User,
    /// SIGHUP.
    Sighup,
    /// SIGINT.
    Sigint,
    /// SIGTERM.
    Sigterm,
    /// The reader of the output went away.
    OutputClosed,
}
