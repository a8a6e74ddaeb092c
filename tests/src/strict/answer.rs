//! Answers: what the provider says to one request, built fluently and without regard to a protocol.
//!
//! An answer is a sequence of pieces in the order of the building calls, and each piece becomes one or more events of
//! the protocol that the request speaks. Before the pieces may come an event that opens the answer, which is event 0:
//!
//! | | before | after |
//! | --- | --- | --- |
//! | chat completions | the chunk that only names the role | the chunk with the finish reason, the usage chunk if asked for, `[DONE]` |
//! | Messages | `message_start` | `message_delta` with the finish reason and the usage, `message_stop` |
//! | Responses | `response.created`, `response.in_progress` | `response.completed` or `response.incomplete`, with the usage |
//! | Gemini | nothing | a chunk with the finish reason and the usage |
//!
//! Protocols that have blocks or items put events around those as well. A protocol that lacks something says nothing
//! where an answer has it.

mod call;
mod faults;
mod step;

pub use call::Call;
pub(super) use step::Step;

use super::{
    gate::Gate,
    http::{Cut, Split},
    reject::Rejection,
    sse,
};
use serde_json::Value;
use std::time::Duration;

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) reply: Reply,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay_headers: Duration,
    pub(super) delay_first: Duration,
    pub(super) gap: Duration,
    pub(super) hold_headers: Option<Gate>,
    pub(super) stall_headers: bool,
    pub(super) cut: Option<Cut>,
    pub(super) split: Split,
    pub(super) pieces: Vec<Piece>,
    pub(super) at: Vec<(usize, Step)>,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) usage_on_finish: bool,
    pub(super) id: bool,
    pub(super) role: bool,
    pub(super) tail: bool,
    pub(super) done: bool,
    pub(super) crlf: bool,
    pub(super) reasoning_field: String,
}

/// What kind of response it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A streamed answer.
    Stream,
    /// A refusal or failure, in the protocol's form.
    Error(Trouble),
    /// A plain response.
    Status(u16, String),
    /// The connection is closed without a byte.
    Close,
    /// The connection is reset without a byte.
    Reset,
}

/// What is wrong with a request or the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// What the script says.
    Other(Rejection),
    /// The client asks too often.
    RateLimited,
    /// The conversation exceeds the model's context.
    ContextExceeded,
    /// The key is not the one that is known.
    WrongKey,
    /// The model is not known.
    UnknownModel,
}

/// A part of an answer.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Text.
    Text(String),
    /// Reasoning that is not sealed.
    Reasoning(String),
    /// Reasoning that has to come back as it was; without a text, nothing of it can be read.
    Sealed(String),
    /// A refusal to answer.
    Refusal(String),
    /// A tool call.
    Call(Call),
    /// An error in the place of more.
    Error(String),
    /// An event with this JSON.
    Event(Value),
    /// These bytes.
    Raw(String),
    /// Something that sends nothing.
    Step(Step),
}

/// What an answer cost, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// All input, with what was cached.
    pub(super) input: u64,
    /// All output, with the reasoning.
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) reasoning: u64,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            reply: Reply::Stream,
            headers: Vec::new(),
            delay_headers: Duration::ZERO,
            delay_first: Duration::ZERO,
            gap: Duration::ZERO,
            hold_headers: None,
            stall_headers: false,
            cut: None,
            split: Split::Pieces(usize::MAX),
            pieces: Vec::new(),
            at: Vec::new(),
            finish: None,
            usage: Some(Usage { input: 100, output: 20, cached: 0, reasoning: 0 }),
            usage_on_finish: false,
            id: true,
            role: true,
            tail: true,
            done: true,
            crlf: false,
            reasoning_field: "reasoning_content".to_owned(),
        }
    }
}

impl Answer {
    /// An answer that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer that says `text`.
    pub fn say(text: &str) -> Self {
        Self::new().text(text)
    }

    /// An answer that calls one tool.
    pub fn calling(id: &str, name: &str, arguments: Value) -> Self {
        Self::new().call(id, name, arguments)
    }

    /// Adds text, as one delta.
    pub fn text(self, text: &str) -> Self {
        self.piece_of(Piece::Text(text.to_owned()))
    }

    /// Adds text, as the given deltas.
    pub fn deltas<S: AsRef<str>>(self, deltas: impl IntoIterator<Item = S>) -> Self {
        deltas.into_iter().fold(self, |answer, delta| answer.text(delta.as_ref()))
    }

