//! Messages: what each role may say and which fields it may use.

use super::{
    calls,
    content::{self, Parts},
    shape::{at_most, field, filled, known_fields, missing, non_empty, object, one_of, string},
    thoughts,
};
use crate::strict::{
    protocol::Rules,
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool"];

type Message = Map<String, Value>;

/// The conversation, which must be there and say something.
pub(super) fn required(body: &Message) -> Result<&[Value], Rejection> {
    filled(body.get("messages").ok_or_else(|| missing("messages"))?, "messages")
}

/// Checks each message by itself.
pub(super) fn each(messages: &[Value], rules: &Rules) -> Check {
    messages
        .iter()
        .enumerate()
        .try_for_each(|(index, message)| one(message, &format!("messages[{index}]"), rules))
}

fn one(message: &Value, path: &str, rules: &Rules) -> Check {
    let message = object(message, path)?;
    let role = one_of(field(message, path, "role")?, &format!("{path}.role"), ROLES)?;
    known_fields(message, path, fields(role), &rules.extra)?;
    if let Some(name) = message.get("name") {
        participant(name, &format!("{path}.name"))?;
    }
    match role {
        "assistant" => assistant(message, path),
        "tool" => tool(message, path),
        "user" => content::required(message, path, Parts::Any),
        _ => content::required(message, path, Parts::Text),
    }
}

fn fields(role: &str) -> &'static [&'static str] {
    match role {
        "assistant" => &["role", "content", "name", "refusal", "audio", "tool_calls", thoughts::FIELD],
        "tool" => &["role", "content", "tool_call_id"],
        _ => &["role", "content", "name"],
    }
}

fn participant(name: &Value, path: &str) -> Check {
    let text = non_empty(name, path)?;
    at_most(text, path, 64)?;
    if text.contains(|c: char| c.is_whitespace() || "<|\\/>".contains(c)) {
        let message =
            format!("Invalid '{path}': string does not match pattern. Expected '^[^\\s<|\\\\/>]+$'.");
        return Err(Rejection::bad(path, message).code("invalid_value"));
    }
    Ok(())
}

fn assistant(message: &Message, path: &str) -> Check {
    if let Some(refusal) = message.get("refusal").filter(|refusal| !refusal.is_null()) {
        non_empty(refusal, &format!("{path}.refusal"))?;
    }
    if let Some(audio) = message.get("audio").filter(|audio| !audio.is_null()) {
        let path = format!("{path}.audio");
        non_empty(field(object(audio, &path)?, &path, "id")?, &format!("{path}.id"))?;
    }
    if let Some(thoughts) = message.get(thoughts::FIELD) {
        string(thoughts, &format!("{path}.{}", thoughts::FIELD))?;
    }
    match message.get("tool_calls") {
        None => content::required(message, path, Parts::Text),
        Some(calls) => {
            content::optional(message, path)?;
            calls::calls(calls, &format!("{path}.tool_calls"))
        }
    }
}

fn tool(message: &Message, path: &str) -> Check {
    calls::id(field(message, path, "tool_call_id")?, &format!("{path}.tool_call_id"))?;
    let path = format!("{path}.content");
    let content = message.get("content").ok_or_else(|| missing(&path))?;
    if content.is_array() {
        return Err(Rejection::house(&path, "the content of a tool message must be a string."));
    }
    non_empty(content, &path).map(drop)
}
