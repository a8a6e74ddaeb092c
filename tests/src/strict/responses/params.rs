//! Parameters: the fields of a request other than its model, input and tools, and which go together.

use crate::strict::{
    chat::shape::{
        at_most, boolean, field, function_name, integer, known_fields, non_empty, number, object, one_of,
        string, strings, wrong_type,
    },
    protocol::Rules,
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

type Test = fn(&Value, &str) -> Check;

/// Every field of the reference, and what its value must be. Fields that other modules check pass here.
const FIELDS: &[(&str, Test)] = &[
    ("background", is_boolean),
    ("context_management", is_array),
    ("conversation", elsewhere),
    ("include", include),
    ("input", elsewhere),
    ("instructions", text),
    ("max_output_tokens", |value, path| integer(value, path, 16, i64::MAX)),
    ("max_tool_calls", |value, path| integer(value, path, 1, i64::MAX)),
    ("metadata", metadata),
    ("model", elsewhere),
    ("parallel_tool_calls", is_boolean),
    ("previous_response_id", text),
    ("prompt", |value, path| object(value, path).map(drop)),
    ("prompt_cache_key", short_text),
    ("prompt_cache_retention", |value, path| word(value, path, &["in_memory", "24h"])),
    ("reasoning", reasoning),
    ("safety_identifier", short_text),
    ("service_tier", |value, path| word(value, path, &["auto", "default", "flex", "scale", "priority"])),
    ("store", is_boolean),
    ("stream", is_boolean),
    ("stream_options", stream_options),
    ("temperature", |value, path| number(value, path, 0.0, 2.0)),
    ("text", text_options),
    ("tool_choice", elsewhere),
    ("tools", elsewhere),
    ("top_logprobs", |value, path| integer(value, path, 0, 20)),
    ("top_p", |value, path| number(value, path, 0.0, 1.0)),
    ("truncation", |value, path| word(value, path, &["auto", "disabled"])),
    ("user", text),
];

/// Fields of chat completions, and what they are called here.
const MOVED: &[(&str, &str)] = &[
    ("max_completion_tokens", "max_output_tokens"),
    ("max_tokens", "max_output_tokens"),
    ("messages", "input"),
    ("reasoning_effort", "reasoning.effort"),
    ("response_format", "text.format"),
    ("verbosity", "text.verbosity"),
];

const INCLUDABLE: &[&str] = &[
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
];

/// Refuses fields that the reference does not know.
pub(super) fn known(body: &Map<String, Value>, rules: &Rules) -> Check {
    let known = |name: &String| FIELDS.iter().any(|(field, _)| field == name) || rules.extra.contains(name);
    let Some(name) = body.keys().find(|name| !known(name)) else { return Ok(()) };
    let Some((_, there)) = MOVED.iter().find(|(moved, _)| moved == name) else {
        return Err(Rejection::bad(name, format!("Unknown parameter: '{name}'.")).code("unknown_parameter"));
    };
    let message = format!(
        "Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to '{there}'. Try again with \
         the new parameter."
    );
    Err(Rejection::bad(name, message).code("unsupported_parameter"))
}

/// Checks the value of each field. A field that is not meant is left out rather than `null`.
pub(super) fn values(body: &Map<String, Value>) -> Check {
    for (name, test) in FIELDS {
        match body.get(*name) {
            None => {}
            Some(Value::Null) => {
                return Err(Rejection::house(name, &format!("'{name}' must be left out, not null.")));
            }
            Some(value) => test(value, name)?,
        }
    }
    Ok(())
}

/// Checks the fields that depend on each other, and those that make sense only where something is kept.
pub(super) fn together(body: &Map<String, Value>) -> Check {
    let is = |name: &str, value: bool| body.get(name) == Some(&Value::Bool(value));
    if body.contains_key("stream_options") && !is("stream", true) {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::bad("stream_options", message));
    }
    if !is("stream", true) {
        return Err(Rejection::house("stream", "'stream' must be true, because this provider only streams."));
    }
    if !is("store", false) {
        return Err(Rejection::house(
            "store",
            "'store' must be false, because it is true unless it is given.",
        ));
    }
    if is("background", true) {
        return Err(Rejection::bad("background", "Background mode requires 'store' to be true."));
    }
    if body.contains_key("previous_response_id") && body.contains_key("conversation") {
        let message =
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Provide only one.";
        return Err(Rejection::bad("previous_response_id", message).code("mutually_exclusive_parameters"));
    }
    kept(body)
}

