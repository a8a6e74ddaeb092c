//! A request as the body of a Responses call.
//!
//! The same request is always the same text, and a longer conversation begins with the items of the shorter one, since
//! OpenAI finds what it has cached by it. How a history becomes a request is not decided here, but what would be refused
//! is left out even if it should come.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::content::{Attachment, Block, ToolCall};
use crate::model::{CallResult, Item, ModelRef, ModelRequest, ToolSpec};
use crate::provider::lawful::{self, Shown};

/// What thinking models add on request.
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// How the names of the models begin that do not think, and refuse to be asked for encrypted thoughts.
const THOUGHTLESS: [&str; 3] = ["gpt-3.5", "gpt-4", "chatgpt-4"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Input<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Input<'a> {
    Message {
        role: Role,
        content: Vec<Part<'a>>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    /// A thought, as it came.
    #[serde(untagged)]
    Reasoning(&'a RawValue),
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: String },
    OutputText { text: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    /// Strictness is what they would assume, and few schemas are fit for it.
    strict: bool,
}

/// The body of the call that asks what `request` asks, as JSON text.
pub fn body(request: &ModelRequest) -> String {
    let model = &request.model.model;
    let thinks = !THOUGHTLESS.iter().any(|name| model.starts_with(name));
    let body = Body {
        model,
        instructions: &request.system,
        input: input(request),
        tools: request.tools.iter().map(tool).collect(),
        store: false,
        include: if thinks { &[ENCRYPTED] } else { &[] },
        stream: true,
    };
    // Structs of strings always have a JSON text; there is nothing here that could fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn input(request: &ModelRequest) -> Vec<Input<'_>> {
    let mut out = Vec::new();
    for (at, item) in request.items.iter().enumerate() {
        match item {
            Item::User { text, media } => user(text, media, &mut out),
            Item::Assistant { model, blocks } => {
                let next = request.items.get(at + 1);
                answer(blocks, next, (model, &request.model), &mut out);
                out.extend(lawful::results(blocks, next).map(output));
            }
            // Written together with the calls.
            Item::Results(_) => {}
        }
    }
    out
}

/// Adds what a person said; to the message before, if that is a person's too.
fn user<'a>(words: &'a str, media: &'a [Attachment], out: &mut Vec<Input<'a>>) {
    let words = (!words.trim().is_empty()).then(|| Part::InputText { text: words.into() });
    let parts: Vec<_> = words.into_iter().chain(media.iter().map(shown)).collect();
    match out.last_mut() {
        _ if parts.is_empty() => {}
        Some(Input::Message { role: Role::User, content }) => content.extend(parts),
        _ => out.push(Input::Message { role: Role::User, content: parts }),
    }
}

fn shown(file: &Attachment) -> Part<'_> {
    match lawful::shown(file, &lawful::PICTURES) {
        Shown::Image(media_type, data) => {
            Part::InputImage { image_url: format!("data:{media_type};base64,{data}") }
        }
        Shown::Text(text) => Part::InputText { text: text.into() },
    }
}

/// Adds an answer. A thought must be followed by something of the same answer, so one that is not is left out; a call
/// without a result is, too.
fn answer<'a>(
    blocks: &'a [Block],
    next: Option<&'a Item>,
    (from, to): (&ModelRef, &ModelRef),
    out: &mut Vec<Input<'a>>,
) {
    let mut thoughts = Vec::new();
    for block in blocks {
        let item = match block {
            Block::Reasoning(reasoning) => {
                let sealed =
                    lawful::seal(reasoning.opaque.as_deref(), from, to).filter(|seal| is_object(seal));
                thoughts.extend(sealed.map(Input::Reasoning));
                continue;
            }
            Block::Text(text) if text.trim().is_empty() => continue,
            Block::Text(text) => {
                Input::Message { role: Role::Assistant, content: Vec::from([Part::OutputText { text }]) }
            }
            Block::Call(call) => match lawful::result_of(call, next) {
                Some(result) => function_call(call, result),
                None => continue,
            },
        };
        out.append(&mut thoughts);
        out.push(item);
    }
}

fn is_object(seal: &RawValue) -> bool {
    seal.get().starts_with('{')
}

fn function_call<'a>(call: &'a ToolCall, result: &'a CallResult) -> Input<'a> {
    Input::FunctionCall {
        call_id: lawful::call_id(result),
        name: lawful::tool_name(&call.name),
        arguments: lawful::arguments(&call.input),
    }
}

fn output(result: &CallResult) -> Input<'_> {
    let text = lawful::result_text(result);
    let media = &result.outcome.media;
    let output = if media.is_empty() {
        Output::Text(text)
    } else {
        let words = Part::InputText { text: text.into() };
        Output::Parts([words].into_iter().chain(media.iter().map(shown)).collect())
    };
    Input::FunctionCallOutput { call_id: lawful::call_id(result), output }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let parameters = serde_json::from_str(&spec.schema).ok();
    Tool { r#type: "function", name: &spec.name, description: &spec.description, parameters, strict: false }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
