//! Where in a schema's text something stands.

use boon::{InstanceLocation, InstanceToken};
use hostler_core::config::tree::{Node, Value};

use super::narrow;
use crate::config::jsonc;

/// What reading JSON failed of, without the place, which is said otherwise.
pub(super) fn without(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

/// The line and column of the value at that location.
pub(super) fn of_location(text: &str, location: &InstanceLocation<'_>) -> Option<(u32, u32)> {
    let root = jsonc::parse(text).ok()?;
    let mut node = &root;
    for token in &location.tokens {
        node = below(node, token)?;
    }
    Some((node.at.line, node.at.column))
}

fn below<'n>(node: &'n Node, token: &InstanceToken<'_>) -> Option<&'n Node> {
    match (&node.value, token) {
        (Value::Object(members), InstanceToken::Prop(name)) => {
            members.iter().find(|member| member.name == **name).map(|member| &member.node)
        }
        (Value::List(items), InstanceToken::Item(nth)) => items.get(*nth),
        _ => None,
    }
}

/// The line and column of the first string that says so.
pub(super) fn of_text(text: &str, said: &str) -> Option<(u32, u32)> {
    let quoted = serde_json::to_string(said).ok()?;
    let at = text.find(quoted.trim_end_matches('"'))?;
    let before = text.get(..at)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some((narrow(line), narrow(column)))
}
