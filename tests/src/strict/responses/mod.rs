//! Responses, from the public API reference. Conversations are refused: only keys, errors and the list of models are
//! spoken here.

use super::{
    answer::{Answer, Step},
    chat::{Chat, failures},
    http::Request,
    protocol::{Dialect, Rules},
    record::{Recorded, Said},
    reject::{Check, Rejection},
    seal::Issued,
};
use serde_json::Value;

/// What is particular about Responses.
pub(super) struct Responses;

impl Dialect for Responses {
    fn key<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection> {
        Chat.key(request)
    }

    fn wrong_key(&self) -> Rejection {
        failures::wrong_key()
    }

    fn unknown_model(&self, model: &str) -> Rejection {
        failures::unknown_model(model)
    }

    fn check(&self, _: &Value, _: &Rules) -> Check {
        Err(Rejection::new(501, "This provider does not speak Responses."))
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
        failures::body(why)
    }

    fn rate_limited(&self) -> Rejection {
        failures::rate_limited()
    }

    fn context_exceeded(&self) -> Rejection {
        failures::context_exceeded()
    }

    fn model_list(&self, models: &[String]) -> Value {
        Chat.model_list(models)
    }

    fn said(&self, _: &Value) -> Vec<Said> {
        Vec::new()
    }

    fn tool_names(&self, _: &Value) -> Vec<String> {
        Vec::new()
    }
}
