//! Models: what the ones that think refuse, and what the ones that do not.
//!
//! Told by the beginning of the name, as OpenAI's families are called; a model of another name takes everything.

use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

/// Families that do not think.
const PLAIN: [&str; 3] = ["gpt-3.5", "gpt-4", "chatgpt-4"];

/// Families that think and let nobody choose how they sample.
const THINKING: [&str; 5] = ["gpt-5", "o1", "o3", "o4", "codex-"];

/// Refuses the parameters that `model` does not take.
pub(super) fn limits(body: &Map<String, Value>, model: &str) -> Check {
    let of = |families: &[&str]| families.iter().any(|family| model.starts_with(family));
    if of(&PLAIN) {
        return thoughtless(body);
    }
    let fixed = ["temperature", "top_p"].iter().find(|name| of(&THINKING) && body.contains_key(**name));
    fixed.map_or(Ok(()), |name| Err(unsupported(name)))
}

fn thoughtless(body: &Map<String, Value>) -> Check {
    if let Some((name, _)) = body.get("reasoning").and_then(|reasoning| reasoning.as_object()?.iter().next())
    {
        return Err(unsupported(&format!("reasoning.{name}")));
    }
    let included = body.get("include").and_then(Value::as_array);
    if included.is_some_and(|names| names.iter().any(|name| name == "reasoning.encrypted_content")) {
        return Err(Rejection::bad("include", "Encrypted content is not supported with this model."));
    }
    Ok(())
}

fn unsupported(name: &str) -> Rejection {
    let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
    Rejection::bad(name, message).code("unsupported_parameter")
}
