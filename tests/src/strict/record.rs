//! The record: every request that arrived, what it said and how it was judged.

use super::{
    http::Request,
    lock,
    protocol::{Aim, Protocol},
    reject::Rejection,
};
use serde_json::Value;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How a request was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was valid and the script answered it.
    Accepted,
    /// It was turned away.
    Rejected {
        /// The HTTP status it was answered with.
        status: u16,
        /// The error message it was answered with.
        message: String,
    },
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its place among all requests, from 0.
    pub index: usize,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The model that it names; empty when it names none.
    pub model: String,
    /// The HTTP method; empty when the head could not be read.
    pub method: String,
    /// The request target without its query.
    pub path: String,
    /// The query of the request target, without the question mark.
    pub query: String,
    /// The header fields in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub text: String,
    /// The body as JSON; `null` when it is not JSON.
    pub body: Value,
    /// How it was judged.
    pub verdict: Verdict,
}

impl Recorded {
    /// The record of `request` as the one numbered `index`, not yet refused.
    pub(super) fn new(index: usize, request: &Request) -> Self {
        let protocol = Protocol::of(request);
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        Self {
            index,
            protocol,
            model: protocol.model(request.path(), &body),
            method: request.method.clone(),
            path: request.path().to_owned(),
            query: request.query().to_owned(),
            headers: request.headers.clone(),
            text: String::from_utf8_lossy(&request.body).into_owned(),
            body,
            verdict: Verdict::Accepted,
        }
    }

    /// The same request, refused.
    pub(super) fn refused(self, why: &Rejection) -> Self {
        let verdict = Verdict::Rejected { status: why.status, message: why.message.clone() };
        Self { verdict, ..self }
    }

    /// The first value of the header field `name`, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether it was accepted.
    pub fn accepted(&self) -> bool {
        self.verdict == Verdict::Accepted
    }

    /// Whether it asked for an answer.
    pub fn is_completion(&self) -> bool {
        self.protocol.aim(&self.method, &self.path) == Ok(Aim::Answer)
    }

    /// The messages of a request of chat completions or Messages, as they were sent; empty when it sent none.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The conversation it sent, whatever the protocol.
    pub fn said(&self) -> Vec<Said> {
        self.protocol.dialect().said(&self.body)
    }

    /// All instructions, joined.
    pub fn system_text(&self) -> String {
        let said = self.said();
        said.iter()
            .filter_map(|said| if let Said::System(text) = said { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The texts of the user, in order.
    pub fn user_texts(&self) -> Vec<String> {
        let said = self.said().into_iter();
        said.filter_map(|said| if let Said::User(text) = said { Some(text) } else { None }).collect()
    }

    /// The last text of the user.
    pub fn last_user_text(&self) -> String {
        self.user_texts().pop().unwrap_or_default()
    }

    /// How often the assistant has spoken or called since the last text of the user.
    pub fn steps_since_user(&self) -> usize {
        let said = self.said();
        let since = said.iter().rev().take_while(|said| !matches!(said, Said::User(_)));
        since.filter(|said| matches!(said, Said::Assistant { .. })).count()
    }

    /// The call and the text of each result, in order.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let said = self.said().into_iter();
        said.filter_map(|said| if let Said::Result { call, text } = said { Some((call, text)) } else { None })
            .collect()
    }

    /// The names of the tools it offered, in order.
    pub fn tool_names(&self) -> Vec<String> {
        self.protocol.dialect().tool_names(&self.body)
    }
}

/// Something that a conversation says, whatever the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An instruction.
    System(String),
    /// The user says something; texts that stand together are one.
    User(String),
    /// The assistant says something, calls tools, or both.
    Assistant {
        /// What it says.
        text: String,
        /// The ids of the calls; their names where calls have no ids.
        calls: Vec<String>,
    },
    /// A call came to this.
    Result {
        /// The id of the call; its name where calls have no ids.
        call: String,
        /// What came of it.
        text: String,
    },
}

/// A text, or the texts of parts, joined.
pub(super) fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Everything that happened so far; waiting for more is by notification.
#[derive(Debug, Default)]
pub(super) struct Log {
    state: Mutex<State>,
    change: Condvar,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Recorded>,
    hang_ups: Vec<usize>,
}

impl Log {
    pub(super) fn len(&self) -> usize {
        lock(&self.state).requests.len()
    }

    pub(super) fn push(&self, recorded: Recorded) {
        lock(&self.state).requests.push(recorded);
        self.change.notify_all();
    }

    /// Notes that the client closed before the answer to request `index` was complete.
    pub(super) fn hang_up(&self, index: usize) {
        lock(&self.state).hang_ups.push(index);
        self.change.notify_all();
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        lock(&self.state).requests.clone()
    }

    pub(super) fn hang_ups(&self) -> Vec<usize> {
        lock(&self.state).hang_ups.clone()
    }

    pub(super) fn wait_for_requests(&self, count: usize, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.requests.len() >= count)
    }

    pub(super) fn wait_for_hang_ups(&self, count: usize, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.hang_ups.len() >= count)
    }

    fn wait(&self, timeout: Duration, done: impl Fn(&State) -> bool) -> bool {
        let state: MutexGuard<'_, State> = lock(&self.state);
        let waited = self.change.wait_timeout_while(state, timeout, |state| !done(state));
        done(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}
