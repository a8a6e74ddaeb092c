//! What a conversation is made of: messages, their blocks, the outcomes of tool calls, finishes and usage.
//!
//! The shape makes illegal histories unwritable where it can: a tool call's outcome is a slot of the call itself, so
//! there can be neither two of them nor one without a call. How this becomes a provider's request: `history`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{CallId, MessageId, PromptId, StepId, TurnId};
use crate::model::ModelRef;

/// One message of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its number in the session.
    pub id: MessageId,
    /// What it says.
    pub body: MessageBody,
}

/// What a message says, by who says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MessageBody {
    /// A person's prompt.
    User(UserMessage),
    /// A model's answer with the outcomes of its tool calls.
    Assistant(AssistantMessage),
    /// What stands for all before it: a record of the conversation, and never an instruction.
    Summary(String),
}

impl MessageBody {
    /// Whether it is an answer of that turn.
    pub fn is_answer_of(&self, turn: TurnId) -> bool {
        match self {
            MessageBody::Assistant(answer) => answer.step.turn == turn,
            MessageBody::User(_) | MessageBody::Summary(_) => false,
        }
    }
}

/// A prompt as it stands in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The turn that it began or joined.
    pub turn: TurnId,
    /// The prompt that it came from.
    pub prompt: PromptId,
    /// What was written.
    pub text: String,
    /// What was attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A file that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The name under which the model is told of it.
    pub name: String,
    /// Its media type, such as `text/plain`.
    pub media_type: String,
    /// Its content: the text itself, or base64 for what is not text.
    pub data: String,
}

/// A model's answer: one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The step that it is the answer of.
    pub step: StepId,
    /// Who answered.
    pub model: ModelRef,
    /// The content, in the order in which it was streamed.
    pub blocks: Vec<Block>,
    /// How the answer ended; none while it is being streamed.
    pub finish: Option<Finish>,
}

/// A piece of a model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// What it says.
    Text(String),
    /// What it thought.
    Reasoning(Reasoning),
    /// A tool that it calls.
    Call(ToolCall),
}

impl Block {
    /// The same without what its provider has sealed.
    pub fn unsealed(&self) -> Self {
        match self.clone() {
            Block::Text(text) => Block::Text(text),
            Block::Reasoning(reasoning) => Block::Reasoning(Reasoning { opaque: None, ..reasoning }),
            Block::Call(call) => Block::Call(ToolCall { opaque: None, ..call }),
        }
    }
}

/// A stretch of reasoning, with whatever its provider wants back word for word.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The readable part; may be empty.
    pub text: String,
    /// A signature, an encrypted block or the like, as JSON text, verbatim; goes only to the model family it came
    /// from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
}

/// A model's wish to have a tool run, with what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Our number for it.
    pub id: CallId,
    /// The provider's name for it: data, and not always unique.
    pub provider_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as the JSON text that the model wrote.
    pub input: String,
    /// A provider's signature on the call, as JSON text, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
    /// What came of it; none until it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolOutcome>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it was asked to.
    Ok,
    /// It ran, or could not be run, and failed.
    Error,
    /// It was not allowed.
    Denied,
    /// It was cancelled, before or while it ran.
    Cancelled,
    /// The process that ran it ended; whether it acted is unknown.
    Interrupted,
    /// The turn ended before it was its turn.
    NotReached,
}

/// What came of a tool call: what the model is told, and what people are shown beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// How it ended.
    pub status: ToolStatus,
    /// What the model is told.
    pub text: String,
    /// Facts for people and programs (exit code, diff, counts), as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// Pictures and the like that the model may look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Attachment>,
}

impl ToolOutcome {
    /// An outcome of nothing but text.
    pub fn text(status: ToolStatus, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), metadata: None, media: Vec::new() }
    }

    /// The outcome of a call that was cancelled before it was started.
    pub fn never_started() -> Self {
        Self::text(ToolStatus::Cancelled, "The user cancelled this before it was started; nothing was done.")
    }
}

/// How a model's answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// The model was done.
    EndTurn,
    /// The model wants its tools run.
    ToolUse,
    /// The model's output limit cut it.
    MaxTokens,
    /// The provider withheld it.
    ContentFilter,
    /// Somebody cancelled it.
    Cancelled,
    /// It failed.
    Error(ErrorInfo),
    /// The process that received it ended.
    Interrupted,
    /// The provider gave a reason that is not known, or none.
    Unknown,
}

/// What went wrong, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// The kind, for programs.
    pub class: ErrorClass,
    /// What happened: a sentence that also says what to do, unless there is advice.
    pub message: String,
    /// What the other side said, if it said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// What to do, for the end of the sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl ErrorInfo {
    /// An error of that kind, without details and advice.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), details: None, advice: None }
    }

    /// What happened, what the other side said of it, and what to do.
    pub fn sentence(&self) -> String {
        let mut text = self.message.clone();
        if let Some(details) = &self.details {
            text = format!("{text}: {}", details.trim_end_matches('.'));
        }
        match &self.advice {
            Some(advice) => format!("{text}; {advice}."),
            None => text,
        }
    }
}

/// The kinds of error that a run can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The provider answered with an error or cannot be understood.
    Provider,
    /// The provider could not be reached, or the connection broke.
    Transport,
    /// The provider was silent for too long.
    Timeout,
    /// The provider refused the credentials, or there are none.
    Credentials,
    /// No provider is configured for what was asked.
    NoProvider,
    /// The model is not known, here or to its provider.
    UnknownModel,
    /// The request or the configuration is wrong.
    Usage,
    /// The provider asks to wait longer than we are willing to.
    RateLimit,
    /// The account's quota is used up.
    Quota,
    /// The conversation does not fit the model's context window.
    Context,
    /// Records could not be written or read.
    Storage,
    /// Something here is wrong.
    Internal,
    /// The answer does not satisfy its run's schema.
    Schema,
}

/// Tokens that were used, by kind. Billed once each: no kind is part of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read at the full price.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Of the tokens written, how many were reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another's tokens; a sum that does not fit stays at the largest number.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// How many tokens the model had before it and wrote: the size of the context after the step.
    pub fn context(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(self.input, |sum, n| sum.saturating_add(*n))
    }
}

impl AssistantMessage {
    /// The calls of the answer, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Reasoning(_) => None,
        })
    }

    /// The call with that id.
    pub fn call(&self, id: CallId) -> Option<&ToolCall> {
        self.calls().find(|call| call.id == id)
    }

    /// The call with that id, to be changed.
    pub fn call_mut(&mut self, id: CallId) -> Option<&mut ToolCall> {
        self.blocks.iter_mut().find_map(|block| match block {
            Block::Call(call) if call.id == id => Some(call),
            Block::Call(_) | Block::Text(_) | Block::Reasoning(_) => None,
        })
    }

    /// Whether its provider has sealed some of it.
    pub fn is_sealed(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Block::Text(_) => false,
            Block::Reasoning(reasoning) => reasoning.opaque.is_some(),
            Block::Call(call) => call.opaque.is_some(),
        })
    }

    /// All that it says, its blocks of text in order.
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

/// All that a list of blocks says.
pub fn text_of(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Text(part) => text.push_str(part),
            Block::Reasoning(_) | Block::Call(_) => {}
        }
    }
    text
}
