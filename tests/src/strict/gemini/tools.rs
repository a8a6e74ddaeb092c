//! Tools: which functions are offered, and which of them may be called.

use super::contents::function_name;
use super::proto::{Message, violation};
use super::schema;
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

const TOOL: &[&str] = &[
    "functionDeclarations",
    "googleSearch",
    "googleSearchRetrieval",
    "codeExecution",
    "urlContext",
    "computerUse",
    "fileSearch",
    "googleMaps",
];

const DECLARATION: &[&str] = &[
    "name",
    "description",
    "behavior",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
];

/// Checks the tools of a request, and tells the names of the functions.
pub(super) fn tools<'a>(body: &Message<'a>) -> Result<Vec<&'a str>, Rejection> {
    let mut names: Vec<&str> = Vec::new();
    for (value, path) in body.list("tools")? {
        let tool = Message::read(value, &path, TOOL)?;
        if TOOL.iter().all(|name| !tool.has(name)) {
            return Err(Rejection::house(&path, "a tool must have something."));
        }
        let declarations = tool.list("functionDeclarations")?;
        if tool.has("functionDeclarations") && declarations.is_empty() {
            return Err(Rejection::house(&path, "function_declarations must not be empty."));
        }
        for (value, path) in declarations {
            let name = declaration(value, &path)?;
            if names.contains(&name) {
                return Err(Rejection::bad(&path, format!("Duplicate function declaration found: {name}")));
            }
            names.push(name);
        }
    }
    Ok(names)
}

fn declaration<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let message = Message::read(value, path, DECLARATION)?;
    let name = message.string("name")?.unwrap_or_default();
    function_name(name, &message.at("name"))?;
    if message.string("description")?.is_none_or(|text| text.trim().is_empty()) {
        return Err(Rejection::house(path, "a function must have a description."));
    }
    message.word("behavior", &["BLOCKING", "NON_BLOCKING"])?;
    for (own, json) in [("parameters", "parametersJsonSchema"), ("response", "responseJsonSchema")] {
        if message.has(own) && message.has(json) {
            let what = format!("only one of {own} and {json} may be set.");
            return Err(violation(&message.at(json), &what));
        }
    }
    if let Some(value) = message.get("parameters") {
        schema::own(value, &message.at("parameters"))?;
    }
    if let Some(value) = message.get("parametersJsonSchema") {
        schema::json(value, &message.at("parametersJsonSchema"))?;
    }
    Ok(name)
}

/// Checks the tool config, whose functions are of those that are offered.
pub(super) fn config(value: &Value, path: &str, offered: &[&str]) -> Check {
    let config = Message::read(value, path, &["functionCallingConfig", "retrievalConfig"])?;
    let Some(value) = config.get("functionCallingConfig") else { return Ok(()) };
    let at = config.at("functionCallingConfig");
    let calling = Message::read(value, &at, &["mode", "allowedFunctionNames"])?;
    let mode = calling.word("mode", &["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"])?;
    if offered.is_empty() {
        return Err(Rejection::bad(&at, "Function calling config is set without function_declarations."));
    }
    let allowed = calling.list("allowedFunctionNames")?;
    let chooses = mode.is_some_and(|mode| ["any", "validated"].contains(&mode.to_lowercase().as_str()));
    if !allowed.is_empty() && !chooses {
        let what =
            "Allowed function names should only be set when the function calling mode is ANY or VALIDATED.";
        return Err(Rejection::bad(&calling.at("allowedFunctionNames"), what));
    }
    let unknown = |(name, _): &&(&Value, String)| name.as_str().is_none_or(|name| !offered.contains(&name));
    match allowed.iter().find(unknown) {
        Some((name, path)) => {
            Err(violation(path, &format!("{name} is not among the function declarations.")))
        }
        None => Ok(()),
    }
}
