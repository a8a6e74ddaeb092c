//! Failures: the error object of a response, and the events with which a stream fails.

use crate::strict::reject::Rejection;
use serde_json::{Value, json};

/// The body of a response that refuses or fails.
pub(super) fn body(why: &Rejection) -> Value {
    let kind = match why.status {
        429 => "tokens",
        ..500 => "invalid_request_error",
        500.. => "server_error",
    };
    json!({"error": {"message": why.message, "type": kind, "param": why.param, "code": why.code}})
}

/// The event that says that no more comes of a stream, and why.
pub(super) fn event(message: &str) -> Value {
    json!({"type": "error", "code": "server_error", "message": message, "param": null})
}

pub(super) fn rate_limited() -> Rejection {
    Rejection::new(429, "Rate limit reached for this model on tokens per min (TPM).")
        .code("rate_limit_exceeded")
}

pub(super) fn context_exceeded() -> Rejection {
    let message =
        "Your input exceeds the context window of this model. Please adjust your input and try again.";
    Rejection::bad("input", message).code("context_length_exceeded")
}

pub(super) fn no_key() -> Rejection {
    Rejection::new(401, "Missing bearer or basic authentication in header")
}

pub(super) fn wrong_key() -> Rejection {
    Rejection::new(401, "Incorrect API key provided.").code("invalid_api_key")
}

pub(super) fn unknown_model(model: &str) -> Rejection {
    Rejection::bad("model", format!("The requested model '{model}' does not exist.")).code("model_not_found")
}
