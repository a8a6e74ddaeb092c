//! Content: a text, or typed parts.

use super::shape::{field, filled, known_fields, missing, non_empty, object, one_of, wrong_type};
use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// Which parts a role may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Text alone.
    Text,
    /// Every part of the reference.
    Any,
}

/// Checks the content of a message that must have one.
pub(super) fn required(message: &Map<String, Value>, path: &str, parts: Parts) -> Check {
    let path = format!("{path}.content");
    content(message.get("content").ok_or_else(|| missing(&path))?, &path, parts)
}

/// Checks the content of a message that may do without, by leaving it out or by `null`.
pub(super) fn optional(message: &Map<String, Value>, path: &str) -> Check {
    match message.get("content") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => required(message, path, Parts::Text),
    }
}

fn content(value: &Value, path: &str, parts: Parts) -> Check {
    match value {
        Value::String(_) => non_empty(value, path).map(drop),
        Value::Array(_) => {
            let mut list = filled(value, path)?.iter().enumerate();
            list.try_for_each(|(index, item)| part(item, &format!("{path}[{index}]"), parts))
        }
        _ => Err(wrong_type(value, path, "one of a string or array of objects")),
    }
}

fn part(value: &Value, path: &str, parts: Parts) -> Check {
    let part = object(value, path)?;
    let words: &[&str] = match parts {
        Parts::Text => &["text"],
        Parts::Any => &["text", "image_url", "input_audio", "file"],
    };
    let kind = one_of(field(part, path, "type")?, &format!("{path}.type"), words)?;
    known_fields(part, path, &["type", kind], &[])?;
    let held = field(part, path, kind)?;
    let path = format!("{path}.{kind}");
    match kind {
        "text" => non_empty(held, &path).map(drop),
        "image_url" => image(object(held, &path)?, &path),
        "input_audio" => audio(object(held, &path)?, &path),
        _ => file(object(held, &path)?, &path),
    }
}

fn image(image: &Map<String, Value>, path: &str) -> Check {
    known_fields(image, path, &["url", "detail"], &[])?;
    if let Some(detail) = image.get("detail") {
        one_of(detail, &format!("{path}.detail"), &["auto", "low", "high"])?;
    }
    let url_path = format!("{path}.url");
    let url = non_empty(field(image, path, "url")?, &url_path)?;
    let embedded = url.starts_with("data:image/") && url.contains(";base64,");
    if embedded || url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    let message = format!("Invalid '{url_path}'. Expected a valid URL or a base64 data URL of an image.");
    Err(Rejection::bad(&url_path, message).code("invalid_image_url"))
}

fn audio(audio: &Map<String, Value>, path: &str) -> Check {
    known_fields(audio, path, &["data", "format"], &[])?;
    non_empty(field(audio, path, "data")?, &format!("{path}.data"))?;
    one_of(field(audio, path, "format")?, &format!("{path}.format"), &["wav", "mp3"]).map(drop)
}

fn file(file: &Map<String, Value>, path: &str) -> Check {
    known_fields(file, path, &["file_data", "file_id", "filename"], &[])?;
    if !file.contains_key("file_data") && !file.contains_key("file_id") {
        return Err(missing(&format!("{path}.file_id")));
    }
    file.iter().try_for_each(|(name, value)| non_empty(value, &format!("{path}.{name}")).map(drop))
}
