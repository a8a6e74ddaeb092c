//! Parameters: the fields of a request other than its model, messages and tools, and which go together.

use super::shape::{
    at_most, boolean, filled, integer, known_fields, non_empty, number, object, one_of, string, strings,
    wrong_type,
};
use crate::strict::{
    protocol::Rules,
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

type Test = fn(&Value, &str) -> Check;

/// Every field of the reference, and what its value must be. Fields that other modules check pass here.
const FIELDS: &[(&str, Test)] = &[
    ("audio", is_object),
    ("frequency_penalty", |value, path| number(value, path, -2.0, 2.0)),
    ("logit_bias", logit_bias),
    ("logprobs", is_boolean),
    ("max_completion_tokens", positive),
    ("max_tokens", positive),
    ("messages", elsewhere),
    ("metadata", metadata),
    ("modalities", modalities),
    ("model", elsewhere),
    ("n", |value, path| integer(value, path, 1, 128)),
    ("parallel_tool_calls", is_boolean),
    ("prediction", is_object),
    ("presence_penalty", |value, path| number(value, path, -2.0, 2.0)),
    ("prompt_cache_key", text),
    ("reasoning_effort", |value, path| {
        word(value, path, &["none", "minimal", "low", "medium", "high", "xhigh"])
    }),
    ("response_format", response_format),
    ("safety_identifier", text),
    ("seed", |value, path| integer(value, path, i64::MIN, i64::MAX)),
    ("service_tier", |value, path| word(value, path, &["auto", "default", "flex", "scale", "priority"])),
    ("stop", stop),
    ("store", is_boolean),
    ("stream", is_boolean),
    ("stream_options", stream_options),
    ("temperature", |value, path| number(value, path, 0.0, 2.0)),
    ("tool_choice", elsewhere),
    ("tools", elsewhere),
    ("top_logprobs", |value, path| integer(value, path, 0, 20)),
    ("top_p", |value, path| number(value, path, 0.0, 1.0)),
    ("user", text),
    ("verbosity", |value, path| word(value, path, &["low", "medium", "high"])),
    ("web_search_options", is_object),
];

/// Refuses fields that the reference does not know.
pub(super) fn known(body: &Map<String, Value>, rules: &Rules) -> Check {
    let known = |name: &String| FIELDS.iter().any(|(field, _)| field == name) || rules.extra.contains(name);
    match body.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(Rejection::new(400, format!("Unrecognized request argument supplied: {name}"))),
    }
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

/// Checks the fields that depend on each other.
pub(super) fn together(body: &Map<String, Value>) -> Check {
    let streams = body.get("stream") == Some(&Value::Bool(true));
    if !streams && body.contains_key("stream_options") {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::bad("stream_options", message));
    }
    if !streams {
        return Err(Rejection::house("stream", "'stream' must be true, because this provider only streams."));
    }
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        let message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Rejection::bad("max_tokens", message).code("invalid_parameter_combination"));
    }
    if body.contains_key("top_logprobs") && body.get("logprobs") != Some(&Value::Bool(true)) {
        let message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.";
        return Err(Rejection::bad("top_logprobs", message));
    }
    Ok(())
}

fn elsewhere(_: &Value, _: &str) -> Check {
    Ok(())
}

fn is_object(value: &Value, path: &str) -> Check {
    object(value, path).map(drop)
}

fn is_boolean(value: &Value, path: &str) -> Check {
    boolean(value, path).map(drop)
}

fn positive(value: &Value, path: &str) -> Check {
    integer(value, path, 1, i64::MAX)
}

fn text(value: &Value, path: &str) -> Check {
    non_empty(value, path).map(drop)
}

fn word(value: &Value, path: &str, words: &[&str]) -> Check {
    one_of(value, path, words).map(drop)
}

fn modalities(value: &Value, path: &str) -> Check {
    filled(value, path)?.iter().try_for_each(|item| word(item, path, &["text", "audio"]))
}

fn logit_bias(value: &Value, path: &str) -> Check {
    object(value, path)?
        .iter()
        .try_for_each(|(token, bias)| integer(bias, &format!("{path}.{token}"), -100, 100))
}

fn metadata(value: &Value, path: &str) -> Check {
    let map = object(value, path)?;
    if map.len() > 16 {
        return Err(Rejection::bad(
            path,
            format!("Invalid '{path}': too many properties. Expected at most 16."),
        ));
    }
    for (key, value) in map {
        at_most(key, path, 64)?;
        let path = format!("{path}.{key}");
        at_most(string(value, &path)?, &path, 512)?;
    }
    Ok(())
}

fn stop(value: &Value, path: &str) -> Check {
    match value {
        Value::String(_) => text(value, path),
        Value::Array(items) if items.len() > 4 => Err(Rejection::bad(
            path,
            format!("Invalid '{path}': array too long. Expected at most 4 elements."),
        )),
        Value::Array(_) => strings(value, path).map(drop),
        _ => Err(wrong_type(value, path, "a string or an array of strings")),
    }
}

fn stream_options(value: &Value, path: &str) -> Check {
    let options = object(value, path)?;
    known_fields(options, path, &["include_usage", "include_obfuscation"], &[])?;
    options.iter().try_for_each(|(name, value)| is_boolean(value, &format!("{path}.{name}")))
}

fn response_format(value: &Value, path: &str) -> Check {
    let format = object(value, path)?;
    let kind = super::shape::field(format, path, "type")?;
    let kind = one_of(kind, &format!("{path}.type"), &["text", "json_object", "json_schema"])?;
    if kind != "json_schema" {
        return known_fields(format, path, &["type"], &[]);
    }
    known_fields(format, path, &["type", "json_schema"], &[])?;
    let path = format!("{path}.json_schema");
    let schema = object(super::shape::field(format, "response_format", "json_schema")?, &path)?;
    known_fields(schema, &path, &["name", "description", "schema", "strict"], &[])?;
    super::shape::function_name(super::shape::field(schema, &path, "name")?, &format!("{path}.name"))
        .map(drop)
}
