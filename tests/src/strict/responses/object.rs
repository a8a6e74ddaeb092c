//! The response object, which stands in the events that open and that end a stream.

use super::seals;
use crate::strict::{answer::Usage, record::Recorded, sse::CREATED};
use serde_json::{Map, Value, json};

/// What of a request a response repeats, and what it says where the request says nothing.
fn defaults() -> [(&'static str, Value); 17] {
    [
        ("background", json!(false)),
        ("instructions", Value::Null),
        ("max_output_tokens", Value::Null),
        ("max_tool_calls", Value::Null),
        ("metadata", json!({})),
        ("parallel_tool_calls", json!(true)),
        ("previous_response_id", Value::Null),
        ("prompt_cache_key", Value::Null),
        ("safety_identifier", Value::Null),
        ("service_tier", json!("default")),
        ("store", json!(true)),
        ("temperature", json!(1.0)),
        ("tool_choice", json!("auto")),
        ("tools", json!([])),
        ("top_logprobs", json!(0)),
        ("top_p", json!(1.0)),
        ("truncation", json!("disabled")),
    ]
}

/// How a response stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Status<'a> {
    InProgress,
    Completed,
    /// It was cut off, for this reason.
    Incomplete(&'a str),
}

impl Status<'_> {
    fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete(_) => "incomplete",
        }
    }

    /// The event that says so.
    pub(super) fn event(self) -> &'static str {
        match self {
            Self::InProgress => "response.in_progress",
            Self::Completed => "response.completed",
            Self::Incomplete(_) => "response.incomplete",
        }
    }
}

/// The response to `request`, without its id.
pub(super) fn response(
    request: &Recorded,
    status: Status<'_>,
    output: &[Value],
    usage: Option<Usage>,
) -> Map<String, Value> {
    let mut response = Map::new();
    let asked = |name: &str| request.body.get(name).cloned();
    for (name, default) in defaults() {
        response.insert(name.to_owned(), asked(name).unwrap_or(default));
    }
    let details = match status {
        Status::Incomplete(reason) => json!({"reason": reason}),
        Status::InProgress | Status::Completed => Value::Null,
    };
    let own = [
        ("object", json!("response")),
        ("created_at", json!(CREATED)),
        ("status", json!(status.word())),
        ("error", Value::Null),
        ("incomplete_details", details),
        ("model", json!(request.model)),
        ("output", json!(output)),
        ("reasoning", reasoning(&request.body)),
        ("text", json!({"format": {"type": "text"}, "verbosity": "medium"})),
        ("usage", usage.map_or(Value::Null, usage_json)),
        ("user", Value::Null),
    ];
    response.extend(own.map(|(name, value)| (name.to_owned(), value)));
    response
}

fn reasoning(body: &Value) -> Value {
    let effort = if seals::wanted(body) { json!("medium") } else { Value::Null };
    json!({"effort": body["reasoning"].get("effort").cloned().unwrap_or(effort), "summary": body["reasoning"]["summary"]})
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
