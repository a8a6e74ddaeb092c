//! What is said: a conversation of Messages without regard to how it is written.

use crate::strict::record::{Said, texts};
use serde_json::Value;

/// The conversation of a request.
pub(super) fn said(body: &Value) -> Vec<Said> {
    let system = Some(texts(&body["system"])).filter(|text| !text.is_empty()).map(Said::System);
    let messages = body["messages"].as_array().into_iter().flatten();
    system.into_iter().chain(messages.flat_map(one)).collect()
}

fn one(message: &Value) -> Vec<Said> {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let text = texts(&message["content"]);
    if message["role"] == "assistant" {
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        return vec![Said::Assistant { text, calls: calls.map(|call| texts(&call["id"])).collect() }];
    }
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let results = results
        .map(|block| Said::Result { call: texts(&block["tool_use_id"]), text: texts(&block["content"]) });
    results.chain((!text.is_empty()).then_some(Said::User(text))).collect()
}

/// The names of the tools of a request.
pub(super) fn tool_names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| texts(&tool["name"])).collect()
}