/// Refuses what refers to something that this provider would have had to keep.
fn kept(body: &Map<String, Value>) -> Check {
    if let Some(id) = body.get("previous_response_id").and_then(Value::as_str) {
        let message = format!("Previous response with id '{id}' not found.");
        return Err(Rejection::bad("previous_response_id", message).code("previous_response_not_found"));
    }
    match body.get("conversation") {
        None => Ok(()),
        Some(conversation) => {
            let id = conversation["id"].as_str().or(conversation.as_str()).unwrap_or_default();
            Err(Rejection::new(404, format!("Conversation with id '{id}' not found.")))
        }
    }
}

fn elsewhere(_: &Value, _: &str) -> Check {
    Ok(())
}

fn is_array(value: &Value, path: &str) -> Check {
    value.as_array().map(drop).ok_or_else(|| wrong_type(value, path, "an array"))
}

fn is_boolean(value: &Value, path: &str) -> Check {
    boolean(value, path).map(drop)
}

fn text(value: &Value, path: &str) -> Check {
    non_empty(value, path).map(drop)
}

fn short_text(value: &Value, path: &str) -> Check {
    at_most(non_empty(value, path)?, path, 64)
}

fn word(value: &Value, path: &str, words: &[&str]) -> Check {
    one_of(value, path, words).map(drop)
}

fn include(value: &Value, path: &str) -> Check {
    let names = strings(value, path)?;
    for (index, name) in names.iter().enumerate() {
        word(&value[index], &format!("{path}[{index}]"), INCLUDABLE)?;
        if names[..index].contains(name) {
            return Err(Rejection::house(path, &format!("'{name}' is included twice.")));
        }
    }
    Ok(())
}

fn metadata(value: &Value, path: &str) -> Check {
    let map = object(value, path)?;
    if map.len() > 16 {
        let message = format!("Invalid '{path}': too many properties. Expected at most 16.");
        return Err(Rejection::bad(path, message).code("object_above_max_properties"));
    }
    for (key, value) in map {
        at_most(key, path, 64)?;
        let path = format!("{path}.{key}");
        at_most(string(value, &path)?, &path, 512)?;
    }
    Ok(())
}

fn reasoning(value: &Value, path: &str) -> Check {
    let map = object(value, path)?;
    known_fields(map, path, &["effort", "summary", "generate_summary"], &[])?;
    for (name, value) in map {
        let path = format!("{path}.{name}");
        match name.as_str() {
            "effort" => word(value, &path, &["none", "minimal", "low", "medium", "high", "xhigh"])?,
            _ => word(value, &path, &["auto", "concise", "detailed"])?,
        }
    }
    Ok(())
}

fn stream_options(value: &Value, path: &str) -> Check {
    let options = object(value, path)?;
    known_fields(options, path, &["include_obfuscation"], &[])?;
    options.iter().try_for_each(|(name, value)| is_boolean(value, &format!("{path}.{name}")))
}

fn text_options(value: &Value, path: &str) -> Check {
    let options = object(value, path)?;
    known_fields(options, path, &["format", "verbosity"], &[])?;
    if let Some(verbosity) = options.get("verbosity") {
        word(verbosity, &format!("{path}.verbosity"), &["low", "medium", "high"])?;
    }
    options.get("format").map_or(Ok(()), |wanted| format(wanted, &format!("{path}.format")))
}

fn format(value: &Value, path: &str) -> Check {
    let format = object(value, path)?;
    let kinds = ["text", "json_object", "json_schema"];
    if one_of(field(format, path, "type")?, &std::format!("{path}.type"), &kinds)? != "json_schema" {
        return known_fields(format, path, &["type"], &[]);
    }
    known_fields(format, path, &["type", "name", "description", "schema", "strict"], &[])?;
    function_name(field(format, path, "name")?, &format!("{path}.name"))?;
    object(field(format, path, "schema")?, &format!("{path}.schema")).map(drop)
}
