//! Tests of the strict provider, through a client that knows nothing but sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod chat;
mod client;
mod faults;
mod gemini;
mod heads;
mod lives;
mod messages;
mod responses;
mod scripts;
mod thoughts;
mod wires;

use serde_json::{Value, json};
use std::time::Duration;

/// Far longer than anything here takes; reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request of chat completions that every check passes and that uses most of what there is.
fn valid() -> Value {
    json!({
        "model": "strict-1",
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.5,
        "tools": [tool("bash"), tool("read")],
        "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "List the files."},
            {"role": "assistant", "content": null, "tool_calls": [call("a", "bash", "{}"), call("b", "read", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": "two"},
            {"role": "assistant", "content": "Two files."},
            {"role": "user", "content": [{"type": "text", "text": "Thanks."}]},
        ],
    })
}

/// The least that chat completions accept.
fn least(text: &str) -> Value {
    json!({"model": "strict-1", "stream": true, "messages": [{"role": "user", "content": text}]})
}

fn tool(name: &str) -> Value {
    let properties =
        json!({"path": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}});
    let parameters = json!({"type": "object", "properties": properties, "required": ["path"]});
    json!({"type": "function", "function": {"name": name, "description": "A tool.", "parameters": parameters}})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}