    /// Adds `text` in deltas of at most `size` bytes.
    pub fn text_in(self, text: &str, size: usize) -> Self {
        self.deltas(sse::pieces(text, size))
    }

    /// Adds the same delta `count` times.
    pub fn repeat(self, count: usize, delta: &str) -> Self {
        self.deltas(std::iter::repeat_n(delta, count))
    }

    /// Adds reasoning that is not sealed, as one delta.
    pub fn reasoning(self, text: &str) -> Self {
        self.piece_of(Piece::Reasoning(text.to_owned()))
    }

    /// Adds reasoning that the provider wants back as it was. Without a text, nothing of it can be read: a redacted
    /// block, an encrypted item without a summary, a signature alone. Chat completions have no seals, and tell the text.
    pub fn sealed(self, text: &str) -> Self {
        self.piece_of(Piece::Sealed(text.to_owned()))
    }

    /// Names the delta field that carries reasoning; `reasoning_content` unless set. In chat completions alone.
    pub fn reasoning_field(self, field: &str) -> Self {
        Self { reasoning_field: field.to_owned(), ..self }
    }

    /// Adds a refusal, as one delta; plain text in a protocol that has no other word for it.
    pub fn refusal(self, text: &str) -> Self {
        self.piece_of(Piece::Refusal(text.to_owned()))
    }

    /// Adds a tool call; several are parallel calls.
    pub fn call(self, id: &str, name: &str, arguments: Value) -> Self {
        self.with_call(Call::new(id, name, arguments))
    }

    /// Adds a tool call whose arguments are this text, which need not be JSON.
    pub fn call_raw(self, id: &str, name: &str, arguments: &str) -> Self {
        self.with_call(Call::raw(id, name, arguments))
    }

    /// Adds a tool call built in detail.
    pub fn with_call(self, call: Call) -> Self {
        self.piece_of(Piece::Call(call))
    }

    /// Sets the finish reason: `stop`, `length`, `tool_calls` or `content_filter`, which each protocol spells in its own
    /// way; any other text is told as it is. Unless set, `tool_calls` when there are calls and `stop` otherwise.
    pub fn finish(self, reason: &str) -> Self {
        Self { finish: Some(reason.to_owned()), ..self }
    }

    /// Sets the usage; 100 tokens in and 20 out unless set.
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.with_usage(Usage { input, output, cached: 0, reasoning: 0 })
    }

    /// Sets the usage with how much of the input was cached and how much of the output was reasoning.
    pub fn usage_details(self, input: u64, cached: u64, output: u64, reasoning: u64) -> Self {
        self.with_usage(Usage { input, output, cached, reasoning })
    }

    /// Tells no usage even where the protocol always does or the request asks for it.
    pub fn no_usage(self) -> Self {
        Self { usage: None, ..self }
    }

    /// Tells the usage in the chunk with the finish reason, asked or not, rather than in a chunk of its own. In chat
    /// completions alone: the others have but one way.
    pub fn usage_on_finish(self) -> Self {
        Self { usage_on_finish: true, ..self }
    }

    /// Leaves the answer's id out wherever it would be told.
    pub fn no_id(self) -> Self {
        Self { id: false, ..self }
    }

    /// Leaves out what opens the answer, before the first piece.
    pub fn no_role(self) -> Self {
        Self { role: false, ..self }
    }

    /// Leaves out what only says that the stream is over: `[DONE]` of chat completions, `message_stop` of Messages.
    pub fn no_done(self) -> Self {
        Self { done: false, ..self }
    }

    /// Ends the body in good order after the pieces: nothing that is open is closed, and nothing says how it ended.
    pub fn no_tail(self) -> Self {
        Self { tail: false, ..self }
    }

    /// Ends lines with CR LF, as the event stream format allows.
    pub fn crlf(self) -> Self {
        Self { crlf: true, ..self }
    }

    /// Adds a header field to the response; one given by the script replaces the provider's own.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Why it ends, in the neutral words.
    pub(super) fn finish_reason(&self) -> &str {
        match &self.finish {
            Some(reason) => reason,
            None if self.calls().next().is_some() => "tool_calls",
            None => "stop",
        }
    }

    /// Its calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.pieces.iter().filter_map(|piece| if let Piece::Call(call) = piece { Some(call) } else { None })
    }

    fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    fn piece_of(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}
