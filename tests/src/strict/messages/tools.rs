//! Tools: what is offered, and which of it may be called.

use super::{
    cache::Marks,
    shape::{at, boolean, field, known_fields, list, object, plain, refuse, string, tag},
};
use crate::strict::{
    chat::schema,
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

/// Checks the tools of a request.
pub(super) fn tools(body: &Map<String, Value>, marks: &mut Marks) -> Check {
    let Some(tools) = body.get("tools") else { return needed(body) };
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in list(tools, "tools")?.iter().enumerate() {
        let name = one(tool, &at("tools", index), marks)?;
        if names.contains(&name) {
            return Err(refuse("tools", "Tool names must be unique."));
        }
        names.push(name);
    }
    if names.is_empty() { needed(body) } else { Ok(()) }
}

/// A conversation with calls or results needs tools.
fn needed(body: &Map<String, Value>) -> Check {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let mut blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    if blocks.any(|block| block["type"] == "tool_use" || block["type"] == "tool_result") {
        let message = "Requests which include `tool_use` or `tool_result` blocks must define tools.";
        return Err(Rejection::bad("tools", message));
    }
    Ok(())
}

/// Only tools that run at the client are known here.
fn one<'a>(tool: &'a Value, path: &str, marks: &mut Marks) -> Result<&'a str, Rejection> {
    let tool = object(tool, path)?;
    if tool.contains_key("type") {
        tag(tool, path, &["custom"])?;
    }
    let path = at(path, "custom");
    known_fields(
        tool,
        &path,
        &["type", "name", "description", "input_schema", "cache_control", "strict"],
        &[],
    )?;
    let name = plain(field(tool, &path, "name")?, &at(&path, "name"), 128)?;
    if let Some(description) = tool.get("description") {
        string(description, &at(&path, "description"))?;
    }
    if let Some(strict) = tool.get("strict") {
        boolean(strict, &at(&path, "strict"))?;
    }
    let schema_path = at(&path, "input_schema");
    input_schema(field(tool, &path, "input_schema")?, &schema_path, name)?;
    marks.take(tool.get("cache_control"), &path)?;
    Ok(name)
}

fn input_schema(value: &Value, path: &str, name: &str) -> Check {
    let schema = object(value, path)?;
    if field(schema, path, "type")? != "object" {
        return Err(refuse(&at(path, "type"), "Input should be 'object'"));
    }
    if ["oneOf", "allOf", "anyOf"].iter().any(|word| schema.contains_key(*word)) {
        return Err(refuse(path, "input_schema does not support oneOf, allOf, or anyOf at the top level"));
    }
    schema::parameters(value, path, name, false).map_err(|why| {
        let what =
            format!("JSON schema is invalid. It must match JSON Schema draft 2020-12. {}", why.message);
        refuse(path, &what)
    })
}

/// Checks which tools may be called.
pub(super) fn choice(body: &Map<String, Value>) -> Check {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    let choice = object(choice, "tool_choice")?;
    let offered: Vec<_> = body.get("tools").and_then(Value::as_array).into_iter().flatten().collect();
    if offered.is_empty() {
        return Err(refuse("tool_choice", "tool_choice may only be specified while providing tools."));
    }
    let kind = tag(choice, "tool_choice", &["auto", "any", "tool", "none"])?;
    let path = at("tool_choice", kind);
    let known: &[&str] = match kind {
        "tool" => &["type", "name", "disable_parallel_tool_use"],
        "none" => &["type"],
        _ => &["type", "disable_parallel_tool_use"],
    };
    known_fields(choice, &path, known, &[])?;
    if let Some(disable) = choice.get("disable_parallel_tool_use") {
        boolean(disable, &at(&path, "disable_parallel_tool_use"))?;
    }
    if kind != "tool" {
        return Ok(());
    }
    let name = string(field(choice, &path, "name")?, &at(&path, "name"))?;
    if offered.iter().any(|tool| tool["name"] == name) {
        return Ok(());
    }
    Err(refuse("tool_choice", &format!("Tool '{name}' not found in provided tools")))
}
