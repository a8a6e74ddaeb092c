//! Rendering: from the pieces of an answer to the chunks of a content response.
//!
//! A call comes whole. One whose arguments are no object cannot be told at all, and the answer ends with the reason that
//! the real server gives for that. Models of the first two generations sign nothing and give their calls no ids.

use super::{failures, seals};
use crate::strict::{
    answer::{Answer, Call, Piece, Step, Usage},
    record::Recorded,
};
use serde_json::{Map, Value, json};

/// An answer while it is rendered.
struct Rendering<'a> {
    answer: &'a Answer,
    request: &'a Recorded,
    /// Whether the model signs.
    signs: bool,
    /// The text that is not signed so far.
    said: String,
    called: bool,
    /// What the model garbled, if it did.
    garbled: Option<String>,
}

/// The steps that answer `request`.
pub(super) fn steps(answer: &Answer, request: &Recorded) -> Vec<Step> {
    let signs = seals::signs(&request.model);
    let mut rendering =
        Rendering { answer, request, signs, said: String::new(), called: false, garbled: None };
    let mut steps: Vec<Step> = answer.pieces.iter().flat_map(|piece| rendering.piece(piece)).collect();
    if answer.tail {
        steps.push(rendering.tail());
    }
    steps
}

impl Rendering<'_> {
    fn piece(&mut self, piece: &Piece) -> Option<Step> {
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => {
                self.said.push_str(text);
                Some(self.part(json!({"text": text})))
            }
            Piece::Reasoning(text) => Some(self.part(json!({"text": text, "thought": true}))),
            Piece::Sealed(text) => Some(self.sealed(text)),
            Piece::Call(call) => self.call(call),
            Piece::Error(message) => Some(send(&failures::event(message))),
            Piece::Event(data) => Some(send(data)),
            Piece::Raw(text) => Some(Step::Send(text.clone())),
            Piece::Step(step) => Some(step.clone()),
        }
    }

    /// A thought with its signature, or a signature alone.
    fn sealed(&mut self, text: &str) -> Step {
        let model = &self.request.model;
        if text.is_empty() {
            let said = std::mem::take(&mut self.said);
            return self.part(json!({"text": "", "thoughtSignature": seals::of_text(model, false, &said)}));
        }
        let signature = seals::of_text(model, true, text);
        self.part(json!({"text": text, "thought": true, "thoughtSignature": signature}))
    }

    fn call(&mut self, call: &Call) -> Option<Step> {
        let args = match call.arguments.as_str() {
            "" => None,
            text => match serde_json::from_str::<Value>(text) {
                Ok(args @ Value::Object(_)) => Some(args),
                _ => {
                    self.garbled = Some(format!("Malformed function call: {}({text})", call.name));
                    return None;
                }
            },
        };
        let mut function = Map::new();
        if let Some(id) = call.id.as_ref().filter(|id| self.signs && !id.is_empty()) {
            function.insert("id".into(), json!(id));
        }
        function.insert("name".into(), json!(call.name));
        let mut part = json!({});
        if self.signs && !self.called {
            part["thoughtSignature"] = json!(seals::of_call(&self.request.model, &call.name, args.as_ref()));
        }
        if let Some(args) = args {
            function.insert("args".into(), args);
        }
        part["functionCall"] = Value::Object(function);
        self.called = true;
        Some(self.part(part))
    }

    /// The chunk that ends the answer; what was said is signed in it, on a part without a text.
    fn tail(&self) -> Step {
        let mut content = json!({"role": "model"});
        if !self.said.is_empty() && !self.called && self.signs {
            let signature = seals::of_text(&self.request.model, false, &self.said);
            content["parts"] = json!([{"text": "", "thoughtSignature": signature}]);
        } else if !self.answer.pieces.is_empty() {
            content["parts"] = json!([{"text": ""}]);
        }
        let mut candidate = json!({"content": content, "finishReason": self.finish_reason(), "index": 0});
        if let Some(garbled) = &self.garbled {
            candidate["finishMessage"] = json!(garbled);
        }
        self.chunk(candidate, true)
    }

    fn finish_reason(&self) -> &str {
        match self.answer.finish_reason() {
            _ if self.garbled.is_some() => "MALFORMED_FUNCTION_CALL",
            "stop" | "tool_calls" => "STOP",
            "length" => "MAX_TOKENS",
            "content_filter" => "SAFETY",
            other => other,
        }
    }

    fn part(&self, part: Value) -> Step {
        self.chunk(json!({"content": {"parts": [part], "role": "model"}, "index": 0}), false)
    }

    fn chunk(&self, candidate: Value, last: bool) -> Step {
        let mut chunk = json!({"candidates": [candidate], "modelVersion": self.request.model});
        if let Some(usage) = self.answer.usage {
            chunk["usageMetadata"] = counts(usage, last);
        }
        if self.answer.id {
            chunk["responseId"] = json!(format!("strict-{}", self.request.index));
        }
        send(&chunk)
    }
}

/// The tokens; what came out is known only at the end.
fn counts(usage: Usage, last: bool) -> Value {
    let mut counts = json!({
        "promptTokenCount": usage.input,
        "totalTokenCount": usage.input,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    });
    if usage.cached > 0 {
        counts["cachedContentTokenCount"] = json!(usage.cached);
    }
    if last {
        counts["candidatesTokenCount"] = json!(usage.output.saturating_sub(usage.reasoning));
        counts["totalTokenCount"] = json!(usage.input + usage.output);
        if usage.reasoning > 0 {
            counts["thoughtsTokenCount"] = json!(usage.reasoning);
        }
    }
    counts
}

/// An event, with the line ends that Google has.
fn send(data: &Value) -> Step {
    Step::Send(format!("data: {data}\r\n\r\n"))
}
