//! Order: who may follow whom, and that every call is answered exactly once in the message after it.

use super::{
    blocks,
    cache::Marks,
    shape::{at, field, known_fields, list, object, one_of, refuse},
};
use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// Checks the conversation, each message by itself.
pub(super) fn each(body: &Map<String, Value>, marks: &mut Marks) -> Check {
    let messages = list(field(body, "", "messages")?, "messages")?;
    if messages.is_empty() {
        return Err(refuse("messages", "at least one message is required"));
    }
    messages.iter().enumerate().try_for_each(|(index, message)| one(message, index, marks))
}

fn one(message: &Value, index: usize, marks: &mut Marks) -> Check {
    let path = at("messages", index);
    let message = object(message, &path)?;
    known_fields(message, &path, &["role", "content"], &[])?;
    let role = field(message, &path, "role")?;
    if role == "system" {
        let what = "Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" \
                    as an input message role.";
        return Err(refuse("messages", what));
    }
    let role = one_of(role, &at(&path, "role"), &["user", "assistant"])?;
    let content_path = at(&path, "content");
    match field(message, &path, "content")? {
        Value::String(text) if text.is_empty() => Err(blocks::nothing(index)),
        text @ Value::String(_) => blocks::said(text, &content_path, "messages"),
        content => {
            let content = list(content, &content_path)?;
            if content.is_empty() {
                return Err(blocks::nothing(index));
            }
            let check = if role == "user" { blocks::of_user } else { blocks::of_assistant };
            let mut content = content.iter().enumerate();
            content.try_for_each(|(number, block)| check(block, &at(&content_path, number), marks))
        }
    }
}

/// Checks the order of messages that are valid by themselves.
pub(super) fn order(messages: &[Value]) -> Check {
    if messages.first().is_some_and(|first| first["role"] != "user") {
        return Err(refuse("messages", "first message must use the \"user\" role"));
    }
    let mut used: Vec<&str> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let blocks = blocks_of(message);
        answered(blocks, &open, index)?;
        open = ids(blocks, "tool_use", "id");
        for id in &open {
            if used.contains(id) {
                return Err(refuse("messages", "`tool_use` ids must be unique"));
            }
            used.push(id);
        }
        if message["role"] == "assistant" {
            speaks(blocks, index)?;
        }
    }
    if let Some(last) = messages.len().checked_sub(1) {
        answered(&[], &open, last + 1)?;
    }
    neighbours(messages)
}

fn blocks_of(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

/// That field of each block of that type.
fn ids<'a>(blocks: &'a [Value], kind: &str, field: &str) -> Vec<&'a str> {
    blocks.iter().filter(|block| block["type"] == kind).filter_map(|block| block[field].as_str()).collect()
}

/// Checks that the message numbered `index` answers the calls of the one before, and begins with that.
fn answered(blocks: &[Value], open: &[&str], index: usize) -> Check {
    let mut seen: Vec<&str> = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block["type"] == "tool_result") {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let path = format!("messages.{index}.content.{at}");
        if !open.contains(&id) {
            let what = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a \
                 corresponding `tool_use` block in the previous message."
            );
            return Err(refuse(&path, &what));
        }
        if seen.contains(&id) {
            let what = format!(
                "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            );
            return Err(refuse(&path, &what));
        }
        seen.push(id);
    }
    let first = ids(
        &blocks[..blocks.iter().take_while(|block| block["type"] == "tool_result").count()],
        "tool_result",
        "tool_use_id",
    );
    let missing: Vec<_> = open.iter().filter(|id| !first.contains(id)).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a \
         corresponding `tool_result` block in the next message.",
        missing.join(", ")
    );
    Err(refuse(&at("messages", index.saturating_sub(1)), &what))
}

/// Checks that an answer does not end in thoughts.
fn speaks(blocks: &[Value], index: usize) -> Check {
    let last = blocks.last().and_then(|block| block["type"].as_str()).unwrap_or_default();
    if last != "thinking" && last != "redacted_thinking" {
        return Ok(());
    }
    let what = format!("The final block in an assistant message cannot be `{last}`.");
    Err(refuse(&at("messages", index), &what))
}

/// The house rules: the reference server joins what one side says twice, and some models go on with what the assistant
/// has begun; others do neither.
fn neighbours(messages: &[Value]) -> Check {
    for (index, pair) in messages.windows(2).enumerate() {
        if pair[0]["role"] == pair[1]["role"] {
            let message = "roles must alternate between \"user\" and \"assistant\".";
            return Err(Rejection::house(&at("messages", index + 1), message));
        }
    }
    if messages.last().is_some_and(|last| last["role"] == "assistant") {
        return Err(Rejection::house("messages", "the conversation must end with a user message."));
    }
    Ok(())
}
