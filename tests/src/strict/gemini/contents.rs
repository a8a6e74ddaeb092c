//! Contents: what is said, who says it, and which parts that has.

use super::proto::{Message, violation};
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// The fields of a part of which exactly one is there.
const DATA: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];

const PART: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "thought",
    "thoughtSignature",
    "partMetadata",
    "videoMetadata",
    "mediaResolution",
];

const KINDS: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "application/pdf",
    "application/json",
];

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Model,
}

/// A content that is valid by itself.
#[derive(Clone, Debug)]
pub(super) struct Content<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) path: String,
}

/// A part that is valid by itself.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) data: Data<'a>,
    pub(super) thought: bool,
    pub(super) signature: Option<&'a str>,
    pub(super) path: String,
}

/// What a part has.
#[derive(Clone, Debug)]
pub(super) enum Data<'a> {
    Text(&'a str),
    Blob,
    Call(Called<'a>),
    Response(Called<'a>),
    Code,
}

/// A function call, or the response to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Called<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) args: Option<&'a Value>,
}

impl Content<'_> {
    /// Its function calls.
    pub(super) fn calls(&self) -> Vec<Called<'_>> {
        let calls = self.parts.iter().filter_map(|part| match part.data {
            Data::Call(called) => Some(called),
            Data::Text(_) | Data::Blob | Data::Response(_) | Data::Code => None,
        });
        calls.collect()
    }

    /// Its function responses.
    pub(super) fn responses(&self) -> Vec<Called<'_>> {
        let responses = self.parts.iter().filter_map(|part| match part.data {
            Data::Response(called) => Some(called),
            Data::Text(_) | Data::Blob | Data::Call(_) | Data::Code => None,
        });
        responses.collect()
    }
}

/// Reads the content at `path`.
pub(super) fn content<'a>(value: &'a Value, path: &str) -> Result<Content<'a>, Rejection> {
    let message = Message::read(value, path, &["role", "parts"])?;
    let role = match message.string("role")? {
        None | Some("user" | "function") => Role::User,
        Some("model") => Role::Model,
        Some(_) => return Err(Rejection::bad(&message.at("role"), "Please use a valid role: user, model.")),
    };
    let parts = message.list("parts")?;
    if parts.is_empty() {
        return Err(violation(&message.at("parts"), "contents.parts must not be empty."));
    }
    let parts = parts.into_iter().map(|(value, path)| part(value, &path)).collect::<Result<_, _>>()?;
    let content = Content { role, parts, path: path.to_owned() };
    speakers(&content)?;
    Ok(content)
}

/// Checks what the system says, which is text alone.
pub(super) fn system(value: &Value, path: &str) -> Check {
    let message = Message::read(value, path, &["role", "parts"])?;
    message.string("role")?;
    let parts = message.list("parts")?;
    if parts.is_empty() {
        return Err(violation(&message.at("parts"), "contents.parts must not be empty."));
    }
    for (value, path) in parts {
        match part(value, &path)?.data {
            Data::Text(_) => {}
            Data::Blob | Data::Call(_) | Data::Response(_) | Data::Code => {
                return Err(Rejection::bad(&path, "System instruction only supports text."));
            }
        }
    }
    Ok(())
}

/// Only the model calls, and only its user responds.
fn speakers(content: &Content<'_>) -> Check {
    let refused = |what: &str| Err(Rejection::bad(&content.path, what));
    if content.role == Role::User && !content.calls().is_empty() {
        return refused("Please ensure that function call turns have the role model.");
    }
    if content.role == Role::Model && !content.responses().is_empty() {
        return refused("Please ensure that function response turns have the role user.");
    }
    let own = |part: &Part<'_>| part.thought || part.signature.is_some();
    if content.role == Role::User && content.parts.iter().any(own) {
        return Err(Rejection::house(&content.path, "only the model has thoughts and signs what it says."));
    }
    Ok(())
}

