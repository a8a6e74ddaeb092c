//! Order: who may speak after whom, and that every function call has its response.

use super::contents::{Called, Content, Role};
use crate::strict::reject::{Check, Rejection};

/// Checks the order of contents that are valid by themselves.
pub(super) fn order(contents: &[Content<'_>]) -> Check {
    let mut before: Option<&Content<'_>> = None;
    for content in contents {
        let asked = before.map(Content::calls).unwrap_or_default();
        follows(before, content, &asked)?;
        answers(&asked, &content.responses(), &content.path)?;
        before = Some(content);
    }
    match before {
        Some(last) if last.role == Role::Model => Err(Rejection::bad(
            &last.path,
            "Please ensure that multiturn requests end with a user role or a function response.",
        )),
        _ => Ok(()),
    }
}

fn follows(before: Option<&Content<'_>>, content: &Content<'_>, asked: &[Called<'_>]) -> Check {
    let calls = !content.calls().is_empty();
    let responds = !content.responses().is_empty();
    let path = content.path.as_str();
    if calls && before.is_none_or(|before| before.role == Role::Model) {
        let what = "Please ensure that function call turn comes immediately after a user turn or after a function \
                    response turn.";
        return Err(Rejection::bad(path, what));
    }
    if responds && asked.is_empty() {
        let what = "Please ensure that function response turn comes immediately after a function call turn.";
        return Err(Rejection::bad(path, what));
    }
    if before.is_none() && content.role == Role::Model {
        return Err(Rejection::house(path, "the first content must be of the user."));
    }
    if before.is_some_and(|before| before.role == content.role) {
        return Err(Rejection::house(path, "the user and the model must take turns."));
    }
    Ok(())
}

/// Checks that what was asked is answered, each call once.
fn answers(asked: &[Called<'_>], answered: &[Called<'_>], path: &str) -> Check {
    if asked.len() != answered.len() {
        let what = "Please ensure that the number of function response parts is equal to the number of function call \
                    parts of the function call turn.";
        return Err(Rejection::bad(path, what));
    }
    if asked.iter().all(|call| call.id.is_none()) {
        return by_order(asked, answered, path);
    }
    let mut open = asked.to_vec();
    for response in answered {
        let found = open.iter().position(|call| call.id == response.id && call.name == response.name);
        let Some(found) = found else {
            return Err(Rejection::bad(path, unanswered(response)));
        };
        open.remove(found);
    }
    Ok(())
}

/// Calls without ids are told apart by their order alone.
fn by_order(asked: &[Called<'_>], answered: &[Called<'_>], path: &str) -> Check {
    let mismatch = asked
        .iter()
        .zip(answered)
        .find(|(call, response)| call.name != response.name || response.id.is_some());
    match mismatch {
        None => Ok(()),
        Some((_, response)) => Err(Rejection::bad(path, unanswered(response))),
    }
}

fn unanswered(response: &Called<'_>) -> String {
    let Called { id, name, .. } = response;
    let named = id.map(|id| format!(" with the id '{id}'")).unwrap_or_default();
    format!(
        "Please ensure that function responses match the function calls: '{name}'{named} was not called so."
    )
}
