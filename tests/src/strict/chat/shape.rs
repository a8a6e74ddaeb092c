//! Shapes: the types, lengths and ranges that the other checks are made of, with the provider's wording.

use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// The longest text that a message may hold.
pub(in crate::strict) const MAX_TEXT: usize = 10_485_760;

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The refusal of a value of the wrong type.
pub(in crate::strict) fn wrong_type(value: &Value, path: &str, expected: &str) -> Rejection {
    let message = format!("Invalid type for '{path}': expected {expected}, but got {} instead.", kind(value));
    Rejection::bad(path, message).code("invalid_type")
}

/// The refusal of a field that is not there.
pub(in crate::strict) fn missing(path: &str) -> Rejection {
    Rejection::bad(path, format!("Missing required parameter: '{path}'.")).code("missing_required_parameter")
}

/// The field `name` of `map`, which is at `path`.
pub(in crate::strict) fn field<'a>(
    map: &'a Map<String, Value>,
    path: &str,
    name: &str,
) -> Result<&'a Value, Rejection> {
    map.get(name).ok_or_else(|| missing(&format!("{path}.{name}")))
}

pub(in crate::strict) fn string<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    value.as_str().ok_or_else(|| wrong_type(value, path, "a string"))
}

pub(in crate::strict) fn object<'a>(
    value: &'a Value,
    path: &str,
) -> Result<&'a Map<String, Value>, Rejection> {
    value.as_object().ok_or_else(|| wrong_type(value, path, "an object"))
}

pub(in crate::strict) fn boolean(value: &Value, path: &str) -> Result<bool, Rejection> {
    value.as_bool().ok_or_else(|| wrong_type(value, path, "a boolean"))
}

/// A string that says something and is not longer than a message may be.
pub(in crate::strict) fn non_empty<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let text = string(value, path)?;
    if text.is_empty() {
        let message = format!("Invalid '{path}': empty string. Expected a string with minimum length 1.");
        return Err(Rejection::bad(path, message).code("empty_string"));
    }
    at_most(text, path, MAX_TEXT)?;
    Ok(text)
}

pub(in crate::strict) fn at_most(text: &str, path: &str, most: usize) -> Check {
    let length = text.chars().count();
    if length <= most {
        return Ok(());
    }
    let message = format!(
        "Invalid '{path}': string too long. Expected a string with maximum length {most}, but got a string with length \
         {length} instead."
    );
    Err(Rejection::bad(path, message).code("string_above_max_length"))
}

/// An array with at least one element.
pub(in crate::strict) fn filled<'a>(value: &'a Value, path: &str) -> Result<&'a [Value], Rejection> {
    let array = value.as_array().ok_or_else(|| wrong_type(value, path, "an array"))?;
    if array.is_empty() {
        let message = format!(
            "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
        );
        return Err(Rejection::bad(path, message).code("empty_array"));
    }
    Ok(array)
}

/// An array of strings that say something.
pub(in crate::strict) fn strings<'a>(value: &'a Value, path: &str) -> Result<Vec<&'a str>, Rejection> {
    let array = filled(value, path)?.iter().enumerate();
    array.map(|(index, item)| non_empty(item, &format!("{path}[{index}]"))).collect()
}

/// One of a few words.
pub(in crate::strict) fn one_of<'a>(
    value: &'a Value,
    path: &str,
    words: &[&str],
) -> Result<&'a str, Rejection> {
    let word = string(value, path)?;
    if words.contains(&word) {
        return Ok(word);
    }
    let listed: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let message =
        format!("Invalid value: '{word}'. Supported values for '{path}' are: {}.", listed.join(", "));
    Err(Rejection::bad(path, message).code("invalid_value"))
}

pub(in crate::strict) fn integer(value: &Value, path: &str, least: i64, most: i64) -> Check {
    match value.as_i64() {
        Some(number) if (least..=most).contains(&number) => Ok(()),
        Some(number) => Err(out_of_range(path, number, least, most)),
        None => Err(wrong_type(value, path, "an integer")),
    }
}

pub(in crate::strict) fn number(value: &Value, path: &str, least: f64, most: f64) -> Check {
    match value.as_f64() {
        Some(number) if (least..=most).contains(&number) => Ok(()),
        Some(number) => Err(out_of_range(path, number, least, most)),
        None => Err(wrong_type(value, path, "a decimal")),
    }
}

fn out_of_range<T: std::fmt::Display>(path: &str, number: T, least: T, most: T) -> Rejection {
    let message = format!("Invalid '{path}': {number} is not between {least} and {most}.");
    Rejection::bad(path, message).code("number_out_of_range")
}

/// Refuses a field of `map` that is neither `known` nor among `extra`.
pub(in crate::strict) fn known_fields(
    map: &Map<String, Value>,
    path: &str,
    known: &[&str],
    extra: &[String],
) -> Check {
    match map.keys().find(|name| !known.contains(&name.as_str()) && !extra.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let path = format!("{path}.{name}");
            Err(Rejection::bad(&path, format!("Unknown parameter: '{path}'.")).code("unknown_parameter"))
        }
    }
}

/// A function name.
pub(in crate::strict) fn function_name<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    let name = non_empty(value, path)?;
    at_most(name, path, 64)?;
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Ok(name);
    }
    let message = format!(
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'."
    );
    Err(Rejection::bad(path, message).code("invalid_value"))
}
