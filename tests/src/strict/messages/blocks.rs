//! Blocks: what a message may be made of.

use super::{
    cache::Marks,
    shape::{at, boolean, field, known_fields, list, object, one_of, plain, refuse, short, string, tag},
};
use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

type Block = Map<String, Value>;

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Checks the blocks of a message of the user, or of a result that is found at `path`.
pub(super) fn of_user(block: &Value, path: &str, marks: &mut Marks) -> Check {
    let block = object(block, path)?;
    match tag(block, path, &["text", "image", "document", "tool_result"])? {
        "text" => text(block, path, "messages", marks),
        "image" => image(block, &at(path, "image"), marks),
        "document" => document(block, &at(path, "document"), marks),
        _ => result(block, &at(path, "tool_result"), marks),
    }
}

/// Checks the blocks of a message of the assistant.
pub(super) fn of_assistant(block: &Value, path: &str, marks: &mut Marks) -> Check {
    let block = object(block, path)?;
    match tag(block, path, &["text", "thinking", "redacted_thinking", "tool_use"])? {
        "text" => text(block, path, "messages", marks),
        "thinking" => thinking(block, &at(path, "thinking")),
        "redacted_thinking" => redacted(block, &at(path, "redacted_thinking")),
        _ => call(block, &at(path, "tool_use"), marks),
    }
}

/// Checks a text at `path`; `of` is what it belongs to.
pub(super) fn text(block: &Block, path: &str, of: &str, marks: &mut Marks) -> Check {
    let path = at(path, "text");
    known_fields(block, &path, &["type", "text", "cache_control", "citations"], &[])?;
    said(field(block, &path, "text")?, &at(&path, "text"), of)?;
    marks.take(block.get("cache_control"), &path)
}

/// Checks that a text says something.
pub(super) fn said(value: &Value, path: &str, of: &str) -> Check {
    let text = string(value, path)?;
    if text.is_empty() {
        return Err(refuse(of, "text content blocks must be non-empty"));
    }
    if text.trim().is_empty() {
        return Err(refuse(of, "text content blocks must contain non-whitespace text"));
    }
    Ok(())
}

fn image(block: &Block, path: &str, marks: &mut Marks) -> Check {
    known_fields(block, path, &["type", "source", "cache_control"], &[])?;
    let source_path = at(path, "source");
    let source = object(field(block, path, "source")?, &source_path)?;
    match tag(source, &source_path, &["base64", "url"])? {
        "url" => address(source, &source_path)?,
        _ => data(source, &source_path, IMAGES)?,
    }
    marks.take(block.get("cache_control"), path)
}

fn document(block: &Block, path: &str, marks: &mut Marks) -> Check {
    let known = ["type", "source", "title", "context", "citations", "cache_control"];
    known_fields(block, path, &known, &[])?;
    let source_path = at(path, "source");
    let source = object(field(block, path, "source")?, &source_path)?;
    match tag(source, &source_path, &["base64", "url", "text"])? {
        "url" => address(source, &source_path)?,
        "base64" => data(source, &source_path, &["application/pdf"])?,
        _ => {
            let path = at(&source_path, "text");
            known_fields(source, &path, &["type", "media_type", "data"], &[])?;
            one_of(field(source, &path, "media_type")?, &at(&path, "media_type"), &["text/plain"])?;
            short(field(source, &path, "data")?, &at(&path, "data"), usize::MAX)?;
        }
    }
    marks.take(block.get("cache_control"), path)
}

fn address(source: &Block, path: &str) -> Check {
    let path = at(path, "url");
    known_fields(source, &path, &["type", "url"], &[])?;
    let url = string(field(source, &path, "url")?, &at(&path, "url"))?;
    if url.starts_with("https://") {
        Ok(())
    } else {
        Err(refuse(&at(&path, "url"), "Only HTTPS URLs are supported."))
    }
}

fn data(source: &Block, path: &str, kinds: &[&str]) -> Check {
    let path = at(path, "base64");
    known_fields(source, &path, &["type", "media_type", "data"], &[])?;
    one_of(field(source, &path, "media_type")?, &at(&path, "media_type"), kinds)?;
    let data_path = at(&path, "data");
    let data = short(field(source, &path, "data")?, &data_path, usize::MAX)?;
    if is_base64(data) { Ok(()) } else { Err(refuse(&data_path, "Invalid base64 data")) }
}

fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - bare.len() <= 2
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// A result; one that tells of a failure is nothing but text.
fn result(block: &Block, path: &str, marks: &mut Marks) -> Check {
    known_fields(block, path, &["type", "tool_use_id", "content", "is_error", "cache_control"], &[])?;
    plain(field(block, path, "tool_use_id")?, &at(path, "tool_use_id"), 128)?;
    let failed = block.get("is_error").map(|failed| boolean(failed, &at(path, "is_error"))).transpose()?;
    let content_path = at(path, "content");
    match block.get("content") {
        None | Some(Value::String(_)) => {}
        Some(content) => {
            for (index, part) in list(content, &content_path)?.iter().enumerate() {
                let path = at(&content_path, index);
                tag(object(part, &path)?, &path, &["text", "image", "document"])?;
                of_user(part, &path, marks)?;
                if failed == Some(true) && part["type"] != "text" {
                    let what = "all content must be type `text` if `is_error` is true";
                    return Err(refuse(path.rsplit_once('.').map_or("", |(path, _)| path), what));
                }
            }
        }
    }
    marks.take(block.get("cache_control"), path)
}

fn call(block: &Block, path: &str, marks: &mut Marks) -> Check {
    known_fields(block, path, &["type", "id", "name", "input", "cache_control"], &[])?;
    plain(field(block, path, "id")?, &at(path, "id"), 128)?;
    short(field(block, path, "name")?, &at(path, "name"), 200)?;
    object(field(block, path, "input")?, &at(path, "input"))?;
    marks.take(block.get("cache_control"), path)
}

fn thinking(block: &Block, path: &str) -> Check {
    known_fields(block, path, &["type", "thinking", "signature"], &[])?;
    string(field(block, path, "thinking")?, &at(path, "thinking"))?;
    short(field(block, path, "signature")?, &at(path, "signature"), usize::MAX).map(drop)
}

fn redacted(block: &Block, path: &str) -> Check {
    known_fields(block, path, &["type", "data"], &[])?;
    short(field(block, path, "data")?, &at(path, "data"), usize::MAX).map(drop)
}

/// The refusal of a message that says nothing.
pub(super) fn nothing(index: usize) -> Rejection {
    let path = at("messages", index);
    refuse(&path, "all messages must have non-empty content except for the optional final assistant message")
}
