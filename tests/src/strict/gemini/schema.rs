//! Schemas: the reference's own kind, which is a subset of OpenAPI's, and JSON Schema as far as it is taken.

use super::proto::{Message, violation};
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

const OWN: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// Checks parameters in the reference's own kind of schema.
pub(super) fn own(value: &Value, path: &str) -> Check {
    let schema = Message::read(value, path, OWN)?;
    if !is(&schema, "OBJECT")? {
        return Err(violation(path, "the parameters schema should be of type OBJECT."));
    }
    walk(value, path)
}

fn walk(value: &Value, path: &str) -> Check {
    let schema = Message::read(value, path, OWN)?;
    let kind = schema.word("type", TYPES)?;
    let alternatives = schema.list("anyOf")?;
    if kind.is_none() && alternatives.is_empty() {
        return Err(violation(&schema.at("type"), "must be specified."));
    }
    alternatives.iter().try_for_each(|(value, path)| walk(value, path))?;
    if schema.has("enum") && !is(&schema, "STRING")? {
        return Err(violation(&schema.at("enum"), "only allowed for STRING type"));
    }
    if let Some((_, path)) =
        schema.list("enum")?.iter().find(|(word, _)| word.as_str().is_none_or(str::is_empty))
    {
        return Err(violation(path, "cannot be empty"));
    }
    match schema.get("items") {
        Some(items) => walk(items, &schema.at("items"))?,
        None if is(&schema, "ARRAY")? => return Err(violation(&schema.at("items"), "missing field.")),
        None => {}
    }
    properties(&schema)
}

fn properties(schema: &Message<'_>) -> Check {
    let at = schema.at("properties");
    let properties = schema.object("properties")?;
    if is(schema, "OBJECT")? && properties.is_none_or(|properties| properties.is_empty()) {
        return Err(violation(&at, "should be non-empty for OBJECT type"));
    }
    for (name, value) in properties.into_iter().flatten() {
        walk(value, &format!("{at}.{name}"))?;
    }
    let defined = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        properties.is_some_and(|properties| properties.contains_key(name))
    };
    match schema.list("required")?.iter().find(|(name, _)| !defined(name)) {
        Some((_, path)) => Err(violation(path, "property is not defined")),
        None => Ok(()),
    }
}

fn is(schema: &Message<'_>, kind: &str) -> Result<bool, Rejection> {
    Ok(schema.string("type")?.is_some_and(|given| given.eq_ignore_ascii_case(kind)))
}

/// Checks parameters in JSON Schema, which must be of an object. Words that are not known are passed over.
pub(super) fn json(value: &Value, path: &str) -> Check {
    if value["type"] != "object" {
        return Err(violation(path, "the parameters schema should be of type object."));
    }
    json_walk(value, path)
}

fn json_walk(value: &Value, path: &str) -> Check {
    let Some(schema) = value.as_object() else {
        return if value.is_boolean() { Ok(()) } else { Err(violation(path, "a schema must be an object.")) };
    };
    let kinds = match schema.get("type") {
        None => Vec::new(),
        Some(Value::Array(kinds)) => kinds.iter().collect(),
        Some(kind) => vec![kind],
    };
    let known = |kind: &&Value| {
        kind.as_str().is_some_and(|kind| {
            ["string", "number", "integer", "boolean", "array", "object", "null"].contains(&kind)
        })
    };
    if let Some(kind) = kinds.iter().find(|kind| !known(kind)) {
        return Err(violation(path, &format!("{kind} is not a type of JSON Schema.")));
    }
    if kinds.iter().any(|kind| **kind == "array")
        && !["items", "prefixItems"].iter().any(|name| schema.contains_key(*name))
    {
        return Err(violation(&format!("{path}.items"), "missing field."));
    }
    if let Some(values) = schema.get("enum")
        && values.as_array().is_none_or(Vec::is_empty)
    {
        return Err(violation(&format!("{path}.enum"), "must be a list that is not empty."));
    }
    parts(value).into_iter().try_for_each(|(name, inner)| json_walk(inner, &format!("{path}.{name}")))?;
    let required = value["required"].as_array().into_iter().flatten();
    let missing = |name: &&Value| value["properties"].get(name.as_str().unwrap_or_default()).is_none();
    match required.into_iter().find(missing) {
        Some(name) => Err(violation(&format!("{path}.required"), &format!("{name} is not a property."))),
        None => Ok(()),
    }
}

/// The schemas inside a schema.
fn parts(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for name in ["properties", "$defs"] {
        let inner = value[name].as_object().into_iter().flatten();
        found.extend(inner.map(|(key, inner)| (format!("{name}.{key}"), inner)));
    }
    for name in ["anyOf", "oneOf", "prefixItems"] {
        let inner = value[name].as_array().into_iter().flatten();
        found.extend(inner.map(|inner| (name.to_owned(), inner)));
    }
    for name in ["items", "additionalProperties"] {
        found.extend(value.get(name).map(|inner| (name.to_owned(), inner)));
    }
    found
}
