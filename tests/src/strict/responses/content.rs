//! Content: what a message says and what a call gave, as a text or as typed parts.

use crate::strict::{
    chat::shape::{field, filled, known_fields, missing, non_empty, object, one_of, wrong_type},
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

/// Who speaks, which decides about the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The model itself.
    Model,
    /// Whoever speaks to it, a function included.
    Other,
    /// Whoever instructs it.
    Instructor,
}

/// Pictures that the reference names.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif"];

/// Checks content at `path`.
pub(super) fn content(value: &Value, path: &str, speaker: Speaker) -> Check {
    match value {
        Value::String(_) => says_something(value, path),
        Value::Array(_) => {
            let mut parts = filled(value, path)?.iter().enumerate();
            parts.try_for_each(|(index, value)| part(value, &format!("{path}[{index}]"), speaker))
        }
        _ => Err(wrong_type(value, path, "one of an array of objects or string")),
    }
}

fn part(value: &Value, path: &str, speaker: Speaker) -> Check {
    let part = object(value, path)?;
    let kinds: &[&str] = match speaker {
        Speaker::Model => &["output_text", "refusal"],
        Speaker::Other => &["input_text", "input_image", "input_file"],
        Speaker::Instructor => &["input_text"],
    };
    match one_of(field(part, path, "type")?, &format!("{path}.type"), kinds)? {
        "input_text" => text(part, path, "text", &[]),
        "output_text" => text(part, path, "text", &["annotations", "logprobs"]),
        "refusal" => text(part, path, "refusal", &[]),
        "input_image" => image(part, path),
        _ => file(part, path),
    }
}

fn text(part: &Map<String, Value>, path: &str, name: &str, lists: &[&str]) -> Check {
    known_fields(part, path, &[&["type", name][..], lists].concat(), &[])?;
    for list in lists.iter().filter(|list| part.contains_key(**list)) {
        let value = &part[*list];
        value.as_array().ok_or_else(|| wrong_type(value, &format!("{path}.{list}"), "an array"))?;
    }
    says_something(field(part, path, name)?, &format!("{path}.{name}"))
}

/// The real provider counts an empty text for nothing; others refuse it, and so do most for one of blanks.
fn says_something(value: &Value, path: &str) -> Check {
    if non_empty(value, path)?.trim().is_empty() {
        return Err(Rejection::house(path, &format!("'{path}' must not be blank.")));
    }
    Ok(())
}

fn image(image: &Map<String, Value>, path: &str) -> Check {
    known_fields(image, path, &["type", "detail", "file_id", "image_url"], &[])?;
    if let Some(detail) = image.get("detail") {
        one_of(detail, &format!("{path}.detail"), &["auto", "low", "high"])?;
    }
    if let Some(id) = image.get("file_id") {
        return non_empty(id, &format!("{path}.file_id")).map(drop);
    }
    let url_path = format!("{path}.image_url");
    let url = non_empty(image.get("image_url").ok_or_else(|| missing(&url_path))?, &url_path)?;
    if url.starts_with("https://") || url.starts_with("http://") || is_picture(url) {
        return Ok(());
    }
    let message = format!(
        "Invalid '{url_path}'. Expected a valid URL, or a base64-encoded data URL with an image MIME type (e.g. \
         'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')."
    );
    Err(Rejection::bad(&url_path, message).code("invalid_value"))
}

/// Whether `url` holds a picture of a kind that the provider reads.
fn is_picture(url: &str) -> bool {
    let held = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    held.is_some_and(|(kind, data)| PICTURES.contains(&kind) && is_base64(data))
}

fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !digits.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - digits.len() < 3
        && digits.bytes().all(plain)
}

fn file(file: &Map<String, Value>, path: &str) -> Check {
    let sources = ["file_data", "file_id", "file_url"];
    known_fields(file, path, &["type", "filename", "file_data", "file_id", "file_url"], &[])?;
    match sources.iter().filter(|name| file.contains_key(**name)).count() {
        0 => return Err(missing(&format!("{path}.file_id"))),
        1 => {}
        _ => {
            let message = format!("Mutually exclusive parameters: give one of {}.", sources.join(", "));
            return Err(Rejection::bad(path, message).code("mutually_exclusive_parameters"));
        }
    }
    if file.contains_key("file_data") && !file.contains_key("filename") {
        return Err(missing(&format!("{path}.filename")));
    }
    let mut fields = file.iter();
    fields.try_for_each(|(name, value)| non_empty(value, &format!("{path}.{name}")).map(drop))
}
