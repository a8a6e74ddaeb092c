//! Validation: what a chat completions request must be, from the public API reference, with a few house rules.
//!
//! The first fault found is the one reported, as a real provider does. The house rules refuse what the reference
//! server lets pass and other compatible servers do not; their messages begin with "House rule".

mod calls;
mod content;
mod head;
mod messages;
mod order;
mod params;
mod schema;
mod shape;
mod tools;

pub(super) use head::{authorization, content_type, json};

use super::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// What a provider accepts beyond or short of the reference.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The only key accepted; any when there is none.
    pub(super) key: Option<String>,
    /// The only models known; any when there are none.
    pub(super) models: Option<Vec<String>>,
    /// Fields accepted beyond the reference.
    pub(super) extra: Vec<String>,
}

/// Checks the body of a completion request without a server, and says in one sentence what a provider would refuse.
pub fn check_body(body: &Value) -> Result<(), String> {
    completion(body, &Rules::default()).map_err(|rejection| rejection.message)
}

/// Checks the body of a completion request.
pub(super) fn completion(body: &Value, rules: &Rules) -> Check {
    let Some(body) = body.as_object() else {
        return Err(Rejection::new(400, "The request body must be a JSON object."));
    };
    params::known(body, rules)?;
    model(body, rules)?;
    let messages = messages::required(body)?;
    params::values(body)?;
    params::together(body)?;
    tools::tools(body)?;
    tools::choice(body)?;
    messages::each(messages, rules)?;
    order::order(messages)
}

fn model(body: &Map<String, Value>, rules: &Rules) -> Check {
    let Some(model) = body.get("model") else {
        return Err(
            Rejection::bad("model", "you must provide a model parameter").code("missing_required_parameter")
        );
    };
    let model = shape::non_empty(model, "model")?;
    match &rules.models {
        Some(known) if !known.iter().any(|name| name == model) => Err(unknown_model(model)),
        _ => Ok(()),
    }
}

fn unknown_model(model: &str) -> Rejection {
    let message = format!("The model `{model}` does not exist or you do not have access to it.");
    Rejection::new(404, message).code("model_not_found")
}
