//! Conversations that are refused: messages, calls and their order.

use super::{check, cut, image, remove, swap};
use serde_json::{Value, json};

#[test]
fn refuses_bad_messages() {
    check(&[
        ("no messages", |b| remove(b, "messages"), "Missing required parameter: 'messages'"),
        ("empty messages", |b| b["messages"] = json!([]), "Invalid 'messages': empty array"),
        ("messages not an array", |b| b["messages"] = json!({}), "expected an array, but got an object"),
        ("message not an object", |b| b["messages"][1] = json!("hi"), "Invalid type for 'messages[1]'"),
        (
            "no role",
            |b| remove(&mut b["messages"][1], "role"),
            "Missing required parameter: 'messages[1].role'",
        ),
        ("unknown role", |b| b["messages"][1]["role"] = json!("function"), "Invalid value: 'function'"),
        (
            "unknown field",
            |b| b["messages"][5]["reasoning_details"] = json!([]),
            "'messages[5].reasoning_details'",
        ),
        (
            "thoughts that are no text",
            |b| b["messages"][5]["reasoning_content"] = json!([]),
            "Invalid type for 'messages[5].reasoning_content'",
        ),
        (
            "name of a tool",
            |b| b["messages"][3]["name"] = json!("bash"),
            "Unknown parameter: 'messages[3].name'",
        ),
        ("calls of a user", |b| b["messages"][1]["tool_calls"] = json!([]), "'messages[1].tool_calls'"),
        ("bad name", |b| b["messages"][1]["name"] = json!("a b"), "does not match pattern"),
        ("no content", |b| remove(&mut b["messages"][1], "content"), "'messages[1].content'"),
        (
            "null content",
            |b| b["messages"][1]["content"] = json!(null),
            "one of a string or array of objects",
        ),
        (
            "empty user",
            |b| b["messages"][1]["content"] = json!(""),
            "Invalid 'messages[1].content': empty string",
        ),
        (
            "empty system",
            |b| b["messages"][0]["content"] = json!(""),
            "Invalid 'messages[0].content': empty string",
        ),
        (
            "no parts",
            |b| b["messages"][6]["content"] = json!([]),
            "Invalid 'messages[6].content': empty array",
        ),
        (
            "empty part",
            |b| b["messages"][6]["content"][0]["text"] = json!(""),
            "content[0].text': empty string",
        ),
        (
            "unknown part",
            |b| b["messages"][6]["content"][0]["type"] = json!("video"),
            "Invalid value: 'video'",
        ),
        ("field of a part", |b| b["messages"][6]["content"][0]["cache"] = json!(1), "content[0].cache"),
        ("image for the system", |b| b["messages"][0]["content"] = json!([image("http://x")]), "'image_url'"),
        ("image url", |b| b["messages"][6]["content"][0] = image("file:///x"), "Expected a valid URL"),
        (
            "silent assistant",
            |b| b["messages"][5]["content"] = json!(null),
            "one of a string or array of objects",
        ),
        (
            "empty assistant",
            |b| b["messages"][5]["content"] = json!(""),
            "'messages[5].content': empty string",
        ),
        ("assistant of nothing", |b| remove(&mut b["messages"][5], "content"), "'messages[5].content'"),
        (
            "empty with calls",
            |b| b["messages"][2]["content"] = json!(""),
            "'messages[2].content': empty string",
        ),
        ("empty tool", |b| b["messages"][3]["content"] = json!(""), "'messages[3].content': empty string"),
        (
            "tool of parts",
            |b| b["messages"][3]["content"] = json!([{"type": "text", "text": "x"}]),
            "must be a string",
        ),
        (
            "tool of null",
            |b| b["messages"][3]["content"] = json!(null),
            "Invalid type for 'messages[3].content'",
        ),
        ("tool without id", |b| remove(&mut b["messages"][3], "tool_call_id"), "'messages[3].tool_call_id'"),
    ]);
}

#[test]
fn refuses_bad_details() {
    check(&[
        ("long name", |b| b["messages"][1]["name"] = json!("x".repeat(65)), "maximum length 64"),
        (
            "long text",
            |b| b["messages"][1]["content"] = json!("x".repeat(10_485_761)),
            "maximum length 10485760",
        ),
        ("refusal", |b| b["messages"][5]["refusal"] = json!(""), "'messages[5].refusal': empty string"),
        ("audio of no id", |b| b["messages"][5]["audio"] = json!({}), "'messages[5].audio.id'"),
        (
            "field of an image",
            |b| part(b, "image_url", json!({"url": "http://x", "size": 1})),
            "image_url.size",
        ),
        (
            "detail",
            |b| part(b, "image_url", json!({"url": "http://x", "detail": "most"})),
            "Invalid value: 'most'",
        ),
        ("no url", |b| part(b, "image_url", json!({})), "image_url.url"),
        (
            "field of audio",
            |b| part(b, "input_audio", json!({"data": "A", "format": "wav", "x": 1})),
            "input_audio.x",
        ),
        ("no audio", |b| part(b, "input_audio", json!({"data": "", "format": "wav"})), "input_audio.data"),
        (
            "audio format",
            |b| part(b, "input_audio", json!({"data": "A", "format": "ogg"})),
            "Invalid value: 'ogg'",
        ),
        ("field of a file", |b| part(b, "file", json!({"file_id": "f", "path": "p"})), "file.path"),
        ("no file", |b| part(b, "file", json!({"filename": "f"})), "file.file_id"),
    ]);
}

