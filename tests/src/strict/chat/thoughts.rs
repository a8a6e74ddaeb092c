//! Thoughts: some who offer chat completions tell them in a field of their own and refuse a conversation with calls in which
//! they do not come back, as DeepSeek's reference says. OpenAI's knows no such field.

use crate::strict::{
    answer::{Answer, Piece},
    record::Recorded,
    reject::{Check, Rejection},
    seal::{Issued, of_calls},
};
use serde_json::{Value, json};

/// The field in which thoughts come back.
pub(super) const FIELD: &str = "reasoning_content";

/// What of `answer` to `request` has to come back.
pub(super) fn issued(answer: &Answer, request: &Recorded) -> Issued {
    let thoughts: Vec<&str> = answer
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Reasoning(text) => Some(text.as_str()),
            Piece::Sealed(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let told = answer.reasoning_field == FIELD && !thoughts.is_empty();
    let calls = answer.calls().filter_map(|call| call.id.clone()).filter(|id| !id.is_empty());
    let seals = if told { vec![json!(thoughts.concat())] } else { Vec::new() };
    Issued::new(request, calls.collect(), seals)
}

/// Checks that the thoughts before calls came back.
pub(super) fn check(request: &Recorded, issued: &[Issued]) -> Check {
    for message in request.messages().iter().filter(|message| message["tool_calls"].is_array()) {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<_> = calls.filter_map(|call| call["id"].as_str()).collect();
        let given: Vec<Value> = message.get(FIELD).into_iter().cloned().collect();
        let meant = of_calls(issued, request, &calls);
        if !meant.is_empty() && meant.iter().all(|one| one.seals != given) {
            let message = format!("The {FIELD} in the thinking mode must be passed back to the API.");
            return Err(Rejection::new(400, message));
        }
    }
    Ok(())
}
