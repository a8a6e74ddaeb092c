//! What a server of chat completions refuses of a conversation, as OpenAI's reference states it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::{is_plain, says_something};

/// What has been seen of a body's messages.
#[derive(Default)]
struct Seen<'a> {
    ids: BTreeSet<&'a str>,
    /// Calls whose results have not come yet.
    open: Vec<&'a str>,
    /// Who spoke last.
    last: &'a str,
}

/// Which rule a body breaks, if it breaks one.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let mut seen = Seen::default();
    let messages = body["messages"].as_array().ok_or("no messages")?;
    for message in messages {
        seen.message(message).map_err(|what| format!("{what}: {message}"))?;
    }
    let whole = seen.open.is_empty() && matches!(seen.last, "user" | "tool");
    whole.then_some(()).ok_or_else(|| "something is missing at the end".into())
}

impl<'a> Seen<'a> {
    fn message(&mut self, message: &'a Value) -> Result<(), &'static str> {
        let role = message["role"].as_str().ok_or("nobody's message")?;
        if !self.open.is_empty() && role != "tool" {
            return Err("something between calls and results");
        }
        let before = core::mem::replace(&mut self.last, role);
        match role {
            "system" if before.is_empty() => says_something(&message["content"]).then_some(()).ok_or("empty"),
            "user" if before == "user" => Err("two prompts in a row"),
            "user" => content(&message["content"]),
            "assistant" if matches!(before, "user" | "tool") => self.answer(message),
            "tool" => self.result(message),
            _ => Err("a message out of order"),
        }
    }

    fn answer(&mut self, message: &'a Value) -> Result<(), &'static str> {
        let calls = message["tool_calls"].as_array();
        let silent = message["content"].is_null() && calls.is_some();
        if !silent && !says_something(&message["content"]) || calls.is_some_and(Vec::is_empty) {
            return Err("an empty answer");
        }
        calls.into_iter().flatten().try_for_each(|call| self.call(call))
    }

    fn call(&mut self, call: &'a Value) -> Result<(), &'static str> {
        let (id, function) = (call["id"].as_str().unwrap_or_default(), &call["function"]);
        let name = function["name"].as_str().unwrap_or_default();
        if id.trim().is_empty() || !self.ids.insert(id) || !is_plain(name) || call["type"] != "function" {
            return Err("a bad name or id");
        }
        self.open.push(id);
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let object = matches!(serde_json::from_str(arguments), Ok(Value::Object(_)));
        object.then_some(()).ok_or("bad arguments")
    }

    fn result(&mut self, message: &Value) -> Result<(), &'static str> {
        if self.open.first().copied() != message["tool_call_id"].as_str() {
            return Err("a result that is not the next");
        }
        self.open.remove(0);
        says_something(&message["content"]).then_some(()).ok_or("an empty result")
    }
}

/// A text, or parts of which none is empty.
fn content(content: &Value) -> Result<(), &'static str> {
    let good = |part: &Value| match part["type"].as_str() {
        Some("text") => says_something(&part["text"]),
        Some("image_url") => says_something(&part["image_url"]["url"]),
        _ => false,
    };
    let parts = content.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(good));
    (parts || says_something(content)).then_some(()).ok_or("an empty prompt")
}