#[test]
fn refuses_bad_calls() {
    check(&[
        ("no calls", |b| b["messages"][5]["tool_calls"] = json!([]), "'messages[5].tool_calls': empty array"),
        (
            "null calls",
            |b| b["messages"][5]["tool_calls"] = json!(null),
            "Invalid type for 'messages[5].tool_calls'",
        ),
        ("empty id", |b| first_call(b)["id"] = json!(""), "tool_calls[0].id': empty string"),
        (
            "long id",
            |b| first_call(b)["id"] = json!("x".repeat(41)),
            "maximum length 40, but got a string with length 41",
        ),
        (
            "same id",
            |b| first_call(b)["id"] = json!("b"),
            "Duplicate value for 'messages[2].tool_calls[1].id'",
        ),
        ("no type", |b| remove(first_call(b), "type"), "tool_calls[0].type"),
        ("type", |b| first_call(b)["type"] = json!("custom"), "Invalid value: 'custom'"),
        (
            "index left over",
            |b| first_call(b)["index"] = json!(0),
            "Unknown parameter: 'messages[2].tool_calls[0].index'",
        ),
        ("name pattern", |b| first_call(b)["function"]["name"] = json!("a.b"), "does not match pattern"),
        ("long name", |b| first_call(b)["function"]["name"] = json!("x".repeat(65)), "maximum length 64"),
        ("no arguments", |b| remove(&mut first_call(b)["function"], "arguments"), "function.arguments"),
        ("arguments as object", |b| first_call(b)["function"]["arguments"] = json!({}), "expected a string"),
        (
            "broken arguments",
            |b| first_call(b)["function"]["arguments"] = json!("{\"a\":"),
            "must be valid JSON",
        ),
        ("empty arguments", |b| first_call(b)["function"]["arguments"] = json!(""), "must be valid JSON"),
        (
            "array arguments",
            |b| first_call(b)["function"]["arguments"] = json!("[]"),
            "must be a JSON object",
        ),
        ("extra in function", |b| first_call(b)["function"]["x"] = json!(1), "function.x"),
    ]);
}

#[test]
fn refuses_bad_order() {
    check(&[
        ("unanswered", |b| cut(b, 4, 5), "did not have response messages: b"),
        ("none answered", |b| cut(b, 3, 5), "did not have response messages: a, b"),
        ("unanswered at the end", |b| cut(b, 4, 7), "did not have response messages: b"),
        ("answered late", |b| swap(b, 4, 5), "did not have response messages: b"),
        (
            "answered twice",
            |b| b["messages"][4]["tool_call_id"] = json!("a"),
            "Duplicate value for 'tool_call_id'",
        ),
        (
            "unknown answer",
            |b| b["messages"][4]["tool_call_id"] = json!("z"),
            "'tool_call_id' of 'z' not found",
        ),
        ("answer without call", |b| cut(b, 2, 3), "must be a response to a preceding message"),
        ("late system", |b| swap(b, 0, 1), "system messages must come before"),
        ("late developer", |b| b["messages"][1]["role"] = json!("developer"), "must be of the user"),
        ("assistant first", |b| cut(b, 1, 2), "must be of the user"),
        ("assistant first of all", |b| cut(b, 0, 2), "must be of the user"),
        ("two of the user", |b| cut(b, 2, 6), "must not follow a user message"),
        (
            "two of the assistant",
            |b| b["messages"][6] = b["messages"][5].clone(),
            "must not follow an assistant",
        ),
        ("assistant last", |b| cut(b, 6, 7), "the last message"),
        ("system alone", |b| cut(b, 1, 7), "the last message"),
    ]);
}

fn first_call(body: &mut Value) -> &mut Value {
    &mut body["messages"][2]["tool_calls"][0]
}

/// Makes the only part of the last message one of this kind.
fn part(body: &mut Value, kind: &str, held: Value) {
    body["messages"][6]["content"][0] = json!({"type": kind, kind: held});
}
