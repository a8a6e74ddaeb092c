//! OpenAI's Responses, from the public API reference, with a few house rules.
//!
//! The first fault found is the one reported, as the real provider does. The house rules refuse what the real one lets
//! pass and compatible servers do not, or what loses something without a word; their messages begin with "House rule".
//! Nothing is kept from one request to the next: whatever a conversation needs is in its input.

mod content;
mod failures;
mod input;
mod items;
mod models;
mod object;
mod order;
mod params;
mod part;
mod render;
mod said;
mod seals;
mod stream;
mod tools;

use super::{
    answer::{Answer, Step},
    chat::{Chat, shape},
    head,
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
        Some(head::bearer(request)).filter(|key| !key.is_empty()).ok_or_else(failures::no_key)
    }

    fn wrong_key(&self) -> Rejection {
        failures::wrong_key()
    }

    fn unknown_model(&self, model: &str) -> Rejection {
        failures::unknown_model(model)
    }

    fn check(&self, body: &Value, rules: &Rules) -> Check {
        let Some(body) = body.as_object() else {
            return Err(Rejection::new(400, "The request body must be a JSON object."));
        };
        params::known(body, rules)?;
        let model = body.get("model").ok_or_else(|| shape::missing("model"))?;
        let model = shape::non_empty(model, "model")?;
        params::values(body)?;
        params::together(body)?;
        models::limits(body, model)?;
        tools::tools(body)?;
        tools::choice(body)?;
        input::input(body, model)
    }

    fn check_seals(&self, request: &Recorded, issued: &[Issued]) -> Check {
        seals::check(request, issued)
    }

    fn steps(&self, answer: &Answer, request: &Recorded) -> Vec<Step> {
        render::steps(answer, request)
    }

    fn issued(&self, answer: &Answer, request: &Recorded) -> Issued {
        seals::issued(answer, request)
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
        // The same list: they are two ways of asking one provider.
        Chat.model_list(models)
    }

    fn said(&self, body: &Value) -> Vec<Said> {
        said::said(body)
    }

    fn tool_names(&self, body: &Value) -> Vec<String> {
        said::tool_names(body)
    }
}
