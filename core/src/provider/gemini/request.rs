//! A request as the body of a Gemini call.
//!
//! The same request is always the same text, and a longer conversation begins with the contents of the shorter one.
//! Schemas go word for word, in the field that takes JSON Schema as it is. How a history becomes a request is not
//! decided here, but what Google would refuse is left out even if it should come.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use super::seal::{Seal, is_signature};
use crate::content::{Attachment, Block, Reasoning, ToolCall, ToolStatus};
use crate::model::{CallResult, Item, ModelRef, ModelRequest, ToolSpec};
use crate::provider::lawful::{self, Shown};

/// The pictures that are taken.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// What Google gives to whoever has calls without a signature, as JSON text.
const EXCUSE: &str = r#""skip_thought_signature_validator""#;

/// Whether a model signs its calls and wants the signatures back: all but the older ones.
fn signs(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    !["gemini-1", "gemini-2", "gemma"].iter().any(|old| name.starts_with(old))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
}

#[derive(Serialize)]
struct System<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Content<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Model,
}

/// A part; which kind it is, is said by the field that it has.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Blob<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    args: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<&'a RawValue>,
}

/// The body of the call that asks what `request` asks, as JSON text. Whom it asks stands in the URL.
pub fn body(request: &ModelRequest) -> String {
    let system = Some(&request.system).filter(|system| !system.trim().is_empty());
    let declarations: Vec<_> = request.tools.iter().map(declaration).collect();
    let body = Body {
        system_instruction: system.map(|system| System { parts: [text(system)] }),
        contents: contents(request),
        tools: (!declarations.is_empty()).then_some([Tools { function_declarations: declarations }]),
    };
    // Structs of strings always have a JSON text; there is nothing here that could fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn contents(request: &ModelRequest) -> Vec<Content<'_>> {
    let mut out = Vec::new();
    for (at, item) in request.items.iter().enumerate() {
        match item {
            Item::User { text, media } => push(Role::User, user(text, media), &mut out),
            Item::Assistant { model, blocks } => {
                let next = request.items.get(at + 1);
                let speakers = Speakers { from: model, to: &request.model };
                push(Role::Model, speakers.answer(blocks, next), &mut out);
                push(Role::User, speakers.results(blocks, next), &mut out);
            }
            // Written together with the calls.
            Item::Results(_) => {}
        }
    }
    out
}

/// Adds what somebody says; to the content before if that is theirs too, so that roles alternate. The user begins.
fn push<'a>(role: Role, parts: Vec<Part<'a>>, out: &mut Vec<Content<'a>>) {
    match out.last_mut() {
        _ if parts.is_empty() => {}
        Some(last) if last.role == role => last.parts.extend(parts),
        None if role == Role::Model => {}
        Some(_) | None => out.push(Content { role, parts }),
    }
}

fn user<'a>(words: &'a str, media: &'a [Attachment]) -> Vec<Part<'a>> {
    let words = (!words.trim().is_empty()).then(|| text(words));
    words.into_iter().chain(media.iter().map(shown)).collect()
}

fn text<'a>(text: impl Into<Cow<'a, str>>) -> Part<'a> {
    Part { text: Some(text.into()), ..Part::default() }
}

fn shown(file: &Attachment) -> Part<'_> {
    match lawful::shown(file, &PICTURES) {
        Shown::Image(mime_type, data) => {
            Part { inline_data: Some(Blob { mime_type, data }), ..Part::default() }
        }
        Shown::Text(words) => text(words),
    }
}

/// Who gave an answer, and who is shown it.
struct Speakers<'a> {
    from: &'a ModelRef,
    to: &'a ModelRef,
}

