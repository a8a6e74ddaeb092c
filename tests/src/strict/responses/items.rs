//! Items: what each kind of item of an input must be by itself.

use super::{
    content::{Speaker, content},
    seals::Thought,
};
use crate::strict::{
    chat::shape::{
        at_most, field, function_name, known_fields, missing, non_empty, object, one_of, string, wrong_type,
    },
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

type Item = Map<String, Value>;

/// The longest id that the reference takes, of a call and of an item.
const MAX_ID: usize = 64;

const KINDS: [&str; 5] = ["message", "function_call", "function_call_output", "reasoning", "item_reference"];

/// Checks the item at `path`, which was or will be of `model`.
pub(super) fn item(value: &Value, path: &str, model: &str) -> Check {
    let item = object(value, path)?;
    match kind(item, path)? {
        "message" => message(item, path),
        "function_call" => call(item, path),
        "function_call_output" => output(item, path),
        "reasoning" => reasoning(item, path, model),
        _ => Err(not_kept(field(item, path, "id")?.as_str().unwrap_or_default())),
    }
}

/// The type of an item; one that has a role instead is a message.
fn kind<'a>(item: &'a Item, path: &str) -> Result<&'a str, Rejection> {
    match item.get("type") {
        None if item.contains_key("role") => Ok("message"),
        None => Err(missing(&format!("{path}.type"))),
        Some(kind) => one_of(kind, &format!("{path}.type"), &KINDS),
    }
}

fn message(item: &Item, path: &str) -> Check {
    let roles = ["assistant", "system", "developer", "user"];
    let speaker = match one_of(field(item, path, "role")?, &format!("{path}.role"), &roles)? {
        "assistant" => Speaker::Model,
        "user" => Speaker::Other,
        _ => Speaker::Instructor,
    };
    let own: &[&str] = if speaker == Speaker::Model { &["id", "phase"] } else { &[] };
    known_fields(item, path, &[&["type", "role", "content", "status"][..], own].concat(), &[])?;
    if let Some(phase) = item.get("phase") {
        one_of(phase, &format!("{path}.phase"), &["commentary", "final_answer"])?;
    }
    own_fields(item, path, "msg")?;
    content(field(item, path, "content")?, &format!("{path}.content"), speaker)
}

fn call(item: &Item, path: &str) -> Check {
    known_fields(item, path, &["type", "id", "status", "call_id", "name", "arguments"], &[])?;
    own_fields(item, path, "fc")?;
    call_id(item, path)?;
    function_name(field(item, path, "name")?, &format!("{path}.name"))?;
    let path = format!("{path}.arguments");
    let arguments = string(item.get("arguments").ok_or_else(|| missing(&path))?, &path)?;
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(_) => Err(Rejection::house(&path, &format!("'{path}' must be a JSON object."))),
        Err(error) => Err(Rejection::house(&path, &format!("'{path}' must be valid JSON: {error}."))),
    }
}

fn output(item: &Item, path: &str) -> Check {
    known_fields(item, path, &["type", "id", "status", "call_id", "output"], &[])?;
    own_fields(item, path, "fc")?;
    call_id(item, path)?;
    content(field(item, path, "output")?, &format!("{path}.output"), Speaker::Other)
}

fn call_id(item: &Item, path: &str) -> Check {
    let id = field(item, path, "call_id")?;
    let path = format!("{path}.call_id");
    at_most(non_empty(id, &path)?, &path, MAX_ID)
}

/// Checks what an item has that came from the provider: an id that begins with `prefix`, and a status.
fn own_fields(item: &Item, path: &str, prefix: &str) -> Check {
    if let Some(status) = item.get("status") {
        one_of(status, &format!("{path}.status"), &["in_progress", "completed", "incomplete"])?;
    }
    let Some(id) = item.get("id") else { return Ok(()) };
    let path = format!("{path}.id");
    let id = non_empty(id, &path)?;
    at_most(id, &path, MAX_ID)?;
    if id.starts_with(prefix) {
        return Ok(());
    }
    let message = format!("Invalid '{path}': '{id}'. Expected an ID that begins with '{prefix}'.");
    Err(Rejection::bad(&path, message).code("invalid_value"))
}

/// A thought goes back as it came. What it says openly is in its summary; `content` is for models that hide nothing.
fn reasoning(item: &Item, path: &str, model: &str) -> Check {
    known_fields(item, path, &["type", "id", "status", "summary", "content", "encrypted_content"], &[])?;
    own_fields(item, path, "rs")?;
    let id = string(field(item, path, "id")?, &format!("{path}.id"))?;
    let summary = summary(field(item, path, "summary")?, &format!("{path}.summary"))?;
    if item.get("content").and_then(Value::as_array).is_some_and(|content| !content.is_empty()) {
        let path = format!("{path}.content");
        let message = format!("Invalid '{path}': array too long. Expected an array with maximum length 0.");
        return Err(Rejection::bad(&path, message).code("array_above_max_length"));
    }
    match item.get("encrypted_content") {
        None | Some(Value::Null) => Err(not_kept(id)),
        Some(sealed) => {
            let sealed = non_empty(sealed, &format!("{path}.encrypted_content"))?;
            Thought { model, id, summary: &summary }.verify(sealed)
        }
    }
}

/// The texts of a summary.
fn summary<'a>(value: &'a Value, path: &str) -> Result<Vec<&'a str>, Rejection> {
    let parts = value.as_array().ok_or_else(|| wrong_type(value, path, "an array"))?;
    let text = |(index, part)| {
        let path = format!("{path}[{index}]");
        let part: &Item = object(part, &path)?;
        one_of(field(part, &path, "type")?, &format!("{path}.type"), &["summary_text"])?;
        known_fields(part, &path, &["type", "text"], &[])?;
        string(field(part, &path, "text")?, &format!("{path}.text"))
    };
    parts.iter().enumerate().map(text).collect()
}

/// The refusal of an item that would have to be kept here to be known.
fn not_kept(id: &str) -> Rejection {
    let message = format!(
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
         set to true, or remove this item from your input."
    );
    Rejection { status: 404, ..Rejection::bad("input", message) }
}
