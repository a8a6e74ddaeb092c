//! Tests of Messages: what is refused, what is streamed, and what has to come back.

mod conversations;
mod heads;
mod rejects;
mod seals;
mod streams;

use super::client::{self, Response};
use crate::strict::{Answer, Protocol, StrictProvider, check_body};
use serde_json::{Value, json};

/// A request that every check passes and that uses most of what there is.
fn valid() -> Value {
    json!({
        "model": "strict-1",
        "max_tokens": 32000,
        "stream": true,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": mark()}],
        "tools": [tool("bash"), tool("read")],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "List the files."}]},
            {"role": "assistant", "content": [text("I look."), call("a", "bash"), call("b", "read")]},
            {"role": "user", "content": [result("a", "one"), result("b", "two"), text("Well?")]},
            {"role": "assistant", "content": "Two files."},
            {"role": "user", "content": [
                {"type": "text", "text": "And in this picture?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}, "cache_control": mark()},
            ]},
        ],
    })
}

/// The least that is accepted.
fn least(text: &str) -> Value {
    json!({"model": "strict-1", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": text}]})
}

fn mark() -> Value {
    json!({"type": "ephemeral"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"path": "."}})
}

fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]})
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    json!({"name": name, "description": "A tool.", "input_schema": schema})
}

fn ask(provider: &StrictProvider, body: &Value) -> Response {
    client::ask(provider, Protocol::Messages, body).unwrap()
}

type Change = fn(&mut Value);

/// A name, a change to a valid request, and a part of the message that refuses the result.
type Row = (&'static str, Change, &'static str);

fn check(rows: &[Row]) {
    assert_eq!(check_body(Protocol::Messages, &valid()), Ok(()));
    let provider = StrictProvider::start(Answer::say("unused"));
    for (index, (name, change, fragment)) in rows.iter().enumerate() {
        let mut body = valid();
        change(&mut body);
        assert_ne!(body, valid(), "{name} changes nothing");
        let response = ask(&provider, &body);
        let error = &response.json()["error"];
        let message = error["message"].as_str().unwrap();
        assert_eq!(
            (response.status, &error["type"]),
            (400, &json!("invalid_request_error")),
            "{name}: {message}"
        );
        assert!(message.contains(fragment), "{name}: {message:?} does not say {fragment:?}");
        assert!(provider.rejections()[index].contains(message), "{name} is not on record");
        assert_eq!(check_body(Protocol::Messages, &body), Err(message.to_owned()), "{name}");
    }
    assert_eq!(provider.remaining(), 1, "a refused request took an answer");
}

fn check_accepted(rows: &[(&str, Change)]) {
    for (name, change) in rows {
        let mut body = valid();
        change(&mut body);
        assert_eq!(check_body(Protocol::Messages, &body), Ok(()), "{name}");
    }
}

fn remove(body: &mut Value, name: &str) {
    body.as_object_mut().unwrap().remove(name).unwrap();
}

/// The block at a place of a message.
fn block(body: &mut Value, message: usize, at: usize) -> &mut Value {
    &mut body["messages"][message]["content"][at]
}
