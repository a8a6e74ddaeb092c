//! What is said: a conversation of chat completions without regard to how it is written.

use crate::strict::record::{Said, texts};
use serde_json::Value;

/// The conversation of a request.
pub(super) fn said(body: &Value) -> Vec<Said> {
    body["messages"].as_array().into_iter().flatten().map(one).collect()
}

fn one(message: &Value) -> Said {
    let text = texts(&message["content"]);
    match message["role"].as_str() {
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            Said::Assistant { text, calls: calls.map(|call| texts(&call["id"])).collect() }
        }
        Some("tool") => Said::Result { call: texts(&message["tool_call_id"]), text },
        Some("user") => Said::User(text),
        _ => Said::System(text),
    }
}

/// The names of the tools of a request.
pub(super) fn tool_names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| texts(&tool["function"]["name"])).collect()
}
