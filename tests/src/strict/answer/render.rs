//! Rendering: from the pieces of an answer to the steps that play it.

use super::{Answer, Call, Piece};
use crate::strict::{
    gate::Gate,
    record::Recorded,
    sse::{self, Envelope},
};
use serde_json::{Value, json};
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

impl Answer {
    /// The steps that answer `request`.
    pub(in crate::strict) fn steps(&self, request: &Recorded) -> Vec<Step> {
        let envelope = self.envelope(request);
        let mut steps = Vec::new();
        if self.role {
            steps.push(send(&envelope.chunk(self.role_delta(), None)));
        }
        let mut place = 0;
        for piece in &self.pieces {
            steps.extend(self.piece_steps(piece, &envelope, place));
            place += usize::from(matches!(piece, Piece::Call(_)));
        }
        if self.tail {
            steps.extend(self.tail_steps(&envelope));
        }
        let mut steps = insert_at(steps, &self.at);
        if self.crlf {
            steps.iter_mut().for_each(use_crlf);
        }
        steps
    }

    fn envelope(&self, request: &Recorded) -> Envelope {
        Envelope {
            id: self.id.then(|| format!("chatcmpl-{}", request.index)),
            model: request.body["model"].as_str().unwrap_or_default().to_owned(),
            include_usage: request.body["stream_options"]["include_usage"] == true,
        }
    }

    /// The real API opens with an empty text, or with none when the answer is all calls.
    fn role_delta(&self) -> Value {
        let content = if self.calls() && !self.speaks() { Value::Null } else { json!("") };
        json!({"role": "assistant", "content": content, "refusal": null})
    }

    fn piece_steps(&self, piece: &Piece, envelope: &Envelope, place: usize) -> Vec<Step> {
        let delta = |delta: Value| send(&envelope.chunk(delta, None));
        match piece {
            Piece::Text(text) => vec![delta(json!({"content": text}))],
            Piece::Reasoning(text) => vec![delta(json!({self.reasoning_field.as_str(): text}))],
            Piece::Refusal(text) => vec![delta(json!({"refusal": text}))],
            Piece::Call(call) => call_deltas(call, place).into_iter().map(delta).collect(),
            Piece::Event(data) => vec![send(data)],
            Piece::Raw(text) => vec![Step::Send(text.clone())],
            Piece::Step(step) => vec![step.clone()],
        }
    }

    fn tail_steps(&self, envelope: &Envelope) -> Vec<Step> {
        let reason = self.finish_reason();
        let mut steps = Vec::new();
        match self.usage {
            Some(usage) if self.usage_on_finish => {
                steps.push(send(&envelope.finish_with_usage(reason, usage)))
            }
            Some(usage) if envelope.include_usage => {
                steps.push(send(&envelope.chunk(json!({}), Some(reason))));
                steps.push(send(&envelope.usage(usage)));
            }
            _ => steps.push(send(&envelope.chunk(json!({}), Some(reason)))),
        }
        if self.done {
            steps.push(Step::Send(sse::done()));
        }
        steps
    }

    fn finish_reason(&self) -> &str {
        match &self.finish {
            Some(reason) => reason,
            None if self.calls() => "tool_calls",
            None => "stop",
        }
    }

    fn calls(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Call(_)))
    }

    fn speaks(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(_)))
    }
}

fn call_deltas(call: &Call, place: usize) -> Vec<Value> {
    call.deltas(place).into_iter().map(|call| json!({"tool_calls": [call]})).collect()
}

fn send(data: &Value) -> Step {
    Step::Send(sse::event(data))
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
        *text = text.replace('\n', "\r\n");
    }
}
