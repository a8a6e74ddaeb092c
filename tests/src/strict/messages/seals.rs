//! Seals: thoughts that are signed, and thoughts of which nothing can be read. Both come back as they were.
//!
//! A thought that comes back is never to be changed. In the turns since the user last said something, those with calls,
//! all of an answer's thoughts have to be there, in their order, and before anything else.

use crate::strict::{
    answer::{Answer, Piece},
    record::Recorded,
    reject::{Check, Rejection},
    seal::{Issued, of_calls, seal},
};
use serde_json::{Value, json};

/// The block of a thought with that text.
pub(super) fn block(model: &str, text: &str) -> Value {
    if text.is_empty() {
        return json!({"type": "redacted_thinking", "data": seal(model, &["redacted"])});
    }
    json!({"type": "thinking", "thinking": text, "signature": seal(model, &["thinking", text])})
}

/// What of `answer` to `request` has to come back.
pub(super) fn issued(answer: &Answer, request: &Recorded) -> Issued {
    let seals = answer.pieces.iter().filter_map(|piece| match piece {
        Piece::Sealed(text) => Some(block(&request.model, text)),
        _ => None,
    });
    let calls = answer.calls().filter_map(|call| call.id.clone()).collect();
    Issued::new(request, calls, seals.collect())
}

/// Checks the thoughts of a conversation that is valid but for them.
pub(super) fn check(request: &Recorded, issued: &[Issued]) -> Check {
    let messages = request.messages();
    let said = messages.iter().rposition(says_something).unwrap_or(0);
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant")
    {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        unchanged(blocks, &request.model, index)?;
        if index > said {
            complete(blocks, request, issued, index)?;
        }
    }
    Ok(())
}

/// Whether a message of the user has more than results.
fn says_something(message: &Value) -> bool {
    let blocks = message["content"].as_array();
    message["role"] == "user"
        && blocks.is_none_or(|blocks| blocks.iter().any(|block| block["type"] != "tool_result"))
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn unchanged(blocks: &[Value], model: &str, index: usize) -> Check {
    for (at, thought) in blocks.iter().enumerate().filter(|(_, block)| is_thought(block)) {
        let text = thought["thinking"].as_str().unwrap_or_default();
        if *thought != block(model, text) {
            let kind = thought["type"].as_str().unwrap_or_default();
            let part = if kind == "thinking" { "signature" } else { "data" };
            let message = format!("messages.{index}.content.{at}: Invalid `{part}` in `{kind}` block");
            return Err(Rejection::new(400, message));
        }
    }
    Ok(())
}

fn complete(blocks: &[Value], request: &Recorded, issued: &[Issued], index: usize) -> Check {
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    let calls: Vec<_> = calls.filter_map(|block| block["id"].as_str()).collect();
    let meant = of_calls(issued, request, &calls);
    let thoughts: Vec<_> = blocks.iter().filter(|block| is_thought(block)).cloned().collect();
    if meant.is_empty() || meant.iter().any(|one| one.seals == thoughts) {
        let first = blocks.first().is_none_or(is_thought);
        return if thoughts.is_empty() || first { Ok(()) } else { Err(not_first(blocks, index)) };
    }
    if thoughts.is_empty() {
        return Err(not_first(blocks, index));
    }
    let message = format!(
        "messages.{index}.content: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
         modified. These blocks must remain as they were in the original response."
    );
    Err(Rejection::new(400, message))
}

fn not_first(blocks: &[Value], index: usize) -> Rejection {
    let found = blocks.first().and_then(|block| block["type"].as_str()).unwrap_or_default();
    let message = format!(
        "messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. A final \
         `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and \
         `tool_result` blocks)."
    );
    Rejection::new(400, message)
}
