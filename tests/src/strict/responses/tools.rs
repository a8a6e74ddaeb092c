//! Tools: what is offered, and which of it may be called. A function is described flat, beside its type.

use crate::strict::{
    chat::{
        schema,
        shape::{boolean, field, filled, function_name, known_fields, non_empty, object, one_of, wrong_type},
    },
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

const MAX_TOOLS: usize = 128;

/// The tools that the real provider runs by itself, or that are not functions.
const HOSTED: [&str; 11] = [
    "apply_patch",
    "code_interpreter",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "shell",
    "web_search",
    "web_search_preview",
];

/// Checks the tools of a request.
pub(super) fn tools(body: &Map<String, Value>) -> Check {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let tools = filled(tools, "tools")?;
    if tools.len() > MAX_TOOLS {
        let message = format!("Invalid 'tools': array too long. Expected at most {MAX_TOOLS} elements.");
        return Err(Rejection::bad("tools", message).code("array_above_max_length"));
    }
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        let name = one(tool, &path)?;
        if names.contains(&name) {
            let message = format!("Tool names must be unique: '{name}' is offered twice.");
            return Err(Rejection::bad(&path, message));
        }
        names.push(name);
    }
    Ok(())
}

fn one<'a>(tool: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let tool = object(tool, path)?;
    let kind_path = format!("{path}.type");
    let kind = field(tool, path, "type")?;
    if kind.as_str().is_some_and(|kind| HOSTED.contains(&kind)) {
        return Err(Rejection::house(&kind_path, &format!("this provider has no tool of the type {kind}.")));
    }
    one_of(kind, &kind_path, &["function"])?;
    let name = function_name(field(tool, path, "name")?, &format!("{path}.name"))?;
    known_fields(tool, path, &["type", "name", "description", "parameters", "strict"], &[])?;
    if let Some(description) = tool.get("description") {
        non_empty(description, &format!("{path}.description"))?;
    }
    let strict_path = format!("{path}.strict");
    let strict = boolean(tool.get("strict").ok_or_else(|| unsaid(&strict_path))?, &strict_path)?;
    schema::parameters(field(tool, path, "parameters")?, &format!("{path}.parameters"), name, strict)?;
    Ok(name)
}

fn unsaid(path: &str) -> Rejection {
    Rejection::house(path, &format!("'{path}' must be given, because it is true unless it is given."))
}

/// Checks `tool_choice` and `parallel_tool_calls`, which make no sense without tools.
pub(super) fn choice(body: &Map<String, Value>) -> Check {
    for name in ["tool_choice", "parallel_tool_calls"] {
        if body.contains_key(name) && !body.contains_key("tools") {
            return Err(Rejection::house(name, &format!("'{name}' makes no sense without 'tools'.")));
        }
    }
    match body.get("tool_choice") {
        None => Ok(()),
        Some(word @ Value::String(_)) => one_of(word, "tool_choice", &["none", "auto", "required"]).map(drop),
        Some(Value::Object(choice)) => chosen(choice, body),
        Some(other) => Err(wrong_type(other, "tool_choice", "one of a string or an object")),
    }
}

fn chosen(choice: &Map<String, Value>, body: &Map<String, Value>) -> Check {
    let path = "tool_choice";
    let kind = field(choice, path, "type")?;
    match one_of(kind, "tool_choice.type", &["function", "allowed_tools"])? {
        "function" => named(choice, path, body),
        _ => allowed(choice, body),
    }
}

fn allowed(choice: &Map<String, Value>, body: &Map<String, Value>) -> Check {
    let path = "tool_choice";
    known_fields(choice, path, &["type", "mode", "tools"], &[])?;
    one_of(field(choice, path, "mode")?, "tool_choice.mode", &["auto", "required"])?;
    for (index, tool) in filled(field(choice, path, "tools")?, "tool_choice.tools")?.iter().enumerate() {
        let path = format!("tool_choice.tools[{index}]");
        let tool = object(tool, &path)?;
        one_of(field(tool, &path, "type")?, &format!("{path}.type"), &["function"])?;
        named(tool, &path, body)?;
    }
    Ok(())
}

fn named(choice: &Map<String, Value>, path: &str, body: &Map<String, Value>) -> Check {
    let name = function_name(field(choice, path, "name")?, &format!("{path}.name"))?;
    known_fields(choice, path, &["type", "name"], &[])?;
    if body["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == name) {
        return Ok(());
    }
    let message = format!("Tool choice '{name}' not found in 'tools' parameter.");
    Err(Rejection::bad(path, message).code("invalid_value"))
}
