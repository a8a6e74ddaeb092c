//! Answers: what the provider says to one request, built fluently.
//!
//! An answer is a sequence of pieces in the order of the building calls, and each piece becomes one or more events.
//! Event 0 is the chunk that only names the role. After the pieces come the chunk with the finish reason, the usage
//! chunk when the request asked for one, and `[DONE]`.

mod call;
mod faults;
mod render;

pub use call::Call;
pub(super) use render::Step;

use super::{
    gate::Gate,
    http::Cut,
    sse::{self, Usage},
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
    pub(super) piece: usize,
    pieces: Vec<Piece>,
    at: Vec<(usize, Step)>,
    finish: Option<String>,
    usage: Option<Usage>,
    usage_on_finish: bool,
    id: bool,
    role: bool,
    tail: bool,
    done: bool,
    crlf: bool,
    reasoning_field: String,
}

/// What kind of response it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A streamed completion.
    Stream,
    /// A plain response.
    Status(u16, String),
    /// The connection is closed without a byte.
    Close,
    /// The connection is reset without a byte.
    Reset,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Reasoning(String),
    Refusal(String),
    Call(Call),
    Event(Value),
    Raw(String),
    Step(Step),
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
            piece: usize::MAX,
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
    /// A completion that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A completion that says `text`.
    pub fn say(text: &str) -> Self {
        Self::new().text(text)
    }

    /// A completion that calls one tool.
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

    /// Adds reasoning, as one delta.
    pub fn reasoning(self, text: &str) -> Self {
        self.piece_of(Piece::Reasoning(text.to_owned()))
    }

    /// Names the delta field that carries reasoning; `reasoning_content` unless set.
    pub fn reasoning_field(self, field: &str) -> Self {
        Self { reasoning_field: field.to_owned(), ..self }
    }

    /// Adds a refusal, as one delta.
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

    /// Sets the finish reason; `tool_calls` when there are calls and `stop` otherwise unless set.
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

    /// Tells no usage even when the request asks for it.
    pub fn no_usage(self) -> Self {
        Self { usage: None, ..self }
    }

    /// Tells the usage in the chunk with the finish reason, asked or not, rather than in a chunk of its own.
    pub fn usage_on_finish(self) -> Self {
        Self { usage_on_finish: true, ..self }
    }

    /// Leaves the completion's id out of every chunk.
    pub fn no_id(self) -> Self {
        Self { id: false, ..self }
    }

    /// Leaves out the chunk that names the role.
    pub fn no_role(self) -> Self {
        Self { role: false, ..self }
    }

    /// Leaves out `[DONE]`.
    pub fn no_done(self) -> Self {
        Self { done: false, ..self }
    }

    /// Ends the body in good order after the pieces: no finish reason, no usage, no `[DONE]`.
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

    fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    fn piece_of(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}
