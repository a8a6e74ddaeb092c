//! What is said: a conversation of Gemini without regard to how it is written.

use crate::strict::record::Said;
use serde_json::Value;

/// The conversation of a request.
pub(super) fn said(body: &Value) -> Vec<Said> {
    let system = texts(items(either(body, "systemInstruction", "system_instruction"), "parts"));
    let system = (!system.is_empty()).then_some(Said::System(system));
    let contents = items(body, "contents").iter().flat_map(content);
    system.into_iter().chain(contents).collect()
}

fn content(content: &Value) -> Vec<Said> {
    let parts = items(content, "parts");
    let text = texts(parts);
    if content["role"] == "model" {
        let calls = parts.iter().map(|part| either(part, "functionCall", "function_call"));
        return vec![Said::Assistant {
            text,
            calls: calls.filter(|call| call.is_object()).map(name).collect(),
        }];
    }
    let responses = parts.iter().map(|part| either(part, "functionResponse", "function_response"));
    let results = responses.filter(|response| response.is_object()).map(result);
    let user = (!text.is_empty()).then_some(Said::User(text));
    results.chain(user).collect()
}

fn result(response: &Value) -> Said {
    let held = &response["response"];
    let text = ["output", "error", "result"].iter().find_map(|field| held[*field].as_str());
    Said::Result { call: name(response), text: text.unwrap_or_default().to_owned() }
}

/// The id of a call or response; its name if it has none.
fn name(call: &Value) -> String {
    let id = call["id"].as_str().filter(|id| !id.is_empty());
    id.or(call["name"].as_str()).unwrap_or_default().to_owned()
}

/// The names of the tools of a request.
pub(super) fn tool_names(body: &Value) -> Vec<String> {
    let tools = items(body, "tools").iter();
    let declared = tools.flat_map(|tool| {
        let declared = either(tool, "functionDeclarations", "function_declarations");
        declared.as_array().map_or(&[][..], Vec::as_slice)
    });
    declared.map(|function| function["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What parts say aloud.
fn texts(parts: &[Value]) -> String {
    let aloud = parts.iter().filter(|part| part["thought"] != true);
    aloud.filter_map(|part| part["text"].as_str()).collect()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    match &value[field] {
        Value::Array(items) => items,
        one @ Value::Object(_) => std::slice::from_ref(one),
        _ => &[],
    }
}

/// A field in either spelling.
fn either<'a>(value: &'a Value, camel: &str, snake: &str) -> &'a Value {
    value.get(camel).unwrap_or(&value[snake])
}
