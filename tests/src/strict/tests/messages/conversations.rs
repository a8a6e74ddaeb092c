//! Conversations that are refused: blocks, calls and their order.

use super::{block, call, check, check_accepted, remove, result, text};
use serde_json::{Value, json};

#[test]
fn refuses_bad_messages() {
    check(&[
        ("no messages", |b| remove(b, "messages"), "messages: Field required"),
        ("empty messages", |b| b["messages"] = json!([]), "messages: at least one message is required"),
        ("messages not a list", |b| b["messages"] = json!({}), "messages: Input should be a valid list"),
        (
            "message not an object",
            |b| b["messages"][1] = json!("hi"),
            "messages.1: Input should be a valid dictionary",
        ),
        ("no role", |b| remove(&mut b["messages"][1], "role"), "messages.1.role: Field required"),
        ("system", |b| b["messages"][0]["role"] = json!("system"), "Unexpected role \"system\""),
        ("tool", |b| b["messages"][0]["role"] = json!("tool"), "Input should be 'user' or 'assistant'"),
        ("field", |b| b["messages"][0]["name"] = json!("x"), "messages.0.name: Extra inputs"),
        ("no content", |b| remove(&mut b["messages"][0], "content"), "messages.0.content: Field required"),
        ("null content", |b| b["messages"][3]["content"] = json!(null), "valid list"),
        (
            "empty content",
            |b| b["messages"][3]["content"] = json!(""),
            "messages.3: all messages must have non-empty",
        ),
        (
            "no blocks",
            |b| b["messages"][3]["content"] = json!([]),
            "messages.3: all messages must have non-empty",
        ),
        ("blank content", |b| b["messages"][3]["content"] = json!(" "), "must contain non-whitespace"),
    ]);
}

#[test]
fn refuses_bad_blocks() {
    check(&[
        ("no type", |b| remove(block(b, 0, 0), "type"), "messages.0.content.0.type: Field required"),
        ("unknown", |b| block(b, 0, 0)["type"] = json!("video"), "Input tag 'video'"),
        ("empty text", |b| block(b, 0, 0)["text"] = json!(""), "text content blocks must be non-empty"),
        ("blank text", |b| block(b, 1, 0)["text"] = json!("\n"), "must contain non-whitespace"),
        (
            "field of a text",
            |b| block(b, 0, 0)["id"] = json!("x"),
            "messages.0.content.0.text.id: Extra inputs",
        ),
        ("call of the user", |b| *block(b, 0, 0) = call("c", "bash"), "Input tag 'tool_use'"),
        ("result of the assistant", |b| *block(b, 1, 0) = result("a", "x"), "Input tag 'tool_result'"),
        ("picture of the assistant", |b| *block(b, 1, 0) = picture(), "Input tag 'image'"),
        ("thought of the user", |b| *block(b, 0, 0) = thought(), "Input tag 'thinking'"),
        (
            "media type",
            |b| block(b, 4, 1)["source"]["media_type"] = json!("image/tiff"),
            "base64.media_type: Input should be",
        ),
        ("no data", |b| block(b, 4, 1)["source"]["data"] = json!(""), "at least 1 character"),
        ("broken data", |b| block(b, 4, 1)["source"]["data"] = json!("QUJ"), "Invalid base64 data"),
        ("url", |b| block(b, 4, 1)["source"] = json!({"type": "url", "url": "file:///x"}), "Only HTTPS"),
        ("source", |b| block(b, 4, 1)["source"] = json!("x"), "valid dictionary"),
        ("unsigned", |b| *block(b, 1, 0) = unsigned(), "thinking.signature: Field required"),
        (
            "empty signature",
            |b| {
                *block(b, 1, 0) = thought();
                block(b, 1, 0)["signature"] = json!("");
            },
            "at least 1 character",
        ),
        (
            "marked thought",
            |b| {
                *block(b, 1, 0) = thought();
                block(b, 1, 0)["cache_control"] = super::mark();
            },
            "Extra inputs",
        ),
        (
            "nothing redacted",
            |b| *block(b, 1, 0) = json!({"type": "redacted_thinking"}),
            "data: Field required",
        ),
    ]);
    check_accepted(&[
        ("thought", |b| *block(b, 1, 0) = thought()),
        ("picture elsewhere", |b| {
            block(b, 4, 1)["source"] = json!({"type": "url", "url": "https://x/y.png"})
        }),
        ("document", |b| *block(b, 4, 1) = document()),
    ]);
}

