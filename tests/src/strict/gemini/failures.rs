//! Failures: Google's error object, in a response and in a stream, with the details that go with some errors.

use crate::strict::reject::Rejection;
use serde_json::{Value, json};

/// The code of an error of the key.
const BAD_KEY: &str = "API_KEY_INVALID";

/// The body of a response that refuses or fails.
pub(super) fn body(why: &Rejection) -> Value {
    let mut error = json!({"code": why.status, "message": why.message, "status": status(why.status)});
    if let Some(details) = details(why) {
        error["details"] = json!([details]);
    }
    json!({"error": error})
}

/// The event of an answer that fails.
pub(super) fn event(message: &str) -> Value {
    body(&Rejection::new(503, message))
}

/// What Google calls a status.
fn status(code: u16) -> &'static str {
    match code {
        400 | 405 | 413 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}

fn details(why: &Rejection) -> Option<Value> {
    match (why.status, why.code, &why.param) {
        (_, Some(BAD_KEY), _) => Some(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": BAD_KEY,
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        })),
        (400, _, Some(field)) if why.message.starts_with("Invalid") => Some(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": field, "description": why.message}],
        })),
        (429, _, _) => Some(json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}],
        })),
        _ => None,
    }
}

pub(super) fn no_key() -> Rejection {
    let message = "Method doesn't allow unregistered callers (callers without established identity). Please use API Key \
                   or other form of API consumer identity to call this API.";
    Rejection::new(403, message)
}

pub(super) fn wrong_key() -> Rejection {
    Rejection::new(400, "API key not valid. Please pass a valid API key.").code(BAD_KEY)
}

pub(super) fn unknown_model(model: &str) -> Rejection {
    let message = format!(
        "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels \
         to see the list of available models and their supported methods."
    );
    Rejection::new(404, message)
}

pub(super) fn rate_limited() -> Rejection {
    Rejection::new(429, "You exceeded your current quota, please check your plan and billing details.")
}

pub(super) fn context_exceeded() -> Rejection {
    let message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    Rejection::new(400, message)
}
