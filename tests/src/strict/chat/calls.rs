//! Calls: the tool calls of an assistant message.

use super::shape::{at_most, field, filled, function_name, known_fields, non_empty, object, one_of, string};
use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// The longest id of a call that the reference server takes.
const MAX_ID: usize = 40;

/// Checks the calls at `path`.
pub(super) fn calls(calls: &Value, path: &str) -> Check {
    let mut seen: Vec<&str> = Vec::new();
    for (index, call) in filled(calls, path)?.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let id = one(call, &path)?;
        if seen.contains(&id) {
            let path = format!("{path}.id");
            return Err(
                Rejection::bad(&path, format!("Duplicate value for '{path}': '{id}'.")).code("invalid_value")
            );
        }
        seen.push(id);
    }
    Ok(())
}

/// Checks the id of a call, or a reference to one.
pub(super) fn id<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let id = non_empty(value, path)?;
    at_most(id, path, MAX_ID)?;
    Ok(id)
}

fn one<'a>(call: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let call = object(call, path)?;
    known_fields(call, path, &["id", "type", "function"], &[])?;
    let id = id(field(call, path, "id")?, &format!("{path}.id"))?;
    one_of(field(call, path, "type")?, &format!("{path}.type"), &["function"])?;
    let function = field(call, path, "function")?;
    let path = format!("{path}.function");
    called(object(function, &path)?, &path)?;
    Ok(id)
}

fn called(function: &Map<String, Value>, path: &str) -> Check {
    known_fields(function, path, &["name", "arguments"], &[])?;
    function_name(field(function, path, "name")?, &format!("{path}.name"))?;
    let arguments_path = format!("{path}.arguments");
    let arguments = string(field(function, path, "arguments")?, &arguments_path)?;
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(_) => {
            Err(Rejection::house(&arguments_path, &format!("'{arguments_path}' must be a JSON object.")))
        }
        Err(error) => Err(Rejection::house(
            &arguments_path,
            &format!("'{arguments_path}' must be valid JSON: {error}."),
        )),
    }
}