#[test]
fn refuses_bad_calls_and_results() {
    check(&[
        ("no id", |b| remove(block(b, 1, 1), "id"), "tool_use.id: Field required"),
        ("id", |b| block(b, 1, 1)["id"] = json!("a:1"), "tool_use.id: String should match pattern"),
        ("empty id", |b| block(b, 1, 1)["id"] = json!(""), "should match pattern"),
        ("no name", |b| block(b, 1, 1)["name"] = json!(""), "at least 1 character"),
        ("long name", |b| block(b, 1, 1)["name"] = json!("x".repeat(201)), "at most 200 characters"),
        (
            "input as text",
            |b| block(b, 1, 1)["input"] = json!("{}"),
            "tool_use.input: Input should be a valid dictionary",
        ),
        ("null input", |b| block(b, 1, 1)["input"] = json!(null), "valid dictionary"),
        ("no input", |b| remove(block(b, 1, 1), "input"), "tool_use.input: Field required"),
        ("field of a call", |b| block(b, 1, 1)["index"] = json!(1), "tool_use.index: Extra inputs"),
        ("result of nothing", |b| remove(block(b, 2, 0), "tool_use_id"), "tool_use_id: Field required"),
        ("empty result", |b| block(b, 2, 0)["content"][0]["text"] = json!(""), "must be non-empty"),
        ("call in a result", |b| block(b, 2, 0)["content"][0] = call("z", "bash"), "Input tag 'tool_use'"),
        ("failed as text", |b| block(b, 2, 0)["is_error"] = json!("yes"), "valid boolean"),
        (
            "failed picture",
            failed_picture,
            "tool_result.content: all content must be type `text` if `is_error` is true",
        ),
        ("field of a result", |b| block(b, 2, 0)["name"] = json!("bash"), "tool_result.name: Extra inputs"),
    ]);
    check_accepted(&[
        ("plain result", |b| block(b, 2, 0)["content"] = json!("one")),
        ("no result", |b| remove(block(b, 2, 0), "content")),
        ("picture", |b| block(b, 2, 0)["content"][0] = picture()),
        ("failure", |b| block(b, 2, 0)["is_error"] = json!(true)),
    ]);
}

#[test]
fn refuses_bad_order() {
    check(&[
        (
            "unanswered",
            |b| drop(content(b, 2).remove(1)),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b",
        ),
        ("none answered", |b| b["messages"][2]["content"] = json!("Well?"), "immediately after: a, b"),
        ("unanswered at the end", |b| messages(b).truncate(2), "immediately after: a, b"),
        ("text before results", |b| content(b, 2).swap(0, 2), "immediately after: a"),
        ("answered late", |b| messages(b).swap(2, 4), "immediately after: a, b"),
        ("answered twice", |b| *block(b, 2, 1) = result("a", "x"), "must have a single result"),
        ("unknown answer", |b| block(b, 2, 1)["tool_use_id"] = json!("z"), "unexpected `tool_use_id`"),
        (
            "answer without call",
            |b| {
                *block(b, 4, 0) = result("a", "x");
            },
            "messages.4.content.0: unexpected `tool_use_id`",
        ),
        (
            "same id",
            |b| {
                block(b, 1, 2)["id"] = json!("a");
                content(b, 2).remove(1);
            },
            "ids must be unique",
        ),
        ("same id later", again, "ids must be unique"),
        ("assistant first", |b| drop(messages(b).remove(0)), "first message must use the \"user\" role"),
        (
            "ends in thoughts",
            |b| b["messages"][3]["content"] = json!([text("x"), thought()]),
            "messages.3: The final block",
        ),
        ("two of the user", |b| drop(messages(b).remove(3)), "roles must alternate"),
        (
            "two of the assistant",
            |b| {
                let again = b["messages"][3].clone();
                messages(b).insert(4, again);
            },
            "roles must alternate",
        ),
        ("assistant last", |b| messages(b).truncate(4), "must end with a user message"),
    ]);
}

fn messages(body: &mut Value) -> &mut Vec<Value> {
    body["messages"].as_array_mut().unwrap()
}

fn content(body: &mut Value, message: usize) -> &mut Vec<Value> {
    body["messages"][message]["content"].as_array_mut().unwrap()
}

/// The second answer makes a call that the first one made.
fn again(body: &mut Value) {
    body["messages"][3]["content"] = json!([call("a", "bash")]);
    content(body, 4).insert(0, result("a", "once more"));
}

fn failed_picture(body: &mut Value) {
    let result = block(body, 2, 0);
    result["is_error"] = json!(true);
    result["content"] = json!([picture()]);
}

fn picture() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}})
}

fn document() -> Value {
    json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}})
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": "x"})
}

fn unsigned() -> Value {
    json!({"type": "thinking", "thinking": "Hm."})
}
