//! The record: every request that arrived, what it said and how it was judged.

use super::{http::Request, lock, reject::Rejection};
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
    /// The HTTP method; empty when the head could not be read.
    pub method: String,
    /// The request target without its query.
    pub path: String,
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
        Self {
            index,
            method: request.method.clone(),
            path: request.path().to_owned(),
            headers: request.headers.clone(),
            text: String::from_utf8_lossy(&request.body).into_owned(),
            body: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
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

    /// Whether it asked for a completion.
    pub fn is_completion(&self) -> bool {
        self.method == "POST" && self.path == super::serve::COMPLETIONS
    }

    /// The conversation it sent; empty when it sent none.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The text of the last user message, with the text of its parts joined.
    pub fn last_user_text(&self) -> String {
        let last = self.messages().iter().rev().find(|message| message["role"] == "user");
        last.map(|message| content_text(&message["content"])).unwrap_or_default()
    }

    /// The call id and content of each tool message, in order.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let tools = self.messages().iter().filter(|message| message["role"] == "tool");
        tools
            .map(|message| (content_text(&message["tool_call_id"]), content_text(&message["content"])))
            .collect()
    }

    /// The names of the tools it offered, in order.
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().map(|tool| content_text(&tool["function"]["name"])).collect()
    }
}

fn content_text(content: &Value) -> String {
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