fn part<'a>(value: &'a Value, path: &str) -> Result<Part<'a>, Rejection> {
    let message = Message::read(value, path, PART)?;
    let mut found = DATA.iter().copied().filter(|name| message.has(name));
    let Some(kind) = found.next() else {
        return Err(violation(
            &message.at("data"),
            "required oneof field 'data' must have one initialized field",
        ));
    };
    if let Some(second) = found.next() {
        let what = format!(
            "Invalid value at '{path}' (oneof), oneof field 'data' is already set. Cannot set '{second}'"
        );
        return Err(Rejection::bad(path, what));
    }
    let thought = message.boolean("thought")?.unwrap_or(false);
    let signature = message.bytes("thoughtSignature")?;
    if signature == Some("") {
        return Err(Rejection::house(path, "a signature that is empty must be left out."));
    }
    let data = data(&message, kind)?;
    if let Data::Text(text) = data
        && text.is_empty()
        && signature.is_none()
    {
        return Err(Rejection::house(path, "a text without a signature must say something."));
    }
    Ok(Part { data, thought, signature, path: path.to_owned() })
}

fn data<'a>(part: &Message<'a>, kind: &str) -> Result<Data<'a>, Rejection> {
    let at = part.at(kind);
    let Some(value) = part.get(kind) else { return Ok(Data::Code) };
    Ok(match kind {
        "text" => Data::Text(part.string("text")?.unwrap_or_default()),
        "inlineData" => blob(value, &at)?,
        "fileData" => file(value, &at)?,
        "functionCall" => Data::Call(call(value, &at)?),
        "functionResponse" => Data::Response(response(value, &at)?),
        _ => Data::Code,
    })
}

fn blob<'a>(value: &Value, path: &str) -> Result<Data<'a>, Rejection> {
    let message = Message::read(value, path, &["mimeType", "data", "displayName"])?;
    let kind = message.string("mimeType")?.unwrap_or_default();
    if message.bytes("data")?.unwrap_or_default().is_empty() {
        return Err(violation(&message.at("data"), "inline data must not be empty."));
    }
    let known =
        KINDS.contains(&kind) || ["text/", "audio/", "video/"].iter().any(|start| kind.starts_with(start));
    if !known {
        return Err(Rejection::bad(&message.at("mimeType"), format!("Unsupported MIME type: {kind}")));
    }
    Ok(Data::Blob)
}

fn file<'a>(value: &Value, path: &str) -> Result<Data<'a>, Rejection> {
    let message = Message::read(value, path, &["mimeType", "fileUri", "displayName"])?;
    match message.string("fileUri")? {
        Some(uri) if !uri.is_empty() => Ok(Data::Blob),
        _ => Err(violation(&message.at("fileUri"), "the file's URI must be given.")),
    }
}

fn call<'a>(value: &'a Value, path: &str) -> Result<Called<'a>, Rejection> {
    let message = Message::read(value, path, &["id", "name", "args"])?;
    message.object("args")?;
    Ok(Called { id: id(&message)?, name: name(&message)?, args: message.get("args") })
}

fn response<'a>(value: &'a Value, path: &str) -> Result<Called<'a>, Rejection> {
    let fields = ["id", "name", "response", "parts", "willContinue", "scheduling"];
    let message = Message::read(value, path, &fields)?;
    if message.object("response")?.is_none() {
        return Err(violation(&message.at("response"), "the function's response must be given."));
    }
    Ok(Called { id: id(&message)?, name: name(&message)?, args: None })
}

fn id<'a>(message: &Message<'a>) -> Result<Option<&'a str>, Rejection> {
    Ok(message.string("id")?.filter(|id| !id.is_empty()))
}

fn name<'a>(message: &Message<'a>) -> Result<&'a str, Rejection> {
    let name = message.string("name")?.unwrap_or_default();
    let at = message.at("name");
    if name.is_empty() {
        return Err(violation(&at, "Name cannot be empty."));
    }
    function_name(name, &at)?;
    Ok(name)
}

/// Checks the name of a function.
pub(super) fn function_name(name: &str, path: &str) -> Check {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let letter = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    if begins && name.chars().all(letter) && name.len() <= 64 {
        return Ok(());
    }
    let what = "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphameric \
                (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:) or dashes (-), with a maximum length of 64.";
    Err(violation(path, what))
}
