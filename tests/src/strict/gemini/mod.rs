//! Gemini, from the public API reference. Conversations are refused: only keys, errors and the list of models are spoken
//! here.

use super::{
    answer::{Answer, Step},
    http::Request,
    protocol::{Dialect, Rules},
    record::{Recorded, Said},
    reject::{Check, Rejection},
    seal::Issued,
};
use serde_json::{Value, json};

/// What is particular about Gemini.
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn key<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection> {
        let key = request.header("x-goog-api-key").map(str::trim).filter(|key| !key.is_empty());
        key.ok_or_else(|| {
            let message = "Method doesn't allow unregistered callers (callers without established identity). Please use \
                           API Key or other form of API consumer identity to call this API.";
            Rejection::new(403, message)
        })
    }

    fn wrong_key(&self) -> Rejection {
        Rejection::new(400, "API key not valid. Please pass a valid API key.")
    }

    fn unknown_model(&self, model: &str) -> Rejection {
        let message = format!(
            "models/{model} is not found for API version v1beta, or is not supported for generateContent."
        );
        Rejection::new(404, message)
    }

    fn check(&self, _: &Value, _: &Rules) -> Check {
        Err(Rejection::new(501, "This provider does not speak Gemini."))
    }

    fn check_seals(&self, _: &Recorded, _: &[Issued]) -> Check {
        Ok(())
    }

    fn steps(&self, _: &Answer, _: &Recorded) -> Vec<Step> {
        Vec::new()
    }

    fn issued(&self, _: &Answer, request: &Recorded) -> Issued {
        Issued::new(request, Vec::new(), Vec::new())
    }

    fn error_body(&self, why: &Rejection) -> Value {
        let status = match why.status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            ..500 => "INVALID_ARGUMENT",
            501 => "UNIMPLEMENTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            500.. => "INTERNAL",
        };
        json!({"error": {"code": why.status, "message": why.message, "status": status}})
    }

    fn rate_limited(&self) -> Rejection {
        Rejection::new(429, "Resource has been exhausted (e.g. check quota).")
    }

    fn context_exceeded(&self) -> Rejection {
        let message =
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
        Rejection::new(400, message)
    }

    fn model_list(&self, models: &[String]) -> Value {
        let entry = |name: &String| json!({"name": format!("models/{name}"), "supportedGenerationMethods": ["generateContent"]});
        json!({"models": models.iter().map(entry).collect::<Vec<_>>()})
    }

    fn said(&self, _: &Value) -> Vec<Said> {
        Vec::new()
    }

    fn tool_names(&self, _: &Value) -> Vec<String> {
        Vec::new()
    }
}
