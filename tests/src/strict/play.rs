//! Playing: sending one answer over a connection, with its waits and its faults.

use super::{
    answer::{Answer, Reply, Step, Trouble},
    http::{Body, EndKind, Interrupted, head, respond},
    record::Recorded,
    stop::Stop,
};
use std::{
    io::Read,
    net::{Shutdown, TcpStream},
    time::Duration,
};

/// Why a connection ends after an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The script closes it.
    Close,
    /// The script resets it.
    Reset,
    /// The client closed it first.
    HungUp,
    /// The server is ending.
    Stopped,
}

impl From<Interrupted> for Halt {
    fn from(interrupted: Interrupted) -> Self {
        match interrupted {
            Interrupted::Cut(EndKind::Reset) => Self::Reset,
            Interrupted::Cut(EndKind::Close | EndKind::InsideChunk) => Self::Close,
            Interrupted::Gone => Self::HungUp,
        }
    }
}

impl From<std::io::Error> for Halt {
    fn from(_: std::io::Error) -> Self {
        Self::HungUp
    }
}

/// What playing needs.
pub(super) struct Stage<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) stop: &'a Stop,
    /// Whether the response announces that the connection stays open.
    pub(super) keep_alive: bool,
}

impl Stage<'_> {
    /// Answers `request`; the connection can be used again unless this says how it halted.
    pub(super) fn play(&self, answer: &Answer, request: &Recorded) -> Result<(), Halt> {
        self.sleep(answer.delay_headers)?;
        if let Some(gate) = &answer.hold_headers {
            self.step_gate(gate)?;
        }
        if answer.stall_headers {
            return Err(self.stall());
        }
        match &answer.reply {
            Reply::Stream => self.stream(answer, request),
            Reply::Status(status, body) => {
                Ok(respond(self.stream, *status, &self.plain_headers(answer, body), body)?)
            }
            Reply::Error(trouble) => {
                let (status, body) = failure(trouble, request);
                Ok(respond(self.stream, status, &self.plain_headers(answer, &body), &body)?)
            }
            Reply::Close => Err(Halt::Close),
            Reply::Reset => Err(Halt::Reset),
        }
    }

    fn stream(&self, answer: &Answer, request: &Recorded) -> Result<(), Halt> {
        let own = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")];
        head(self.stream, 200, &self.headers(&own, &answer.headers), ("transfer-encoding", "chunked"))?;
        self.sleep(answer.delay_first)?;
        let mut body = Body::new(self.stream, answer.cut, answer.split);
        let mut gap = Duration::ZERO;
        for step in answer.steps(request) {
            if matches!(step, Step::Send(_)) {
                self.sleep(gap)?;
                gap = answer.gap;
            }
            self.step(&step, &mut body)?;
        }
        Ok(body.finish()?)
    }

    fn step(&self, step: &Step, body: &mut Body<'_>) -> Result<(), Halt> {
        match step {
            Step::Send(text) => Ok(body.send(text.as_bytes())?),
            Step::Hold(gate) => self.step_gate(gate),
            Step::Pause(time) => self.sleep(*time),
            Step::Stall => Err(self.stall()),
        }
    }

    fn step_gate(&self, gate: &super::Gate) -> Result<(), Halt> {
        if self.stop.hold(gate) { Ok(()) } else { Err(Halt::Stopped) }
    }

    fn sleep(&self, time: Duration) -> Result<(), Halt> {
        if self.stop.sleep(time) { Ok(()) } else { Err(Halt::Stopped) }
    }

    /// Waits until the connection ends, from either side.
    fn stall(&self) -> Halt {
        drain(self.stream);
        if self.stop.is_set() { Halt::Stopped } else { Halt::HungUp }
    }

    /// Writes a plain response of the provider's own.
    pub(super) fn respond(&self, status: u16, body: &str) -> Result<(), Halt> {
        let headers = self.headers(&[("content-type", "application/json")], &[]);
        Ok(respond(self.stream, status, &headers, body)?)
    }

    fn plain_headers(&self, answer: &Answer, body: &str) -> Vec<(String, String)> {
        let json = body.trim_start().starts_with(['{', '[']);
        let kind = if json { "application/json" } else { "text/plain; charset=utf-8" };
        self.headers(&[("content-type", kind)], &answer.headers)
    }

    /// The provider's `own` header fields, but for those that the script gives.
    fn headers(&self, own: &[(&str, &str)], scripted: &[(String, String)]) -> Vec<(String, String)> {
        let connection = if self.keep_alive { "keep-alive" } else { "close" };
        let own = own.iter().copied().chain([("connection", connection), ("x-request-id", "req_strict")]);
        let kept = own.filter(|(name, _)| !scripted.iter().any(|(given, _)| given == name));
        kept.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .chain(scripted.iter().cloned())
            .collect()
    }
}

/// The status and the body of a failure, in the form of the protocol that `request` speaks.
fn failure(trouble: &Trouble, request: &Recorded) -> (u16, String) {
    let dialect = request.protocol.dialect();
    let why = match trouble {
        Trouble::Other(why) => why.clone(),
        Trouble::RateLimited => dialect.rate_limited(),
        Trouble::ContextExceeded => dialect.context_exceeded(),
        Trouble::WrongKey => dialect.wrong_key(),
        Trouble::UnknownModel => dialect.unknown_model(&request.model),
    };
    (why.status, dialect.error_body(&why).to_string())
}

/// Reads and forgets everything until the client closes or the server ends.
fn drain(stream: &TcpStream) {
    let mut stream = stream;
    let mut bytes = [0; 4096];
    while matches!(stream.read(&mut bytes), Ok(count) if count > 0) {}
}

/// Ends a connection in the way that `halt` asks for; the caller drops the socket next.
pub(super) fn end(stream: &TcpStream, halt: &Halt) {
    if *halt == Halt::Reset {
        let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
    }
}

/// Closes a connection whose request was not read to its end, so that the client still gets the response.
pub(super) fn close_after_refusal(stream: &TcpStream) {
    if stream.shutdown(Shutdown::Write).is_ok() {
        drain(stream);
    }
}
