//! What Anthropic refuses of a conversation, as its reference states it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::says_something;

const ROLES: [&str; 2] = ["user", "assistant"];

/// Which rule a body breaks, if it breaks one.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let mut asked: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().ok_or("no role")?;
        if role != ROLES[at % 2] {
            return Err(format!("message {at} is by the {role}"));
        }
        let content = message["content"].as_array().ok_or("no content")?;
        let answered = of(content, "tool_result", "tool_use_id");
        if answered != asked {
            return Err(format!("message {at} answers {answered:?} and not {asked:?}"));
        }
        asked = of(content, "tool_use", "id");
        if !asked.iter().all(|id| ids.insert(*id)) {
            return Err(format!("message {at} uses an id again"));
        }
        content.iter().try_for_each(|block| check_block(block, role))?;
        check_order(content)?;
    }
    let ends_well = asked.is_empty() && messages.len() % 2 == 1;
    ends_well.then_some(()).ok_or_else(|| "it does not end with the user".into())
}

/// That field of each block of that type.
fn of<'a>(content: &'a [Value], kind: &str, field: &str) -> Vec<&'a str> {
    content.iter().filter(|block| block["type"] == kind).filter_map(|block| block[field].as_str()).collect()
}

fn check_block(block: &Value, role: &str) -> Result<(), String> {
    let plain = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let says = |block: &Value| block["text"].as_str().is_some_and(|text| !text.trim().is_empty());
    let good = match (block["type"].as_str().unwrap_or_default(), role) {
        ("text", _) => says(block),
        ("image", "user") => block["source"]["type"] == "base64",
        ("tool_use", "assistant") => {
            plain(&block["id"]) && plain(&block["name"]) && block["input"].is_object()
        }
        ("tool_result", "user") => {
            let content = block["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let texts = content.iter().filter(|part| part["type"] == "text");
            let failed = block["is_error"] == true;
            !content.is_empty() && texts.clone().all(says) && (!failed || texts.count() == content.len())
        }
        ("thinking", "assistant") => block["thinking"].is_string() && says_something(&block["signature"]),
        ("redacted_thinking", "assistant") => says_something(&block["data"]),
        _ => false,
    };
    good.then_some(()).ok_or_else(|| format!("bad block {block}"))
}

/// Results come before all else, and thoughts are never all that there is.
fn check_order(content: &[Value]) -> Result<(), String> {
    let kinds: Vec<_> = content.iter().filter_map(|block| block["type"].as_str()).collect();
    let results = kinds.iter().take_while(|kind| **kind == "tool_result").count();
    let late = kinds.iter().skip(results).any(|kind| *kind == "tool_result");
    let silent = kinds.iter().all(|kind| kind.ends_with("thinking"));
    if late || silent { Err(format!("blocks {kinds:?}")) } else { Ok(()) }
}
