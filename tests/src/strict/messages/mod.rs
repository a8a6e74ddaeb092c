//! Messages, from the public API reference, with a few house rules.
//!
//! The first fault found is the one reported, as a real provider does.

mod blocks;
mod cache;
mod failures;
mod order;
mod params;
mod render;
mod said;
mod seals;
mod shape;
mod tools;

use super::{
    answer::{Answer, Step},
    http::Request,
    protocol::{Dialect, Rules},
    record::{Recorded, Said},
    reject::{Check, Rejection},
    seal::Issued,
};
use cache::Marks;
use serde_json::{Value, json};

/// The version that is spoken here.
const VERSION: &str = "2023-06-01";

/// What is particular about Messages.
pub(super) struct Messages;

impl Dialect for Messages {
    fn key<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection> {
        match request.header("anthropic-version") {
            Some(VERSION) => {}
            Some(other) => {
                let message = format!("anthropic-version: \"{other}\" is not a valid version");
                return Err(Rejection::new(400, message));
            }
            None => return Err(Rejection::new(400, "anthropic-version: header is required")),
        }
        let key = request.header("x-api-key").map(str::trim).filter(|key| !key.is_empty());
        key.ok_or_else(|| Rejection::new(401, "x-api-key header is required"))
    }

    fn wrong_key(&self) -> Rejection {
        Rejection::new(401, "invalid x-api-key")
    }

    fn unknown_model(&self, model: &str) -> Rejection {
        failures::unknown_model(model)
    }

    fn check(&self, body: &Value, rules: &Rules) -> Check {
        let Some(body) = body.as_object() else {
            return Err(Rejection::new(400, "Input should be a valid dictionary"));
        };
        let mut marks = Marks::default();
        params::each(body, rules)?;
        tools::tools(body, &mut marks)?;
        tools::choice(body)?;
        params::system(body, &mut marks)?;
        order::each(body, &mut marks)?;
        marks.take(body.get("cache_control"), "")?;
        marks.few()?;
        params::thinking(body)?;
        order::order(body["messages"].as_array().map_or(&[], Vec::as_slice))
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
        let entry = |id: &String| json!({"type": "model", "id": id, "display_name": id, "created_at": "2024-01-01T00:00:00Z"});
        let (first, last) = (models.first(), models.last());
        let data: Vec<_> = models.iter().map(entry).collect();
        json!({"data": data, "has_more": false, "first_id": first, "last_id": last})
    }

    fn said(&self, body: &Value) -> Vec<Said> {
        said::said(body)
    }

    fn tool_names(&self, body: &Value) -> Vec<String> {
        said::tool_names(body)
    }
}
