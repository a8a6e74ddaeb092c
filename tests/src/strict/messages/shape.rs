//! Shapes: the types, lengths and ranges that the other checks are made of, with the provider's wording.

use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// A 400 that blames what is at `path`.
pub(super) fn refuse(path: &str, what: &str) -> Rejection {
    Rejection::bad(path, format!("{path}: {what}"))
}

/// The path of something in what is at `path`, which is empty for the body.
pub(super) fn at(path: &str, name: impl std::fmt::Display) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// The field `name` of `map`, which is at `path`.
pub(super) fn field<'a>(map: &'a Map<String, Value>, path: &str, name: &str) -> Result<&'a Value, Rejection> {
    map.get(name).ok_or_else(|| refuse(&at(path, name), "Field required"))
}

/// Refuses a field of `map` that is neither `known` nor among `extra`.
pub(super) fn known_fields(map: &Map<String, Value>, path: &str, known: &[&str], extra: &[String]) -> Check {
    match map.keys().find(|name| !known.contains(&name.as_str()) && !extra.contains(name)) {
        None => Ok(()),
        Some(name) => Err(refuse(&at(path, name), "Extra inputs are not permitted")),
    }
}

pub(super) fn string<'a>(value: &'a Value, path: &str) -> Result<&'a str, Rejection> {
    value.as_str().ok_or_else(|| refuse(path, "Input should be a valid string"))
}

/// A string that says something and has at most `most` characters.
pub(super) fn short<'a>(value: &'a Value, path: &str, most: usize) -> Result<&'a str, Rejection> {
    let text = string(value, path)?;
    if text.is_empty() {
        return Err(refuse(path, "String should have at least 1 character"));
    }
    if text.chars().count() > most {
        return Err(refuse(path, &format!("String should have at most {most} characters")));
    }
    Ok(text)
}

/// A name or an id: letters, digits, `_` and `-`.
pub(super) fn plain<'a>(value: &'a Value, path: &str, most: usize) -> Result<&'a str, Rejection> {
    let text = string(value, path)?;
    let fits = (1..=most).contains(&text.chars().count());
    if fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Ok(text);
    }
    Err(refuse(path, &format!("String should match pattern '^[a-zA-Z0-9_-]{{1,{most}}}$'")))
}

pub(super) fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Rejection> {
    value.as_object().ok_or_else(|| refuse(path, "Input should be a valid dictionary"))
}

pub(super) fn list<'a>(value: &'a Value, path: &str) -> Result<&'a [Value], Rejection> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| refuse(path, "Input should be a valid list"))
}

pub(super) fn boolean(value: &Value, path: &str) -> Result<bool, Rejection> {
    value.as_bool().ok_or_else(|| refuse(path, "Input should be a valid boolean"))
}

pub(super) fn integer(value: &Value, path: &str, least: u64) -> Result<u64, Rejection> {
    match (value.as_u64(), value.is_i64()) {
        (Some(number), _) if number >= least => Ok(number),
        (Some(_), _) | (None, true) => {
            Err(refuse(path, &format!("Input should be greater than or equal to {least}")))
        }
        (None, false) => Err(refuse(path, "Input should be a valid integer")),
    }
}

/// A number from 0 to 1.
pub(super) fn share(value: &Value, path: &str) -> Result<f64, Rejection> {
    let number = value.as_f64().ok_or_else(|| refuse(path, "Input should be a valid number"))?;
    if number < 0.0 {
        return Err(refuse(path, "Input should be greater than or equal to 0"));
    }
    if number > 1.0 {
        return Err(refuse(path, "Input should be less than or equal to 1"));
    }
    Ok(number)
}

/// One of a few words.
pub(super) fn one_of<'a>(value: &'a Value, path: &str, words: &[&str]) -> Result<&'a str, Rejection> {
    let word = string(value, path)?;
    if words.contains(&word) {
        return Ok(word);
    }
    let listed: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    Err(refuse(path, &format!("Input should be {}", listed.join(" or "))))
}

/// The `type` of something that may be one of `tags`.
pub(super) fn tag<'a>(map: &'a Map<String, Value>, path: &str, tags: &[&str]) -> Result<&'a str, Rejection> {
    let word = string(field(map, path, "type")?, &at(path, "type"))?;
    if tags.contains(&word) {
        return Ok(word);
    }
    let listed: Vec<_> = tags.iter().map(|tag| format!("'{tag}'")).collect();
    let what = format!(
        "Input tag '{word}' found using 'type' does not match any of the expected tags: {}",
        listed.join(", ")
    );
    Err(refuse(path, &what))
}
