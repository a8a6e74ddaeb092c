//! What is said: a conversation of Responses without regard to how it is written.

use crate::strict::record::{Said, texts};
use serde_json::Value;

/// The conversation of a request. What stands between two inputs of others is one answer.
pub(super) fn said(body: &Value) -> Vec<Said> {
    let system = body["instructions"].as_str().map(|text| Said::System(text.to_owned()));
    let mut all: Vec<_> = system.into_iter().collect();
    match &body["input"] {
        Value::String(text) => all.push(Said::User(text.clone())),
        input => input.as_array().into_iter().flatten().for_each(|item| add(item, &mut all)),
    }
    all
}

fn add(item: &Value, all: &mut Vec<Said>) {
    let id = || texts(&item["call_id"]);
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("reasoning"), _) => {}
        (Some("function_call"), _) => answer(String::new(), Some(id()), all),
        (Some("function_call_output"), _) => {
            all.push(Said::Result { call: id(), text: texts(&item["output"]) })
        }
        (_, Some("assistant")) => answer(texts(&item["content"]), None, all),
        (_, Some("user")) => all.push(Said::User(texts(&item["content"]))),
        _ => all.push(Said::System(texts(&item["content"]))),
    }
}

fn answer(more: String, call: Option<String>, all: &mut Vec<Said>) {
    if let Some(Said::Assistant { text, calls }) = all.last_mut() {
        text.push_str(&more);
        calls.extend(call);
    } else {
        all.push(Said::Assistant { text: more, calls: call.into_iter().collect() });
    }
}

/// The names of the tools of a request.
pub(super) fn tool_names(body: &Value) -> Vec<String> {
    body["tools"].as_array().into_iter().flatten().map(|tool| texts(&tool["name"])).collect()
}
