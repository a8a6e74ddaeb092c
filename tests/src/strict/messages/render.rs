//! Rendering: from the pieces of an answer to the events of a message.

use super::{failures, seals};
use crate::strict::{
    answer::{Answer, Call, Piece, Step, Usage},
    record::Recorded,
};
use serde_json::{Value, json};

/// The steps that answer `request`.
pub(super) fn steps(answer: &Answer, request: &Recorded) -> Vec<Step> {
    let mut message = Message { model: &request.model, steps: Vec::new(), index: 0, open: None };
    if answer.role {
        message.send(&start(answer, request));
    }
    answer.pieces.iter().for_each(|piece| message.piece(piece));
    if answer.tail {
        message.close();
        message.send(&end(answer));
        if answer.done {
            message.send(&json!({"type": "message_stop"}));
        }
    }
    message.steps
}

fn start(answer: &Answer, request: &Recorded) -> Value {
    let mut message = json!({"id": format!("msg_{}", request.index), "type": "message", "role": "assistant",
        "model": request.model, "content": [], "stop_reason": null, "stop_sequence": null});
    if !answer.id {
        message.as_object_mut().and_then(|message| message.remove("id"));
    }
    if let Some(usage) = answer.usage {
        message["usage"] = spent(Usage { output: 1, ..usage });
    }
    json!({"type": "message_start", "message": message})
}

fn end(answer: &Answer) -> Value {
    let reason = match answer.finish_reason() {
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        "content_filter" => "refusal",
        other => other,
    };
    let mut end = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}});
    if let Some(usage) = answer.usage {
        end["usage"] = spent(usage);
    }
    end
}

/// What was read from the cache is told apart from the rest of the input.
fn spent(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    })
}

/// A block that takes more of its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
}

/// A message that is being written.
struct Message<'a> {
    model: &'a str,
    steps: Vec<Step>,
    /// The number of the block that is open or comes next.
    index: usize,
    open: Option<Open>,
}

impl Message<'_> {
    fn send(&mut self, event: &Value) {
        self.steps.push(Step::named(event));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => {
                self.speak(Open::Text, &json!({"type": "text_delta", "text": text}));
            }
            Piece::Reasoning(text) => {
                self.speak(Open::Thinking, &json!({"type": "thinking_delta", "thinking": text}));
            }
            Piece::Sealed(text) => self.sealed(text),
            Piece::Call(call) => self.call(call),
            Piece::Error(message) => self.send(&failures::event(message)),
            Piece::Event(data) => self.send(data),
            Piece::Raw(text) => self.steps.push(Step::Send(text.clone())),
            Piece::Step(step) => self.steps.push(step.clone()),
        }
    }

    fn speak(&mut self, kind: Open, delta: &Value) {
        if self.open != Some(kind) {
            self.close();
            self.start(&match kind {
                Open::Text => json!({"type": "text", "text": ""}),
                Open::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            });
            self.open = Some(kind);
        }
        self.delta(delta);
    }

    /// A thought and its signature, or one of which nothing can be read.
    fn sealed(&mut self, text: &str) {
        let block = seals::block(self.model, text);
        self.close();
        if text.is_empty() {
            self.start(&block);
        } else {
            self.start(&json!({"type": "thinking", "thinking": "", "signature": ""}));
            self.delta(&json!({"type": "thinking_delta", "thinking": text}));
            self.delta(&json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        self.stop();
    }

    /// A call streams its arguments, unless it comes whole, as some compatible servers send it.
    fn call(&mut self, call: &Call) {
        self.close();
        let whole = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
        let pieces = call.argument_pieces();
        let input = if pieces.is_some() { json!({}) } else { whole };
        let mut block = json!({"type": "tool_use", "name": call.name, "input": input});
        if let Some(id) = &call.id {
            block["id"] = json!(id);
        }
        self.start(&block);
        if let Some(pieces) = pieces {
            for piece in std::iter::once("").chain(pieces) {
                self.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
            }
        }
        self.stop();
    }

    fn start(&mut self, block: &Value) {
        self.send(&json!({"type": "content_block_start", "index": self.index, "content_block": block}));
        if self.index == 0 {
            self.send(&json!({"type": "ping"}));
        }
    }

    fn delta(&mut self, delta: &Value) {
        self.send(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
    }

    fn stop(&mut self) {
        self.send(&json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.stop();
        }
    }
}
