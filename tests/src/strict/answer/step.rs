//! Steps: what playing an answer comes to, whatever the protocol.

use super::Answer;
use crate::strict::{gate::Gate, http::Split, record::Recorded, sse};
use serde_json::Value;
use std::time::Duration;

/// One step of playing an answer.
#[derive(Clone, Debug)]
pub(in crate::strict) enum Step {
    /// Sends an event.
    Send(String),
    /// Waits at a gate.
    Hold(Gate),
    /// Waits for the client to hang up.
    Stall,
    /// Waits.
    Pause(Duration),
}

impl Step {
    /// Sends an event without a name.
    pub(in crate::strict) fn event(data: &Value) -> Self {
        Self::Send(sse::event(data))
    }

    /// Sends an event that is named by its `type`.
    pub(in crate::strict) fn named(data: &Value) -> Self {
        Self::Send(sse::named(data))
    }
}

impl Answer {
    /// The steps that answer `request`.
    pub(in crate::strict) fn steps(&self, request: &Recorded) -> Vec<Step> {
        let mut steps = insert_at(request.protocol.dialect().steps(self, request), &self.at);
        if self.crlf {
            steps.iter_mut().for_each(use_crlf);
        }
        match self.split {
            Split::Pieces(_) => steps,
            Split::Random(_) => joined(steps),
        }
    }
}

/// Makes one of events that nothing stands between, so that chunks can hold the end of one and the beginning of another.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        match (all.last_mut(), step) {
            (Some(Step::Send(before)), Step::Send(text)) => before.push_str(&text),
            (_, step) => all.push(step),
        }
    }
    all
}

/// Puts each of `extra` before the event it names, or at the end when there is no such event.
fn insert_at(steps: Vec<Step>, extra: &[(usize, Step)]) -> Vec<Step> {
    let mut all = Vec::new();
    let mut event = 0;
    for step in steps {
        if matches!(step, Step::Send(_)) {
            all.extend(extra.iter().filter(|(n, _)| *n == event).map(|(_, step)| step.clone()));
            event += 1;
        }
        all.push(step);
    }
    all.extend(extra.iter().filter(|(n, _)| *n >= event).map(|(_, step)| step.clone()));
    all
}

fn use_crlf(step: &mut Step) {
    if let Step::Send(text) = step {
        *text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
}
