//! Order: which message may follow which, and that every call is answered exactly once.

use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// Checks the order of messages that are valid by themselves.
pub(super) fn order(messages: &[Value]) -> Check {
    let mut open = Open::default();
    let mut last = "";
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let path = format!("messages[{index}]");
        if role == "tool" {
            open.answer(message["tool_call_id"].as_str().unwrap_or_default(), &path)?;
        } else {
            open.close(&path)?;
            open = Open::by(message);
            follows(last, role, &path)?;
        }
        last = role;
    }
    open.close(&format!("messages[{}]", messages.len().saturating_sub(1)))?;
    ends(last)
}

/// The house rules on neighbours.
fn follows(last: &str, role: &str, path: &str) -> Check {
    let instruction = |role: &str| role == "system" || role == "developer";
    let message = match (last, role) {
        (last, role) if instruction(role) && !last.is_empty() && !instruction(last) => {
            "system messages must come before all others."
        }
        ("user", "user") => "a user message must not follow a user message.",
        ("assistant", "assistant") => "an assistant message must not follow an assistant message.",
        (last, "assistant") if last.is_empty() || instruction(last) => {
            "the first message after the system messages must be of the user."
        }
        _ => return Ok(()),
    };
    Err(Rejection::house(path, message))
}

fn ends(last: &str) -> Check {
    if matches!(last, "user" | "tool") {
        return Ok(());
    }
    Err(Rejection::house("messages", "the last message must be of the user or of a tool."))
}

/// The calls of the last assistant message, and which of them are answered.
#[derive(Default)]
struct Open<'a> {
    asked: Vec<&'a str>,
    answered: Vec<String>,
}

impl<'a> Open<'a> {
    fn by(message: &'a Value) -> Self {
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        Self { asked: calls.iter().filter_map(|call| call["id"].as_str()).collect(), answered: Vec::new() }
    }

    fn answer(&mut self, id: &str, path: &str) -> Check {
        let at = format!("{path}.tool_call_id");
        if self.asked.is_empty() {
            let message = "Invalid parameter: messages with role 'tool' must be a response to a preceding message with \
                           'tool_calls'.";
            return Err(Rejection::bad(&format!("{path}.role"), message));
        }
        if !self.asked.contains(&id) {
            let message = format!(
                "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
            );
            return Err(Rejection::bad(&at, message));
        }
        if self.answered.iter().any(|answered| answered == id) {
            return Err(Rejection::bad(
                &at,
                format!("Duplicate value for 'tool_call_id' of '{id}' in '{path}'."),
            ));
        }
        self.answered.push(id.to_owned());
        Ok(())
    }

    fn close(&self, path: &str) -> Check {
        let unanswered = |id: &&str| !self.answered.iter().any(|answered| answered == id);
        let missing: Vec<_> = self.asked.iter().copied().filter(unanswered).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            missing.join(", ")
        );
        Err(Rejection::bad(&format!("{path}.role"), message))
    }
}
