//! Rendering: from the pieces of an answer to the chunks of a completion.

use super::{
    chunk::{Envelope, call_deltas},
    failures,
};
use crate::strict::{
    answer::{Answer, Piece, Step},
    record::Recorded,
};
use serde_json::{Value, json};

/// The steps that answer `request`.
pub(super) fn steps(answer: &Answer, request: &Recorded) -> Vec<Step> {
    let envelope = envelope(answer, request);
    let mut steps = Vec::new();
    if answer.role {
        steps.push(Step::event(&envelope.chunk(role_delta(answer), None)));
    }
    let mut place = 0;
    for piece in &answer.pieces {
        steps.extend(piece_steps(answer, piece, &envelope, place));
        place += usize::from(matches!(piece, Piece::Call(_)));
    }
    if answer.tail {
        steps.extend(tail_steps(answer, &envelope));
    }
    steps
}

fn envelope(answer: &Answer, request: &Recorded) -> Envelope {
    Envelope {
        id: answer.id.then(|| format!("chatcmpl-{}", request.index)),
        model: request.model.clone(),
        include_usage: request.body["stream_options"]["include_usage"] == true,
    }
}

/// The real API opens with an empty text, or with none when the answer is all calls.
fn role_delta(answer: &Answer) -> Value {
    let speaks = answer.pieces.iter().any(|piece| matches!(piece, Piece::Text(_)));
    let calls = answer.calls().next().is_some();
    let content = if calls && !speaks { Value::Null } else { json!("") };
    json!({"role": "assistant", "content": content, "refusal": null})
}

fn piece_steps(answer: &Answer, piece: &Piece, envelope: &Envelope, place: usize) -> Vec<Step> {
    let delta = |delta: Value| Step::event(&envelope.chunk(delta, None));
    match piece {
        Piece::Text(text) => vec![delta(json!({"content": text}))],
        Piece::Sealed(text) if text.is_empty() => Vec::new(),
        Piece::Reasoning(text) | Piece::Sealed(text) => {
            vec![delta(json!({answer.reasoning_field.as_str(): text}))]
        }
        Piece::Refusal(text) => vec![delta(json!({"refusal": text}))],
        Piece::Call(call) => {
            let deltas = call_deltas(call, place).into_iter();
            deltas.map(|call| delta(json!({"tool_calls": [call]}))).collect()
        }
        Piece::Error(message) => vec![Step::event(&failures::event(message))],
        Piece::Event(data) => vec![Step::event(data)],
        Piece::Raw(text) => vec![Step::Send(text.clone())],
        Piece::Step(step) => vec![step.clone()],
    }
}

fn tail_steps(answer: &Answer, envelope: &Envelope) -> Vec<Step> {
    let reason = answer.finish_reason();
    let mut steps = Vec::new();
    match answer.usage {
        Some(usage) if answer.usage_on_finish => {
            steps.push(Step::event(&envelope.finish_with_usage(reason, usage)));
        }
        Some(usage) if envelope.include_usage => {
            steps.push(Step::event(&envelope.chunk(json!({}), Some(reason))));
            steps.push(Step::event(&envelope.usage(usage)));
        }
        _ => steps.push(Step::event(&envelope.chunk(json!({}), Some(reason)))),
    }
    if answer.done {
        steps.push(Step::Send("data: [DONE]\n\n".to_owned()));
    }
    steps
}
