//! A request as the body of a chat completions call.
//!
//! The same request is always the same text, byte for byte, since providers find what they have cached by it: fields
//! are written in the order of the structs here, schemas and arguments word for word. How a history becomes a request
//! is not decided here, but what a provider would refuse is left out even if it should come.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use super::thoughts::Seal;
use crate::content::{Attachment, Block, ToolCall, text_of};
use crate::model::{CallResult, Item, ModelRequest, ToolSpec};
use crate::provider::lawful::{self, Shown};

/// How long the id of a call may be.
const ID: usize = 40;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Declaration<'a>,
}

#[derive(Serialize)]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
}

/// The body of the call that asks what `request` asks, as JSON text.
pub fn body(request: &ModelRequest) -> String {
    let body = Body {
        model: &request.model.model,
        messages: messages(request),
        tools: request.tools.iter().map(tool).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    };
    // Structs of strings always have a JSON text; there is nothing here that could fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn messages(request: &ModelRequest) -> Vec<Message<'_>> {
    let mut out = Vec::new();
    if !request.system.is_empty() {
        out.push(Message::System { content: &request.system });
    }
    for (at, item) in request.items.iter().enumerate() {
        match item {
            Item::User { text, media } => user(text, media, &mut out),
            Item::Assistant { model, blocks } => {
                let own = *model == request.model;
                assistant(blocks, own, request.items.get(at + 1), &mut out);
            }
            // Written together with the calls.
            Item::Results(_) => {}
        }
    }
    out
}

/// Adds what a person said; to the message before, if that is a person's too, so that roles alternate.
fn user<'a>(text: &'a str, media: &'a [Attachment], out: &mut Vec<Message<'a>>) {
    if text.is_empty() && media.is_empty() {
        return;
    }
    let content = content(text, media);
    match out.last_mut() {
        Some(Message::User { content: before }) => {
            let mut parts = core::mem::replace(before, Content::Parts(Vec::new())).into_parts();
            parts.extend(content.into_parts());
            *before = Content::Parts(parts);
        }
        _ => out.push(Message::User { content }),
    }
}

fn content<'a>(text: &'a str, media: &'a [Attachment]) -> Content<'a> {
    if media.is_empty() {
        return Content::Text(text.into());
    }
    let words = (!text.is_empty()).then(|| Part::Text { text: text.into() });
    Content::Parts(words.into_iter().chain(media.iter().map(part)).collect())
}

impl<'a> Content<'a> {
    fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Content::Text(text) => Vec::from([Part::Text { text }]),
            Content::Parts(parts) => parts,
        }
    }
}

fn part(file: &Attachment) -> Part<'_> {
    match lawful::shown(file, &lawful::PICTURES) {
        Shown::Image(media_type, data) => {
            Part::ImageUrl { image_url: ImageUrl { url: format!("data:{media_type};base64,{data}") } }
        }
        Shown::Text(text) => Part::Text { text: text.into() },
    }
}

/// Adds an answer and what came of its calls. A call without a result is left out, and so is an answer that says
/// nothing: both would be refused.
fn assistant<'a>(blocks: &'a [Block], own: bool, next: Option<&'a Item>, out: &mut Vec<Message<'a>>) {
    let calls = blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some((call, lawful::result_of(call, next)?)),
        Block::Text(_) | Block::Reasoning(_) => None,
    });
    let answered: Vec<_> = calls.collect();
    let content = Some(text_of(blocks)).filter(|text| !text.trim().is_empty());
    if content.is_none() && answered.is_empty() {
        return;
    }
    let tool_calls = answered.iter().map(|(call, result)| wire_call(call, result, own)).collect();
    let seal = blocks.iter().filter(|_| own).find_map(seal);
    let thought = seal.as_ref().is_some_and(|seal| seal.reasoning_content);
    let reasoning_content = thought.then(|| thoughts(blocks));
    let reasoning_details = seal.and_then(|seal| seal.reasoning_details);
    out.push(Message::Assistant { content, reasoning_content, reasoning_details, tool_calls });
    out.extend(answered.iter().map(|(_, result)| wire_result(result, own)));
}

/// What its server wants back with a block.
fn seal(block: &Block) -> Option<Seal<'_>> {
    match block {
        Block::Reasoning(reasoning) => Seal::read(reasoning.opaque.as_deref()?),
        Block::Text(_) | Block::Call(_) => None,
    }
}

/// All that was thought.
fn thoughts(blocks: &[Block]) -> String {
    let thoughts = blocks.iter().filter_map(|block| match block {
        Block::Reasoning(reasoning) => Some(reasoning.text.as_str()),
        Block::Text(_) | Block::Call(_) => None,
    });
    thoughts.collect()
}

/// The id of a call: as its own model gave it, and of another model's only what every server takes.
fn id(result: &CallResult, own: bool) -> Cow<'_, str> {
    if own { Cow::Borrowed(&result.wire_id) } else { lawful::short_call_id(result, ID) }
}

fn wire_call<'a>(call: &'a ToolCall, result: &'a CallResult, own: bool) -> Call<'a> {
    let function =
        Function { name: lawful::tool_name(&call.name), arguments: lawful::arguments(&call.input) };
    Call { id: id(result, own), r#type: "function", function }
}

fn wire_result(result: &CallResult, own: bool) -> Message<'_> {
    Message::Tool { tool_call_id: id(result, own), content: lawful::result_text(result) }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let parameters = serde_json::from_str(&spec.schema).ok();
    let function = Declaration { name: &spec.name, description: &spec.description, parameters };
    Tool { r#type: "function", function }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
