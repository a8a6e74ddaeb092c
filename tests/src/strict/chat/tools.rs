//! Tools: what is offered, and which of it may be called.

use super::{
    schema,
    shape::{boolean, field, filled, function_name, known_fields, non_empty, object, one_of, wrong_type},
};
use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

const MAX_TOOLS: usize = 128;

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
            return Err(Rejection::bad(
                &path,
                format!("Tool names must be unique: '{name}' is offered twice."),
            ));
        }
        names.push(name);
    }
    Ok(())
}

fn one<'a>(tool: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let tool = object(tool, path)?;
    known_fields(tool, path, &["type", "function"], &[])?;
    one_of(field(tool, path, "type")?, &format!("{path}.type"), &["function"])?;
    let function = field(tool, path, "function")?;
    offered(object(function, &format!("{path}.function"))?, &format!("{path}.function"))
}

fn offered<'a>(function: &'a Map<String, Value>, path: &str) -> Result<&'a str, Rejection> {
    known_fields(function, path, &["name", "description", "parameters", "strict"], &[])?;
    let name = function_name(field(function, path, "name")?, &format!("{path}.name"))?;
    if let Some(description) = function.get("description") {
        non_empty(description, &format!("{path}.description"))?;
    }
    let strict =
        function.get("strict").map(|strict| boolean(strict, &format!("{path}.strict"))).transpose()?;
    let path = format!("{path}.parameters");
    match function.get("parameters") {
        Some(parameters) => schema::parameters(parameters, &path, name, strict == Some(true))?,
        None => return Err(Rejection::house(&path, &format!("'{path}' must be given."))),
    }
    Ok(name)
}

/// Checks `tool_choice` and `parallel_tool_calls`, which make no sense without tools.
pub(super) fn choice(body: &Map<String, Value>) -> Check {
    for name in ["tool_choice", "parallel_tool_calls"] {
        if body.contains_key(name) && !body.contains_key("tools") {
            let message =
                format!("Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.");
            return Err(Rejection::bad(name, message));
        }
    }
    match body.get("tool_choice") {
        None => Ok(()),
        Some(word @ Value::String(_)) => one_of(word, "tool_choice", &["none", "auto", "required"]).map(drop),
        Some(Value::Object(named)) => chosen(named, body),
        Some(other) => Err(wrong_type(other, "tool_choice", "one of a string or an object")),
    }
}

fn chosen(named: &Map<String, Value>, body: &Map<String, Value>) -> Check {
    let path = "tool_choice";
    known_fields(named, path, &["type", "function"], &[])?;
    one_of(field(named, path, "type")?, "tool_choice.type", &["function"])?;
    let function = object(field(named, path, "function")?, "tool_choice.function")?;
    known_fields(function, "tool_choice.function", &["name"], &[])?;
    let name = function_name(field(function, "tool_choice.function", "name")?, "tool_choice.function.name")?;
    let mut tools = body["tools"].as_array().into_iter().flatten();
    if tools.any(|tool| tool["function"]["name"] == name) {
        return Ok(());
    }
    Err(Rejection::bad(
        path,
        format!("Invalid value for 'tool_choice': the tool '{name}' is not among 'tools'."),
    ))
}
