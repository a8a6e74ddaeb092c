//! Failures: the error object of the public API reference, in a response and in a stream.

use crate::strict::reject::Rejection;
use serde_json::{Value, json};

/// The body of a response that refuses or fails.
pub(in crate::strict) fn body(why: &Rejection) -> Value {
    let kind = match why.status {
        429 => "requests",
        ..500 => "invalid_request_error",
        500.. => "server_error",
    };
    json!({"error": {"message": why.message, "type": kind, "param": why.param, "code": why.code}})
}

/// The event of an answer that fails.
pub(in crate::strict) fn event(message: &str) -> Value {
    body(&Rejection::new(500, message))
}

pub(in crate::strict) fn rate_limited() -> Rejection {
    Rejection::new(429, "Rate limit reached.").code("rate_limit_exceeded")
}

pub(in crate::strict) fn context_exceeded() -> Rejection {
    let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 \
                   tokens. Please reduce the length of the messages.";
    Rejection::bad("messages", message).code("context_length_exceeded")
}

pub(in crate::strict) fn no_key() -> Rejection {
    let message = "You didn't provide an API key. You need to provide your API key in an Authorization header \
                   using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
    Rejection::new(401, message)
}

pub(in crate::strict) fn wrong_key() -> Rejection {
    Rejection::new(401, "Incorrect API key provided.").code("invalid_api_key")
}

pub(in crate::strict) fn unknown_model(model: &str) -> Rejection {
    let message = format!("The model `{model}` does not exist or you do not have access to it.");
    Rejection::new(404, message).code("model_not_found")
}
