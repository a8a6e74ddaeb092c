//! Protocols: which one a request speaks, and what each of them has to say for itself.
//!
//! One server speaks all of them. The method, the path and the head of a request say which one it is about; all that is
//! then particular is behind [`Dialect`], with one directory for each protocol, written from its public reference.

use super::{
    answer::{Answer, Step},
    chat::Chat,
    gemini::Gemini,
    http::Request,
    messages::Messages,
    record::{Recorded, Said},
    reject::{Check, Rejection},
    responses::Responses,
    seal::Issued,
};
use serde_json::Value;

/// A protocol that the provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Chat completions: `POST /v1/chat/completions`.
    Chat,
    /// Messages: `POST /v1/messages`.
    Messages,
    /// Responses: `POST /v1/responses`.
    Responses,
    /// Gemini: `POST /v1beta/models/NAME:streamGenerateContent?alt=sse`.
    Gemini,
}

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

/// What is particular about a protocol. All of it is from the protocol's public reference.
pub(super) trait Dialect: Sync {
    /// The key that a request brings, and whatever else its head must have, or why that is refused.
    fn key<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection>;

    /// The refusal of a key that is not the one that is known.
    fn wrong_key(&self) -> Rejection;

    /// The refusal of a model that is not known.
    fn unknown_model(&self, model: &str) -> Rejection;

    /// Checks the body of a request for an answer by itself, and reports the first fault.
    fn check(&self, body: &Value, rules: &Rules) -> Check;

    /// Checks that what was sealed came back as it was issued, where the protocol demands it. `issued` is what this
    /// server gave; a conversation may also have seals that another one gave.
    fn check_seals(&self, request: &Recorded, issued: &[Issued]) -> Check;

    /// The steps that play a streamed `answer` to `request`.
    fn steps(&self, answer: &Answer, request: &Recorded) -> Vec<Step>;

    /// What of `answer` to `request` has to come back.
    fn issued(&self, answer: &Answer, request: &Recorded) -> Issued;

    /// The body of a response that refuses or fails.
    fn error_body(&self, why: &Rejection) -> Value;

    /// The refusal of a client that asks too often.
    fn rate_limited(&self) -> Rejection;

    /// The refusal of a conversation that exceeds the model's context.
    fn context_exceeded(&self) -> Rejection;

    /// The list of models.
    fn model_list(&self, models: &[String]) -> Value;

    /// The conversation that a request brings.
    fn said(&self, body: &Value) -> Vec<Said>;

    /// The names of the tools that a request offers, in order.
    fn tool_names(&self, body: &Value) -> Vec<String>;
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// An answer of a model.
    Answer,
    /// The list of models.
    Models,
}

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";
const MODELS: &str = "/v1/models";
const GEMINI_MODELS: &str = "/v1beta/models";
const GEMINI_ANSWERS: &str = ":streamGenerateContent";

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Messages, Self::Responses, Self::Gemini];

    /// What is particular about it.
    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Chat => &Chat,
            Self::Messages => &Messages,
            Self::Responses => &Responses,
            Self::Gemini => &Gemini,
        }
    }

    /// The protocol that a request speaks; chat completions when nothing tells. Paths that two protocols share are told
    /// apart by the head.
    pub(super) fn of(request: &Request) -> Self {
        let path = request.path();
        if path.starts_with("/v1beta") {
            Self::Gemini
        } else if path == MESSAGES || request.header("anthropic-version").is_some() {
            Self::Messages
        } else if path == RESPONSES {
            Self::Responses
        } else {
            Self::Chat
        }
    }

    /// What a request is for, or why there is nothing here for it.
    pub(super) fn aim(self, method: &str, path: &str) -> Result<Aim, Rejection> {
        let (aim, wants) = match self.target(path) {
            Some(aim @ Aim::Answer) => (aim, "POST"),
            Some(aim @ Aim::Models) => (aim, "GET"),
            None => {
                let message = format!("Invalid URL ({method} {path})");
                return Err(Rejection::new(404, message).code("unknown_url"));
            }
        };
        if method == wants {
            return Ok(aim);
        }
        Err(Rejection::new(405, format!("Not allowed to {method} on {path}.")))
    }

    fn target(self, path: &str) -> Option<Aim> {
        let (answers, models) = match self {
            Self::Chat => (path == CHAT, path == MODELS),
            Self::Messages => (path == MESSAGES, path == MODELS),
            Self::Responses => (path == RESPONSES, path == MODELS),
            Self::Gemini => (gemini_model(path).is_some(), path == GEMINI_MODELS),
        };
        if answers { Some(Aim::Answer) } else { models.then_some(Aim::Models) }
    }

    /// The model that a request for an answer names; empty when it names none.
    pub(super) fn model(self, path: &str, body: &Value) -> String {
        match self {
            Self::Chat | Self::Messages | Self::Responses => {
                body["model"].as_str().unwrap_or_default().to_owned()
            }
            Self::Gemini => gemini_model(path).unwrap_or_default().to_owned(),
        }
    }
}

/// The model in a path that asks it for an answer.
fn gemini_model(path: &str) -> Option<&str> {
    let name = path.strip_prefix(GEMINI_MODELS)?.strip_prefix('/')?.strip_suffix(GEMINI_ANSWERS)?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// Checks the body of a request for an answer without a server, and says in one sentence what a provider would refuse.
pub fn check_body(protocol: Protocol, body: &Value) -> Result<(), String> {
    protocol.dialect().check(body, &Rules::default()).map_err(|rejection| rejection.message)
}
