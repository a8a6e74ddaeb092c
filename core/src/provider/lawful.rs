//! What a history may hold and a provider would refuse, made acceptable: arguments, names, ids, and what is attached.
//!
//! A conversation outlives its model: what one of them made up must not spoil every request to the next. All of this
//! depends on nothing but the item itself, so that the same history is always the same request.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::{Attachment, Block, ToolCall};
use crate::model::{CallResult, Item, ModelRef};

/// How long a name may be everywhere.
const NAME: usize = 64;

/// What a model wrote as arguments, word for word if that is an object: servers parse it, and refuse all else.
pub(super) fn arguments(input: &str) -> &str {
    let object = matches!(serde_json::from_str(input), Ok(Value::Object(_)));
    if object { input } else { "{}" }
}

/// The same, as JSON.
pub(super) fn arguments_object(input: &str) -> Option<&RawValue> {
    serde_json::from_str(arguments(input)).ok()
}

/// The name of a tool that a model called, which it may have made up.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && is_plain(name) {
        return Cow::Borrowed(name);
    }
    let start = if begins { "" } else { "_" };
    let letters = name.chars().map(|c| if is_plain_char(c) { c } else { '_' });
    Cow::Owned(start.chars().chain(letters).take(NAME).collect())
}

/// The id of a call: the one that its result goes by, or one of ours where other providers would not take that.
pub(super) fn call_id(result: &CallResult) -> Cow<'_, str> {
    short_call_id(result, NAME)
}

/// The same where ids may have no more than so many characters.
pub(super) fn short_call_id(result: &CallResult, most: usize) -> Cow<'_, str> {
    if is_plain(&result.wire_id) && result.wire_id.len() <= most {
        return Cow::Borrowed(&result.wire_id);
    }
    Cow::Owned(format!("call_{}", result.call).replace('.', "_"))
}

fn is_plain(name: &str) -> bool {
    (1..=NAME).contains(&name.len()) && name.chars().all(is_plain_char)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// What a result says, which must be something.
pub(super) fn result_text(result: &CallResult) -> &str {
    let text = &result.outcome.text;
    if text.trim().is_empty() { "(no output)" } else { text }
}

/// What came of a call, among the results that stand behind its answer.
pub(super) fn result_of<'a>(call: &ToolCall, next: Option<&'a Item>) -> Option<&'a CallResult> {
    match next {
        Some(Item::Results(results)) => results.iter().find(|result| result.call == call.id),
        Some(Item::User { .. } | Item::Assistant { .. }) | None => None,
    }
}

/// What came of an answer's calls, in their order.
pub(super) fn results<'a>(
    blocks: &'a [Block],
    next: Option<&'a Item>,
) -> impl Iterator<Item = &'a CallResult> {
    blocks.iter().filter_map(move |block| match block {
        Block::Call(call) => result_of(call, next),
        Block::Text(_) | Block::Reasoning(_) => None,
    })
}

/// What `from` wants back with its reasoning or its call, if `to` is that very model: no provider says that it reads
/// what it sealed for another one, and several refuse it.
pub(super) fn seal<'a>(opaque: Option<&'a str>, from: &ModelRef, to: &ModelRef) -> Option<&'a RawValue> {
    serde_json::from_str(opaque.filter(|_| from == to)?).ok()
}

/// What is attached, as far as a model can look at it.
pub(super) enum Shown<'a> {
    /// A picture: its media type and its data in base64.
    Image(&'a str, &'a str),
    /// Words: a text, or word of what cannot be shown.
    Text(String),
}

/// The pictures that nearly everybody takes.
pub(super) const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A picture as a picture if it is one of those, a text as a text, and word of anything else.
pub(super) fn shown<'a>(file: &'a Attachment, pictures: &[&str]) -> Shown<'a> {
    let Attachment { name, media_type, data } = file;
    if pictures.contains(&media_type.as_str()) {
        return Shown::Image(media_type, data);
    }
    Shown::Text(if media_type.starts_with("text/") {
        format!("{name}:\n{data}")
    } else {
        format!("({name} is attached but cannot be shown to you: it is {media_type}.)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_none() {
        for (input, expected) in [
            ("", "{}"),
            (" \n", "{}"),
            ("{", "{}"),
            ("{} x", "{}"),
            ("[1]", "{}"),
            ("\"a\"", "{}"),
            ("null", "{}"),
            (r#"{"a":"\ud800"}"#, "{}"),
            (" { \"a\" : 1 } ", " { \"a\" : 1 } "),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(arguments(input), expected, "{input:?}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(arguments(&deep), "{}");
    }

    #[test]
    fn names_are_what_every_provider_takes() {
        let long = "x".repeat(80);
        for (name, expected) in [
            ("ls", "ls"),
            ("my-tool_2", "my-tool_2"),
            ("", "_"),
            ("2nd", "_2nd"),
            ("-a", "_-a"),
            ("functions.ls", "functions_ls"),
            ("l s<é>", "l_s___"),
            (&long, &long[..64]),
        ] {
            assert_eq!(tool_name(name), expected, "{name:?}");
        }
    }
}
