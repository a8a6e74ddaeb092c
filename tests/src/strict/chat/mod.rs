//! Chat completions, from the public API reference, with a few house rules.
//!
//! The first fault found is the one reported, as a real provider does. The house rules refuse what the reference
//! server lets pass and other compatible servers do not; their messages begin with "House rule".

mod calls;
mod chunk;
mod content;
pub(super) mod failures;
mod messages;
mod order;
mod params;
mod render;
mod said;
pub(super) mod schema;
pub(super) mod shape;
mod thoughts;
mod tools;

use super::{
    answer::{Answer, Step},
    head,
    http::Request,
    protocol::{Dialect, Rules},
    record::{Recorded, Said},
    reject::{Check, Rejection},
    seal::Issued,
    sse::CREATED,
};
use serde_json::{Map, Value, json};

/// What is particular about chat completions.
pub(super) struct Chat;

impl Dialect for Chat {
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
        model(body)?;
        let messages = messages::required(body)?;
        params::values(body)?;
        params::together(body)?;
        tools::tools(body)?;
        tools::choice(body)?;
        messages::each(messages, rules)?;
        order::order(messages)
    }

    fn check_seals(&self, request: &Recorded, issued: &[Issued]) -> Check {
        thoughts::check(request, issued)
    }

    fn steps(&self, answer: &Answer, request: &Recorded) -> Vec<Step> {
        render::steps(answer, request)
    }

    fn issued(&self, answer: &Answer, request: &Recorded) -> Issued {
        thoughts::issued(answer, request)
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
        let entry =
            |id: &String| json!({"id": id, "object": "model", "created": CREATED, "owned_by": "strict"});
        json!({"object": "list", "data": models.iter().map(entry).collect::<Vec<_>>()})
    }

    fn said(&self, body: &Value) -> Vec<Said> {
        said::said(body)
    }

    fn tool_names(&self, body: &Value) -> Vec<String> {
        said::tool_names(body)
    }
}

fn model(body: &Map<String, Value>) -> Check {
    let Some(model) = body.get("model") else {
        return Err(
            Rejection::bad("model", "you must provide a model parameter").code("missing_required_parameter")
        );
    };
    shape::non_empty(model, "model").map(drop)
}