impl<'a> Speakers<'a> {
    /// An answer. A call without a result is left out, and so is an answer of nothing but thoughts.
    fn answer(&self, blocks: &'a [Block], next: Option<&'a Item>) -> Vec<Part<'a>> {
        let mut parts = Vec::new();
        for block in blocks {
            match block {
                Block::Text(words) if words.trim().is_empty() => {}
                Block::Text(words) => parts.push(text(words)),
                Block::Reasoning(reasoning) => self.sign(reasoning, &mut parts),
                Block::Call(call) => {
                    let result = lawful::result_of(call, next);
                    parts.extend(result.map(|result| self.call(call, result)));
                }
            }
        }
        self.excuse(&mut parts);
        if parts.iter().any(speaks) { parts } else { Vec::new() }
    }

    /// Newer models refuse a step whose first call has no signature. One that another model made has none, and one whose
    /// signature was refused has none any more; for these there is a word that says so.
    fn excuse(&self, parts: &mut [Part<'a>]) {
        let first = parts.iter_mut().find(|part| part.function_call.is_some());
        if let Some(part) = first.filter(|part| part.thought_signature.is_none() && signs(&self.to.model)) {
            part.thought_signature = serde_json::from_str(EXCUSE).ok();
        }
    }

    /// Adds a signed thought or an empty text, or signs the text before. What is not signed is not sent.
    fn sign(&self, reasoning: &'a Reasoning, parts: &mut Vec<Part<'a>>) {
        let seal = lawful::seal(reasoning.opaque.as_deref(), self.from, self.to).and_then(Seal::read);
        let Some(Seal { thought, text, thought_signature }) = seal else { return };
        let text = if thought { Some(Cow::Borrowed(reasoning.text.as_str())) } else { text };
        let thought_signature = Some(thought_signature);
        match (text, parts.last_mut()) {
            (Some(text), _) => {
                parts.push(Part { text: Some(text), thought, thought_signature, ..Part::default() });
            }
            (None, Some(last)) if last.text.is_some() && last.thought_signature.is_none() => {
                last.thought_signature = thought_signature;
            }
            (None, _) => {}
        }
    }

    fn call(&self, call: &'a ToolCall, result: &'a CallResult) -> Part<'a> {
        let name = lawful::tool_name(&call.name);
        let args = lawful::arguments_object(&call.input);
        let signature = lawful::seal(call.opaque.as_deref(), self.from, self.to);
        Part {
            function_call: Some(FunctionCall { id: self.id(call, result), name, args }),
            thought_signature: signature.filter(|signature| is_signature(signature)),
            ..Part::default()
        }
    }

    /// The id that the model gave the call, if it did: a result then has to name it. Those without go by their order.
    fn id(&self, call: &'a ToolCall, result: &'a CallResult) -> Option<&'a str> {
        let own = self.from == self.to && call.provider_id == result.wire_id;
        Some(result.wire_id.as_str()).filter(|id| own && !id.is_empty())
    }

    /// What came of the calls, in their order, and then the pictures that belong to it.
    fn results(&self, blocks: &'a [Block], next: Option<&'a Item>) -> Vec<Part<'a>> {
        let calls = blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some((call, lawful::result_of(call, next)?)),
            Block::Text(_) | Block::Reasoning(_) => None,
        });
        let responses = calls.map(|(call, result)| response(self.id(call, result), call, result));
        let media = lawful::results(blocks, next).flat_map(|result| &result.outcome.media);
        responses.chain(media.map(shown)).collect()
    }
}

/// Whether a part is something that is said or done.
fn speaks(part: &Part<'_>) -> bool {
    let text = part.text.as_ref().is_some_and(|text| !part.thought && !text.trim().is_empty());
    text || part.function_call.is_some()
}

fn response<'a>(id: Option<&'a str>, call: &'a ToolCall, result: &'a CallResult) -> Part<'a> {
    let text = lawful::result_text(result);
    let response = match result.outcome.status {
        ToolStatus::Ok => Outcome::Output(text),
        ToolStatus::Error
        | ToolStatus::Denied
        | ToolStatus::Cancelled
        | ToolStatus::Interrupted
        | ToolStatus::NotReached => Outcome::Error(text),
    };
    let response = FunctionResponse { id, name: lawful::tool_name(&call.name), response };
    Part { function_response: Some(response), ..Part::default() }
}

fn declaration(spec: &ToolSpec) -> Declaration<'_> {
    let parameters_json_schema = serde_json::from_str(&spec.schema).ok();
    Declaration { name: &spec.name, description: &spec.description, parameters_json_schema }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
