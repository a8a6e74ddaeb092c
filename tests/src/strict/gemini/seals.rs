//! Thought signatures: how an answer's parts are signed, and that they come back as they were.
//!
//! A signature is made of the model and of what the part says, so that nothing has to be remembered to know one again: on
//! another part, or changed by a letter, it is refused. Every model but those of the first two generations wants the
//! signature of the first call of each step back, as the reference says of the third.

use super::contents::{Content, Data, Role};
use crate::strict::{
    reject::{Check, Rejection},
    seal::seal,
};
use serde_json::Value;

/// What the reference gives to whoever has calls that no such model made.
const EXCUSES: [&str; 2] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// The signature of a call.
pub(super) fn of_call(model: &str, name: &str, args: Option<&Value>) -> String {
    let args = args.filter(|args| args.as_object().is_some_and(|args| !args.is_empty()));
    sign(model, &["call", name, &args.map(Value::to_string).unwrap_or_default()])
}

/// The signature of a text, which is that of all the text before it in its content that is not signed; of a thought, of
/// that thought.
pub(super) fn of_text(model: &str, thought: bool, text: &str) -> String {
    // Who joins deltas, or drops those that are blank, has the same text.
    let letters: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    sign(model, &[if thought { "thought" } else { "text" }, &letters])
}

/// Whether a model signs, and wants its signatures back.
pub(super) fn signs(model: &str) -> bool {
    !["gemini-1", "gemini-2", "gemma"].iter().any(|old| model.starts_with(old))
}

/// Checks every signature, and that none is missing where one is wanted.
pub(super) fn seals(contents: &[Content<'_>], model: &str) -> Check {
    for content in contents.iter().filter(|content| content.role == Role::Model) {
        valid(content, model)?;
    }
    if !signs(model) {
        return Ok(());
    }
    // A content that says something beside its responses begins no new turn, so that the stricter reading holds.
    let opens = |content: &Content<'_>| content.role == Role::User && content.responses().is_empty();
    let turn = contents.iter().rposition(opens).map_or(contents, |at| &contents[at..]);
    turn.iter().try_for_each(signed)
}

/// Checks that the first call of a step is signed.
fn signed(content: &Content<'_>) -> Check {
    let mut parts = content.parts.iter().enumerate();
    let first = parts.find_map(|(place, part)| match part.data {
        Data::Call(called) => Some((place, part, called)),
        Data::Text(_) | Data::Blob | Data::Response(_) | Data::Code => None,
    });
    match first {
        Some((place, part, called)) if part.signature.is_none() => {
            let what = format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to \
                 work correctly, and missing thought_signature may lead to degraded model performance. Additional \
                 data, function call `default_api:{}` , position {}.",
                called.name,
                place + 1
            );
            Err(Rejection::bad(&part.path, what))
        }
        _ => Ok(()),
    }
}

fn valid(content: &Content<'_>, model: &str) -> Check {
    let mut said = String::new();
    for part in &content.parts {
        let own = match part.data {
            Data::Call(called) => of_call(model, called.name, called.args),
            Data::Text(text) if part.thought => of_text(model, true, text),
            Data::Text(text) => {
                said.push_str(text);
                of_text(model, false, &said)
            }
            Data::Blob | Data::Response(_) | Data::Code => String::new(),
        };
        match part.signature {
            Some(signature) if signature != own && !EXCUSES.contains(&signature) => {
                return Err(Rejection::bad(&part.path, "Thought signature is not valid"));
            }
            Some(_) if !part.thought => said.clear(),
            _ => {}
        }
    }
    Ok(())
}

/// Has every kind of letter that base64 has.
fn sign(model: &str, words: &[&str]) -> String {
    format!("Sg+/{}/w==", seal(model, words))
}
