//! A request as the body of a Messages call.
//!
//! The same request is always the same text, and a longer conversation begins with the text of the shorter one, but
//! for the marks that say up to where to cache. How a history becomes a request is not decided here, but what Anthropic
//! would refuse is left out even if it should come.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::content::{Attachment, Block, Reasoning, ToolCall, ToolStatus};
use crate::model::{CallResult, Item, ModelRequest, ToolSpec};
use crate::provider::lawful::{self, Shown};

/// How much a model may write at most, thoughts included. The protocol wants a number, refuses one that is above the
/// model's own, and has no word for "as much as you can": this is the most that every model since Claude 4 takes.
const MAX_TOKENS: u32 = 32_000;

/// How many messages of the user are marked for the cache: the last, to be read by the next request, and the one
/// before, which the last request marked. With system prompt and tools that makes the four marks that are allowed.
const MARKED_MESSAGES: usize = 2;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Role,
    content: Vec<Content<'a>>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Vec<Content<'a>>,
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Option<&'a RawValue>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a RawValue,
    },
    /// A redacted thought, as it came.
    #[serde(untagged)]
    Redacted(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
struct Cache {}

#[derive(Serialize)]
#[serde(tag = "type", rename = "base64")]
struct Source<'a> {
    media_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Cache>,
}

/// The body of the call that asks what `request` asks, as JSON text.
pub fn body(request: &ModelRequest) -> String {
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(text(&request.system));
    }
    let mut tools: Vec<_> = request.tools.iter().filter_map(tool).collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(Cache {});
    }
    let mut messages = messages(request);
    let said = messages.iter_mut().rev().filter(|message| message.role == Role::User);
    let last_said = said.take(MARKED_MESSAGES).filter_map(|message| message.content.last_mut());
    system.iter_mut().chain(last_said).for_each(mark);
    let model = &request.model.model;
    let body = Body { model, max_tokens: MAX_TOKENS, system, tools, messages, stream: true };
    // Structs of strings always have a JSON text; there is nothing here that could fail.
    serde_json::to_string(&body).unwrap_or_default()
}

/// Lets the provider cache everything up to and with that.
fn mark(content: &mut Content<'_>) {
    match content {
        Content::Text { cache_control, .. }
        | Content::Image { cache_control, .. }
        | Content::ToolResult { cache_control, .. } => *cache_control = Some(Cache {}),
        Content::ToolUse { .. } | Content::Thinking { .. } | Content::Redacted(_) => {}
    }
}

fn messages(request: &ModelRequest) -> Vec<Message<'_>> {
    let mut out = Vec::new();
    for (at, item) in request.items.iter().enumerate() {
        match item {
            Item::User { text, media } => push(Role::User, user(text, media), &mut out),
            Item::Assistant { model, blocks } => {
                let next = request.items.get(at + 1);
                let sealed_for = |opaque| lawful::seal(opaque, model, &request.model);
                push(Role::Assistant, answer(blocks, next, sealed_for), &mut out);
                push(Role::User, results(blocks, next), &mut out);
            }
            // Written together with the calls.
            Item::Results(_) => {}
        }
    }
    out
}

/// Adds what somebody says; to the message before if that is theirs too, so that roles alternate. The user begins.
fn push<'a>(role: Role, content: Vec<Content<'a>>, out: &mut Vec<Message<'a>>) {
    match out.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => last.content.extend(content),
        None if role == Role::Assistant => {}
        Some(_) | None => out.push(Message { role, content }),
    }
}

fn user<'a>(words: &'a str, media: &'a [Attachment]) -> Vec<Content<'a>> {
    let words = (!words.trim().is_empty()).then(|| text(words));
    words.into_iter().chain(media.iter().map(shown)).collect()
}

fn text<'a>(text: impl Into<Cow<'a, str>>) -> Content<'a> {
    Content::Text { text: text.into(), cache_control: None }
}

fn shown(file: &Attachment) -> Content<'_> {
    match lawful::shown(file, &lawful::PICTURES) {
        Shown::Image(media_type, data) => {
            Content::Image { source: Source { media_type, data }, cache_control: None }
        }
        Shown::Text(words) => text(words),
    }
}

/// An answer. A call without a result is left out, and so is an answer of nothing but thoughts.
fn answer<'a>(
    blocks: &'a [Block],
    next: Option<&'a Item>,
    sealed: impl Fn(Option<&'a str>) -> Option<&'a RawValue>,
) -> Vec<Content<'a>> {
    let content = blocks.iter().filter_map(|block| match block {
        Block::Text(words) => (!words.trim().is_empty()).then(|| text(words)),
        Block::Reasoning(reasoning) => thought(reasoning, sealed(reasoning.opaque.as_deref())?),
        Block::Call(call) => lawful::result_of(call, next).map(|result| tool_use(call, result)),
    });
    let content: Vec<_> = content.collect();
    let silent = |content: &Content<'_>| matches!(content, Content::Thinking { .. } | Content::Redacted(_));
    if content.iter().all(silent) { Vec::new() } else { content }
}

/// A thought with its signature, which is a string, or a redacted one, which is a block.
fn thought<'a>(reasoning: &'a Reasoning, seal: &'a RawValue) -> Option<Content<'a>> {
    match seal.get().as_bytes() {
        [b'"', ..] => Some(Content::Thinking { thinking: &reasoning.text, signature: seal }),
        [b'{', ..] => Some(Content::Redacted(seal)),
        _ => None,
    }
}

fn tool_use<'a>(call: &'a ToolCall, result: &'a CallResult) -> Content<'a> {
    let input = lawful::arguments_object(&call.input);
    Content::ToolUse { id: lawful::call_id(result), name: lawful::tool_name(&call.name), input }
}

/// What came of the calls. All results come first, and what cannot be part of one follows.
fn results<'a>(blocks: &'a [Block], next: Option<&'a Item>) -> Vec<Content<'a>> {
    let answered: Vec<_> = lawful::results(blocks, next).collect();
    let beside = answered.iter().filter(|result| is_error(result)).flat_map(|result| &result.outcome.media);
    answered.iter().map(|result| tool_result(result)).chain(beside.map(shown)).collect()
}

fn tool_result(result: &CallResult) -> Content<'_> {
    let mut content = Vec::from([text(lawful::result_text(result))]);
    // A failed result must be nothing but text.
    if !is_error(result) {
        content.extend(result.outcome.media.iter().map(shown));
    }
    let is_error = is_error(result);
    Content::ToolResult { tool_use_id: lawful::call_id(result), content, is_error, cache_control: None }
}

fn is_error(result: &CallResult) -> bool {
    match result.outcome.status {
        ToolStatus::Ok => false,
        ToolStatus::Error
        | ToolStatus::Denied
        | ToolStatus::Cancelled
        | ToolStatus::Interrupted
        | ToolStatus::NotReached => true,
    }
}

/// A tool; one whose schema is not JSON would spoil the whole request, and is not offered.
fn tool(spec: &ToolSpec) -> Option<Tool<'_>> {
    let input_schema = serde_json::from_str(&spec.schema).ok()?;
    Some(Tool { name: &spec.name, description: &spec.description, input_schema, cache_control: None })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
