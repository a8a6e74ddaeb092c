//! Faults: everything that can go wrong with an answer, on demand.

use super::{Answer, Piece, Reply, Step, Trouble};
use crate::strict::{
    gate::Gate,
    http::{Cut, EndKind, Split},
    reject::Rejection,
    sse,
};
use serde_json::Value;
use std::time::Duration;

/// Answers that are no answers.
impl Answer {
    /// A plain response with this status and body.
    pub fn status(code: u16, body: &str) -> Self {
        Self { reply: Reply::Status(code, body.to_owned()), ..Self::new() }
    }

    /// A plain response with this status and the error body of the protocol.
    pub fn error(code: u16, message: &str) -> Self {
        Self::trouble(Trouble::Other(Rejection::new(code, message)))
    }

    /// Status 429 that asks the client to wait `seconds`, which is any text a server may put there.
    pub fn rate_limited(seconds: &str) -> Self {
        Self::trouble(Trouble::RateLimited).header("retry-after", seconds)
    }

    /// Status 400 with the error that says the conversation exceeds the model's context.
    pub fn context_exceeded() -> Self {
        Self::trouble(Trouble::ContextExceeded)
    }

    /// The refusal of a key that is not known.
    pub fn wrong_key() -> Self {
        Self::trouble(Trouble::WrongKey)
    }

    /// The refusal of the model that the request names.
    pub fn unknown_model() -> Self {
        Self::trouble(Trouble::UnknownModel)
    }

    /// Closes the connection without a byte.
    pub fn close() -> Self {
        Self { reply: Reply::Close, ..Self::new() }
    }

    /// Resets the connection without a byte.
    pub fn reset() -> Self {
        Self { reply: Reply::Reset, ..Self::new() }
    }
}

/// Time.
impl Answer {
    /// Waits before the response's head.
    pub fn delay_headers(self, time: Duration) -> Self {
        Self { delay_headers: time, ..self }
    }

    /// Waits between the response's head and its first event.
    pub fn delay_first(self, time: Duration) -> Self {
        Self { delay_first: time, ..self }
    }

    /// Waits between any two events.
    pub fn gap(self, time: Duration) -> Self {
        Self { gap: time, ..self }
    }

    /// Waits at this point.
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Waits at `gate` before the response's head.
    pub fn gate_headers(self, gate: &Gate) -> Self {
        Self { hold_headers: Some(gate.clone()), ..self }
    }

    /// Waits at `gate` at this point.
    pub fn gate(self, gate: &Gate) -> Self {
        self.step(Step::Hold(gate.clone()))
    }

    /// Waits at `gate` before event `n`; after the last event when there are fewer.
    pub fn gate_at(self, n: usize, gate: &Gate) -> Self {
        self.step_at(n, Step::Hold(gate.clone()))
    }

    /// Never sends the response's head. A stall ends when the client hangs up or the provider is dropped.
    pub fn stall_headers(self) -> Self {
        Self { stall_headers: true, ..self }
    }

    /// Sends nothing from this point on.
    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    /// Sends nothing from event `n` on.
    pub fn stall_at(self, n: usize) -> Self {
        self.step_at(n, Step::Stall)
    }
}

/// Bytes.
impl Answer {
    /// Closes the connection after `n` bytes of the body, between two chunks; at its end when it is shorter.
    pub fn cut_at(self, n: usize) -> Self {
        self.cut(n, EndKind::Close)
    }

    /// Resets the connection after `n` bytes of the body; at its end when it is shorter.
    pub fn reset_at(self, n: usize) -> Self {
        self.cut(n, EndKind::Reset)
    }

    /// Closes the connection after `n` bytes of the body, inside a chunk that announced more.
    pub fn truncate_chunk_at(self, n: usize) -> Self {
        self.cut(n, EndKind::InsideChunk)
    }

    /// Sends the body one byte at a time, each in a chunk of its own.
    pub fn dribble(self) -> Self {
        self.chunks_of(1)
    }

    /// Sends the body in chunks of at most `size` bytes and of one event.
    pub fn chunks_of(self, size: usize) -> Self {
        Self { split: Split::Pieces(size), ..self }
    }

    /// Sends the body in chunks of random sizes, regardless of where events begin and end; the same seed makes the same
    /// sizes.
    pub fn chunks_at_random(self, seed: u64) -> Self {
        Self { split: Split::Random(seed), ..self }
    }

    /// Adds a comment, such as the keep-alive lines that proxies send; it counts as an event.
    pub fn comment(self, text: &str) -> Self {
        self.piece_of(Piece::Raw(sse::comment(text)))
    }

    /// Adds an event with this JSON, which bears the name of its `type` where the protocol names events.
    pub fn event(self, data: Value) -> Self {
        self.piece_of(Piece::Event(data))
    }

    /// Adds this text and an empty line as they are: a line of no known field, or `data:` that is not JSON.
    pub fn garbage(self, line: &str) -> Self {
        self.piece_of(Piece::Raw(format!("{line}\n\n")))
    }

    /// Adds an event that carries an error, and ends the body in good order after the pieces.
    pub fn error_event(self, message: &str) -> Self {
        self.piece_of(Piece::Error(message.to_owned())).no_tail()
    }
}

impl Answer {
    fn trouble(trouble: Trouble) -> Self {
        Self { reply: Reply::Error(trouble), ..Self::new() }
    }

    fn step(self, step: Step) -> Self {
        self.piece_of(Piece::Step(step))
    }

    fn step_at(mut self, n: usize, step: Step) -> Self {
        self.at.push((n, step));
        self
    }

    fn cut(self, at: usize, end: EndKind) -> Self {
        Self { cut: Some(Cut { at, end }), ..self }
    }
}
