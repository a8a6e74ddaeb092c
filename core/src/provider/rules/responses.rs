//! What OpenAI refuses of a conversation in its Responses, as its reference states it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::{is_plain, says_something};

/// What has been seen of a body's input.
#[derive(Default)]
struct Seen<'a> {
    ids: BTreeSet<&'a str>,
    /// Calls whose outputs have not come yet.
    open: Vec<&'a str>,
    /// Whether the last item was a thought.
    thinking: bool,
    user: bool,
}

/// Which rule a body breaks, if it breaks one.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let mut seen = Seen::default();
    let items = body["input"].as_array().ok_or("no input")?;
    for item in items {
        seen.item(item).map_err(|what| format!("{what}: {item}"))?;
    }
    let last = items.last().map(|item| item["role"] == "user" || item["type"] == "function_call_output");
    let whole = last == Some(true) && seen.open.is_empty();
    whole.then_some(()).ok_or_else(|| "something is missing at the end".into())
}

impl<'a> Seen<'a> {
    fn item(&mut self, item: &'a Value) -> Result<(), &'static str> {
        let kind = item["type"].as_str().unwrap_or_default();
        let user = item["role"] == "user";
        if self.thinking && (user || kind == "function_call_output") {
            return Err("a thought that nothing follows");
        }
        if self.user && user {
            return Err("two prompts in a row");
        }
        if !self.open.is_empty() && user {
            return Err("a prompt between calls and outputs");
        }
        (self.thinking, self.user) = (kind == "reasoning", user);
        match kind {
            "message" => message(item, user),
            "reasoning" if says_something(&item["encrypted_content"]) => Ok(()),
            "function_call" => self.call(item),
            "function_call_output" => self.output(item),
            _ => Err("an item that there is not"),
        }
    }

    fn call(&mut self, item: &'a Value) -> Result<(), &'static str> {
        let id = item["call_id"].as_str().unwrap_or_default();
        let arguments: Option<Value> =
            item["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
        if !is_plain(id) || !self.ids.insert(id) || !is_plain(item["name"].as_str().unwrap_or_default()) {
            return Err("a bad name or id");
        }
        self.open.push(id);
        arguments.filter(Value::is_object).map(|_| ()).ok_or("bad arguments")
    }

    fn output(&mut self, item: &Value) -> Result<(), &'static str> {
        if self.open.first().copied() != item["call_id"].as_str() {
            return Err("an output that is not the next");
        }
        self.open.remove(0);
        match &item["output"] {
            Value::String(text) if !text.trim().is_empty() => Ok(()),
            Value::Array(parts) => parts_of(parts, "input_"),
            _ => Err("an empty output"),
        }
    }
}

fn message(item: &Value, user: bool) -> Result<(), &'static str> {
    let parts = item["content"].as_array().ok_or("no content")?;
    if !user && item["role"] != "assistant" {
        return Err("nobody's message");
    }
    parts_of(parts, if user { "input_" } else { "output_" })
}

fn parts_of(parts: &[Value], kind: &str) -> Result<(), &'static str> {
    let good = |part: &Value| {
        let says = part["text"].as_str().is_none_or(|text| !text.trim().is_empty());
        says && part["type"].as_str().is_some_and(|found| found.starts_with(kind))
    };
    (!parts.is_empty() && parts.iter().all(good)).then_some(()).ok_or("bad parts")
}
