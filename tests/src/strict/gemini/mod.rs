//! Gemini: what `streamGenerateContent` takes and answers, from the public API reference.
//!
//! The first fault found is the one reported, in the words that the real server has for it where those are known. A few
//! house rules refuse what it lets pass and what makes no sense; their messages begin with "House rule".

mod config;
mod contents;
mod failures;
mod order;
mod proto;
mod render;
mod said;
mod schema;
mod seals;
mod tools;

use super::{
    answer::{Answer, Step},
    http::Request,
    protocol::{Dialect, Rules},
    record::{Recorded, Said},
    reject::{Check, Rejection},
    seal::Issued,
};
use contents::Content;
use proto::{Message, violation};
use serde_json::{Value, json};

/// What is particular about Gemini.
pub(super) struct Gemini;

const BODY: &[&str] = &[
    "model",
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "store",
];

impl Dialect for Gemini {
    fn key<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection> {
        let mut query = request.query().split('&');
        if request.method == "POST" && !query.clone().any(|field| field == "alt=sse") {
            return Err(Rejection::house(
                "alt",
                "'alt=sse' must be asked for, because this provider only streams so.",
            ));
        }
        let key =
            request.header("x-goog-api-key").or_else(|| query.find_map(|field| field.strip_prefix("key=")));
        key.map(str::trim).filter(|key| !key.is_empty()).ok_or_else(failures::no_key)
    }

    fn wrong_key(&self) -> Rejection {
        failures::wrong_key()
    }

    fn unknown_model(&self, model: &str) -> Rejection {
        failures::unknown_model(model)
    }

    fn check(&self, body: &Value, rules: &Rules) -> Check {
        let body = Message::read_with(body, "", BODY, &rules.extra)?;
        let contents = conversation(&body)?;
        if let Some(value) = body.get("systemInstruction") {
            contents::system(value, "system_instruction")?;
        }
        let offered = tools::tools(&body)?;
        if let Some(value) = body.get("toolConfig") {
            tools::config(value, "tool_config", &offered)?;
        }
        if let Some(value) = body.get("generationConfig") {
            config::generation(value, "generation_config")?;
        }
        body.list("safetySettings")?.iter().try_for_each(|(value, path)| config::safety(value, path))?;
        order::order(&contents)
    }

    /// A signature tells by itself whether it is in its place, so that nothing has to be remembered.
    fn check_seals(&self, request: &Recorded, _: &[Issued]) -> Check {
        let extra = all_names(&request.body);
        let body = Message::read_with(&request.body, "", BODY, &extra)?;
        seals::seals(&conversation(&body)?, &request.model)
    }

    fn steps(&self, answer: &Answer, request: &Recorded) -> Vec<Step> {
        render::steps(answer, request)
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
        let entry = |id: &String| {
            json!({
                "name": format!("models/{id}"),
                "version": "001",
                "displayName": id,
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            })
        };
        json!({"models": models.iter().map(entry).collect::<Vec<_>>()})
    }

    fn said(&self, body: &Value) -> Vec<Said> {
        said::said(body)
    }

    fn tool_names(&self, body: &Value) -> Vec<String> {
        said::tool_names(body)
    }
}

/// The contents, each valid by itself.
fn conversation<'a>(body: &Message<'a>) -> Result<Vec<Content<'a>>, Rejection> {
    let contents = body.list("contents")?;
    if contents.is_empty() {
        return Err(violation("contents", "contents is not specified"));
    }
    contents.into_iter().map(|(value, path)| contents::content(value, &path)).collect()
}

/// The names of all fields of a body whose names have been checked.
fn all_names(body: &Value) -> Vec<String> {
    body.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}
