//! Failures: the error object of the public API reference, in a response and in a stream.

use crate::strict::reject::Rejection;
use serde_json::{Value, json};

/// The body of a response that refuses or fails.
pub(super) fn body(why: &Rejection) -> Value {
    let kind = match why.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        ..500 => "invalid_request_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": why.message}, "request_id": "req_strict"})
}

/// The event of an answer that fails.
pub(super) fn event(message: &str) -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": message}})
}

pub(super) fn rate_limited() -> Rejection {
    Rejection::new(429, "This request would exceed your organization's rate limit.")
}

pub(super) fn context_exceeded() -> Rejection {
    Rejection::new(400, "prompt is too long: 210000 tokens > 200000 maximum")
}

pub(super) fn unknown_model(model: &str) -> Rejection {
    Rejection::new(404, format!("model: {model}"))
}
