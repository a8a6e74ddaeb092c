//! What providers refuse, as far as the shape of a conversation goes: an oracle for tests and simulation.
//!
//! Each protocol's rules are read off a body as it is posted, and share nothing with the code that writes it.

mod chat;
mod gemini;
mod messages;
mod responses;

use alloc::format;
use alloc::string::String;

use serde_json::Value;

use super::wire::Protocol;

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Messages, Self::Responses, Self::Gemini];

    /// Which of its rules a body breaks, if it breaks one.
    pub fn check(self, body: &str) -> Result<(), String> {
        let body: Value = serde_json::from_str(body).map_err(|error| format!("it is no JSON: {error}"))?;
        match self {
            Self::Chat => chat::check(&body),
            Self::Messages => messages::check(&body),
            Self::Responses => responses::check(&body),
            Self::Gemini => gemini::check(&body),
        }
    }
}

fn says_something(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn is_plain(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests;
