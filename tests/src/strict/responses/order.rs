//! Order: that every call has one output, that no thought stands alone, and what may follow what.

use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// What an item is, as far as its neighbours are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Instruction,
    User,
    Said,
    Thought,
    Call,
    Output,
}

impl Kind {
    fn of(item: &Value) -> Self {
        match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
            ("reasoning", _) => Self::Thought,
            ("function_call", _) => Self::Call,
            ("function_call_output", _) => Self::Output,
            (_, Some("user")) => Self::User,
            (_, Some("assistant")) => Self::Said,
            _ => Self::Instruction,
        }
    }

    /// Whether the model made it.
    fn is_answer(self) -> bool {
        matches!(self, Self::Said | Self::Thought | Self::Call)
    }
}

/// Checks the order of items that are valid by themselves.
pub(super) fn order(items: &[Value]) -> Check {
    let kinds: Vec<_> = items.iter().map(Kind::of).collect();
    pairs(items, &kinds)?;
    unique_items(items)?;
    thoughts(items, &kinds)?;
    neighbours(items, &kinds)
}

/// Every call has an output after it, and every output a call before it. The real provider says which is missing.
fn pairs(items: &[Value], kinds: &[Kind]) -> Check {
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for (index, (item, kind)) in items.iter().zip(kinds).enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        let known = calls.iter_mut().find(|(known, _)| *known == id);
        match (kind, known) {
            (Kind::Call, None) => calls.push((id, false)),
            (Kind::Call, Some(_)) => return Err(twice(index, "call", id)),
            (Kind::Output, None) => {
                let message = format!("No tool call found for function call output with call_id {id}.");
                return Err(Rejection::bad("input", message));
            }
            (Kind::Output, Some((_, true))) => return Err(twice(index, "output", id)),
            (Kind::Output, Some((_, answered))) => *answered = true,
            _ => {}
        }
    }
    match calls.iter().find(|(_, answered)| !answered) {
        None => Ok(()),
        Some((id, _)) => {
            Err(Rejection::bad("input", format!("No tool output found for function call {id}.")))
        }
    }
}

fn twice(index: usize, what: &str, id: &str) -> Rejection {
    Rejection::house(
        &format!("input[{index}].call_id"),
        &format!("there is another {what} with the id '{id}'."),
    )
}

fn unique_items(items: &[Value]) -> Check {
    let mut seen: Vec<&str> = Vec::new();
    for id in items.iter().filter_map(|item| item["id"].as_str()) {
        if seen.contains(&id) {
            let message = format!(
                "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            );
            return Err(Rejection::bad("input", message));
        }
        seen.push(id);
    }
    Ok(())
}

/// What a model thought belongs to what it said or called next.
fn thoughts(items: &[Value], kinds: &[Kind]) -> Check {
    for (index, item) in items.iter().enumerate().filter(|(index, _)| kinds[*index] == Kind::Thought) {
        if !kinds.get(index + 1).is_some_and(|next| next.is_answer()) {
            let id = item["id"].as_str().unwrap_or_default();
            let message =
                format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            return Err(Rejection::bad("input", message));
        }
    }
    Ok(())
}

/// The house rules on neighbours: servers that make a chat of the items need answers and outputs in one piece each.
fn neighbours(items: &[Value], kinds: &[Kind]) -> Check {
    let refuse = |index: usize, message: &str| Err(Rejection::house(&format!("input[{index}]"), message));
    let mut open: Vec<&str> = Vec::new();
    let mut last = Kind::Instruction;
    for (index, (item, kind)) in items.iter().zip(kinds).enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        match (last, *kind) {
            (Kind::Instruction, Kind::Instruction | Kind::User) => {}
            (Kind::Instruction, _) => {
                return refuse(index, "the first item after instructions must be of the user.");
            }
            (_, Kind::Instruction) => return refuse(index, "instructions must come before everything else."),
            (Kind::User, Kind::User) => {
                return refuse(index, "a user message must not follow a user message.");
            }
            (_, Kind::User) if !open.is_empty() => {
                return refuse(index, "nothing may stand between calls and their outputs.");
            }
            (Kind::Output, Kind::Said | Kind::Thought | Kind::Call) if !open.is_empty() => {
                return refuse(index, "nothing may stand between the outputs of one answer.");
            }
            (_, Kind::Call) => open.push(id),
            (_, Kind::Output) => open.retain(|open| *open != id),
            (_, Kind::User | Kind::Said | Kind::Thought) => {}
        }
        last = *kind;
    }
    if matches!(last, Kind::User | Kind::Output) {
        return Ok(());
    }
    refuse(items.len().saturating_sub(1), "the last item must be of the user or an output.")
}
