//! The facts that a session's log consists of. Its durable state is a fold over them (`session::Durable`), and what
//! subscribers see is the log itself.
//!
//! Variants and fields are only ever added. A reader that meets a type it does not know skips the record; the log
//! keeps it.

mod ending;
mod kind;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::{Block, Finish, Message, ToolOutcome, Usage};
use crate::ids::{AttemptId, CallId, ClientId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use crate::model::{CallError, ModelRef, Preparation};
use crate::prompt::Prompt;
use crate::todos::Todo;
use crate::tools::{Ask, Rule};

pub use crate::totals::{ToolCounts, Totals};
pub use ending::{Reason, RunFinished, RunStatus, TurnOutcome};
pub use kind::Strength;

/// One durable fact of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The session exists.
    SessionCreated {
        /// What people call it.
        title: String,
        /// The call that opened it, for a sub-agent's session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Parent>,
    },
    /// The session goes on from what another one had come to; from here on it stands alone.
    SessionForked {
        /// The other session.
        from: SessionId,
        /// Who gave it its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        titled_by: Option<TitleSource>,
        /// What had been said there.
        messages: Vec<Message>,
        /// The turn that came last there.
        turn: TurnId,
        /// What was to be done there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        todos: Vec<Todo>,
    },
    /// The session is called something else, or asking a model for that has cost something.
    TitleChanged {
        /// What people call it.
        title: String,
        /// Who says so.
        by: TitleSource,
        /// The tokens that a model used for it.
        #[serde(default)]
        usage: Usage,
        /// What they cost in micro-dollars; none if the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    },
    /// A prompt was accepted: from here on it has exactly one fate.
    PromptAccepted {
        /// Its place in the order of acceptance in this session, from 1.
        sequence: u64,
        /// The prompt.
        prompt: Prompt,
    },
    /// An accepted prompt waits behind the turn that is under way.
    PromptQueued {
        /// The prompt.
        prompt: PromptId,
    },
    /// A queued prompt joined the turn that is under way.
    PromptFolded {
        /// The prompt.
        prompt: PromptId,
        /// The turn.
        turn: TurnId,
        /// The message that it became.
        message: MessageId,
    },
    /// A prompt that was not run went back to its sender; it is not in the transcript.
    PromptReturned {
        /// The prompt.
        prompt: PromptId,
        /// Whose it was.
        client: ClientId,
        /// Its text, for the sender to use again.
        text: String,
        /// Why.
        reason: ReturnReason,
    },
    /// What the requests of later turns are made of, besides the conversation, has changed.
    Prepared {
        /// What it is from here on.
        preparation: Preparation,
    },
    /// A turn began: its prompt became a message.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The run that it belongs to.
        run: RunId,
        /// The prompt that it answers.
        prompt: PromptId,
        /// The message that the prompt became.
        message: MessageId,
    },
    /// The conversation has become too long for the model: a turn that sums it up began, for the run that is under way,
    /// or for none.
    SummaryStarted {
        /// The turn.
        turn: TurnId,
        /// About how many tokens the model is shown of the conversation.
        budget: u64,
    },
    /// The conversation was summed up: from here on the summary stands for all before it.
    SummaryFinished {
        /// The turn.
        turn: TurnId,
        /// The message that holds it.
        message: MessageId,
        /// The summary.
        text: String,
    },
    /// After a summary the run goes on with a turn that begins with its request.
    TurnContinued {
        /// The turn.
        turn: TurnId,
        /// The run.
        run: RunId,
        /// The prompt whose request it is.
        prompt: PromptId,
        /// The message that begins the turn.
        message: MessageId,
        /// Its text, in which the request is quoted.
        text: String,
        /// Whether the conversation is too long even so.
        #[serde(default)]
        crowded: bool,
    },
    /// What was said does not satisfy the schema that the run's answer must satisfy: the model is told why and asked again.
    AnswerRefused {
        /// The turn.
        turn: TurnId,
        /// The message that was to be the answer; none if no message had text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<MessageId>,
        /// What is wrong with it.
        problem: String,
        /// The prompt in whose name it is asked again.
        prompt: PromptId,
        /// The message that asks again.
        message: MessageId,
        /// Its text.
        text: String,
    },
    /// A step began: the message that the model's answer will fill.
    StepStarted {
        /// The step.
        step: StepId,
        /// The message.
        message: MessageId,
        /// Who is asked.
        model: ModelRef,
    },
    /// A request for a step's answer is about to be made.
    AttemptStarted {
        /// The attempt.
        attempt: AttemptId,
    },
    /// More of an answer's text.
    TextAppended {
        /// The message.
        message: MessageId,
        /// Which of its blocks.
        block: u32,
        /// The text to add.
        text: String,
    },
    /// More of an answer's reasoning.
    ReasoningAppended {
        /// The message.
        message: MessageId,
        /// Which of its blocks.
        block: u32,
        /// The text to add.
        text: String,
    },
    /// An attempt failed. If another one is made, what this one had streamed is void.
    AttemptFailed {
        /// The attempt.
        attempt: AttemptId,
        /// The message that it was filling.
        message: MessageId,
        /// Why it failed.
        error: CallError,
        /// What it used all the same.
        usage: Usage,
        /// What that cost in micro-dollars; none if the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
        /// Whether it failed because the conversation is too long for the model.
        #[serde(default)]
        too_long: bool,
        /// Whether it failed because the provider does not know its own seals any more; they are not sent again.
        #[serde(default)]
        seals: bool,
        /// After how many milliseconds the next attempt is made; none if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// An answer is complete or given up: from here on this is what it says.
    MessageFinished {
        /// The message.
        message: MessageId,
        /// All of it.
        blocks: Vec<Block>,
        /// How it ended.
        finish: Finish,
        /// What the attempt that it came from used.
        #[serde(default)]
        usage: Usage,
    },
    /// A tool call was allowed or denied by something other than the rule that lets it pass unasked.
    PermissionDecided {
        /// The call.
        call: CallId,
        /// Whether it may run.
        allowed: bool,
        /// Who or what decided: `policy`, an earlier `grant`, or a client.
        by: String,
        /// The sub-agent whose call it is, if it was asked for here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether a person decided. Their no ends the turn.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        person: bool,
        /// What was granted with it, for as long as the session lasts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        grants: Vec<Rule>,
    },
    /// A call needs permission, and whoever watches is asked for it.
    PermissionAsked {
        /// The session whose call it is: this one, or one of its sub-agents.
        session: SessionId,
        /// The call.
        call: CallId,
        /// What needs permission.
        ask: Ask,
    },
    /// Nobody needs to answer any more.
    PermissionWithdrawn {
        /// The session whose call it was about.
        session: SessionId,
        /// The call.
        call: CallId,
    },
    /// A tool call is about to run; it may have acted from here on.
    ToolCallStarted {
        /// The message.
        message: MessageId,
        /// The call.
        call: CallId,
    },
    /// A running tool said something.
    ToolOutputAppended {
        /// The call.
        call: CallId,
        /// What it said.
        text: String,
    },
    /// A tool call ended, whether it ran or not.
    ToolCallFinished {
        /// The message.
        message: MessageId,
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: ToolOutcome,
        /// How long it ran, in milliseconds; 0 if it did not.
        duration: u64,
    },
    /// A sub-agent has ended, and what it used is counted with the turn whose call opened it. The call's own end follows.
    SubAgentFinished {
        /// The call.
        call: CallId,
        /// The sub-agent's session.
        session: SessionId,
        /// How its run ended.
        status: RunStatus,
        /// The tokens that it used.
        usage: Usage,
        /// What they cost in micro-dollars; none if the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    },
    /// The model has written the list of what is to be done anew.
    TodosChanged {
        /// The whole list.
        todos: Vec<Todo>,
    },
    /// A step is over: its answer and all of its calls.
    StepFinished {
        /// The step.
        step: StepId,
        /// What the attempt that succeeded used.
        usage: Usage,
        /// What that cost in micro-dollars; none if the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
        /// How many tokens the conversation had after it.
        context: u64,
        /// Whether that is an estimate, because the provider said nothing about it.
        #[serde(default)]
        estimated: bool,
    },
    /// A cancel was accepted: nothing that it covers starts any more.
    CancelAccepted {
        /// What is cancelled.
        scope: CancelScope,
        /// The highest sequence that it covers.
        watermark: u64,
        /// Why, for the terminal records.
        reason: Reason,
    },
    /// A turn is over.
    TurnFinished {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        outcome: TurnOutcome,
        /// What it used, if it belonged to no run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        totals: Option<Totals>,
    },
    /// A run is over. Each run has exactly one of these.
    RunFinished(RunFinished),
}

/// Who says what a session is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// A model was asked.
    Model,
    /// A person, for good.
    Person,
}

/// The call that opened a sub-agent's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The session.
    pub session: SessionId,
    /// The message.
    pub message: MessageId,
    /// The call.
    pub call: CallId,
}

/// Why a prompt went back to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnReason {
    /// It was cancelled while it waited.
    Cancelled,
    /// The queue was cleared.
    Cleared,
    /// The process that had accepted it ended.
    Interrupted,
}

/// What a cancel is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CancelScope {
    /// Everything that the session has accepted.
    Session,
    /// One run.
    Run(RunId),
}
