//! What the server answers: chat completion streams, made before the clock runs.

use serde_json::{Value, json};

use super::server::Response;

/// How many deltas the long answer has.
pub(crate) const DELTAS: usize = 4_000;

/// How many tools are called in a row.
pub(crate) const CALLS: usize = 50;

const DELTA: &str = "word ";

/// An answer of one word.
pub(crate) fn short() -> Response {
    answer([json!({"content": "Done."})], "stop")
}

/// An answer of many small deltas.
pub(crate) fn deltas() -> Response {
    answer(std::iter::repeat_n(json!({"content": DELTA}), DELTAS), "stop")
}

/// What the answer of many deltas says.
pub(crate) fn delta_text() -> String {
    DELTA.repeat(DELTAS)
}

/// As many answers that call `bash`, and one that ends it. Every call and its result is another one, because a model that
/// goes round in circles is stopped.
pub(crate) fn calls() -> Vec<Response> {
    let call = |n: usize| {
        let function = json!({"name": "bash", "arguments": json!({"command": command(n)}).to_string()});
        let call = json!({"index": 0, "id": format!("call_{n}"), "type": "function", "function": function});
        answer([json!({"tool_calls": [call]})], "tool_calls")
    };
    (0..CALLS).map(call).chain([short()]).collect()
}

/// The command of the nth call: nothing but the shell itself.
pub(crate) fn command(n: usize) -> String {
    format!("echo {n}")
}

fn answer(deltas: impl IntoIterator<Item = Value>, finish: &str) -> Response {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let base = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"});
        with(base, "choices", json!([choice]))
    };
    let role = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
    let usage = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": usage});
    let events = [role]
        .into_iter()
        .chain(deltas.into_iter().map(|delta| chunk(delta, Value::Null)))
        .chain([chunk(json!({}), json!(finish)), usage])
        .map(|data| format!("data: {data}\n\n"))
        .chain(["data: [DONE]\n\n".to_owned()]);
    Response::stream(events)
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}
