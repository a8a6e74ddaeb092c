//! Messages in protobuf's JSON: known fields only, in either spelling, and values of the type that the reference gives.
//!
//! A field may be written in lower camel case or in snake case, a list of one without its brackets, and `null` is the same
//! as nothing. Refusals name a field by its path in snake case, as Google's do.

use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// A JSON object that stands for a message of the reference.
#[derive(Clone, Debug)]
pub(super) struct Message<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> Message<'a> {
    /// Reads the message at `path`, whose fields are `known` in lower camel case.
    pub(super) fn read(value: &'a Value, path: &str, known: &[&str]) -> Result<Self, Rejection> {
        Self::read_with(value, path, known, &[])
    }

    /// The same, with fields that are taken beyond the reference.
    pub(super) fn read_with(
        value: &'a Value,
        path: &str,
        known: &[&str],
        extra: &[String],
    ) -> Result<Self, Rejection> {
        let map = value.as_object().ok_or_else(|| wrong_type(value, path, "type.googleapis.com message"))?;
        for name in map.keys() {
            let is = |field: &&str| field == name || snake(field) == *name;
            if !known.iter().any(is) && !extra.contains(name) {
                return Err(unknown(name, path));
            }
        }
        let twice = |name: &&&str| {
            snake(name) != **name && map.contains_key(**name) && map.contains_key(&snake(name))
        };
        if let Some(name) = known.iter().find(twice) {
            let message = format!("Invalid value at '{path}' (oneof), field '{name}' is already set.");
            return Err(Rejection::bad(path, message));
        }
        Ok(Self { map, path: path.to_owned() })
    }

    /// The value of a field, named in lower camel case.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let value = self.map.get(name).or_else(|| self.map.get(&snake(name)));
        value.filter(|value| !value.is_null())
    }

    /// Whether the field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The path of a field.
    pub(super) fn at(&self, name: &str) -> String {
        let name = snake(name);
        if self.path.is_empty() { name } else { format!("{}.{name}", self.path) }
    }

    /// The text of a field.
    pub(super) fn string(&self, name: &str) -> Result<Option<&'a str>, Rejection> {
        let read =
            |value: &'a Value| value.as_str().ok_or_else(|| wrong_type(value, &self.at(name), "TYPE_STRING"));
        self.get(name).map(read).transpose()
    }

    /// The truth of a field.
    pub(super) fn boolean(&self, name: &str) -> Result<Option<bool>, Rejection> {
        let read =
            |value: &Value| value.as_bool().ok_or_else(|| wrong_type(value, &self.at(name), "TYPE_BOOL"));
        self.get(name).map(read).transpose()
    }

    /// The items of a field, each with its path; none if it is not there.
    pub(super) fn list(&self, name: &str) -> Result<Vec<(&'a Value, String)>, Rejection> {
        let at = self.at(name);
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                Ok(items.iter().enumerate().map(|(index, item)| (item, format!("{at}[{index}]"))).collect())
            }
            Some(item @ Value::Object(_)) => Ok(vec![(item, at)]),
            Some(other) => Err(wrong_type(other, &at, "repeated field")),
        }
    }

    /// A free object, such as arguments.
    pub(super) fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, Rejection> {
        let at = self.at(name);
        let read = |value: &'a Value| {
            value
                .as_object()
                .ok_or_else(|| wrong_type(value, &at, "type.googleapis.com/google.protobuf.Struct"))
        };
        self.get(name).map(read).transpose()
    }

    /// Checks a number of a field.
    pub(super) fn number(&self, name: &str, least: f64, most: f64) -> Check {
        let Some(value) = self.get(name) else { return Ok(()) };
        let number = value.as_f64().ok_or_else(|| wrong_type(value, &self.at(name), "TYPE_FLOAT"))?;
        self.within(name, (least..=most).contains(&number))
    }

    /// Checks a whole number of a field.
    pub(super) fn integer(&self, name: &str, least: i64, most: i64) -> Check {
        let Some(value) = self.get(name) else { return Ok(()) };
        let number = value.as_i64().ok_or_else(|| wrong_type(value, &self.at(name), "TYPE_INT32"))?;
        self.within(name, (least..=most).contains(&number))
    }

    fn within(&self, name: &str, within: bool) -> Check {
        if within {
            return Ok(());
        }
        Err(violation(&self.at(name), "the value is not in the range that is allowed."))
    }

    /// One of a few words, in capitals or not.
    pub(super) fn word(&self, name: &str, words: &[&str]) -> Result<Option<&'a str>, Rejection> {
        let Some(word) = self.string(name)? else { return Ok(None) };
        if words.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Ok(Some(word));
        }
        let at = self.at(name);
        Err(Rejection::bad(&at, format!("Invalid value at '{at}' (TYPE_ENUM), \"{word}\"")))
    }

    /// Checks that a field is bytes in base64, in either alphabet, padded or not.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<&'a str>, Rejection> {
        let Some(text) = self.string(name)? else { return Ok(None) };
        if is_base64(text) {
            return Ok(Some(text));
        }
        let at = self.at(name);
        let shown: String = text.chars().take(40).collect();
        let message = format!("Invalid value at '{at}' (TYPE_BYTES), Base64 decoding failed for \"{shown}\"");
        Err(Rejection::bad(&at, message))
    }
}

/// The refusal of a value that has the right type and is not allowed.
pub(super) fn violation(path: &str, what: &str) -> Rejection {
    Rejection::bad(path, format!("* GenerateContentRequest.{path}: {what}\n"))
}

fn unknown(name: &str, path: &str) -> Rejection {
    let place = if path.is_empty() { String::new() } else { format!(" at '{path}'") };
    let message =
        format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.");
    Rejection::bad(path, message)
}

fn wrong_type(value: &Value, path: &str, kind: &str) -> Rejection {
    let shown: String = value.to_string().chars().take(80).collect();
    Rejection::bad(path, format!("Invalid value at '{path}' ({kind}), {shown}"))
}

/// A name in snake case.
fn snake(name: &str) -> String {
    let letters = name.chars().flat_map(|c| {
        let gap = c.is_ascii_uppercase().then_some('_');
        gap.into_iter().chain([c.to_ascii_lowercase()])
    });
    letters.collect()
}

fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let padding = text.len() - bare.len();
    let letters = bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte));
    letters && bare.len() % 4 != 1 && (padding == 0 || (padding <= 2 && text.len().is_multiple_of(4)))
}
