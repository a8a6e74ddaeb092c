//! Input: a text, or a list of items; each by itself, and then all of them together.

use super::{items, order};
use crate::strict::{
    chat::shape::{filled, missing, non_empty, wrong_type},
    reject::Check,
};
use serde_json::{Map, Value};

/// Checks the input of a request to `model`.
pub(super) fn input(body: &Map<String, Value>, model: &str) -> Check {
    match body.get("input").ok_or_else(|| missing("input"))? {
        text @ Value::String(_) => non_empty(text, "input").map(drop),
        list @ Value::Array(_) => {
            let list = filled(list, "input")?;
            for (index, item) in list.iter().enumerate() {
                items::item(item, &format!("input[{index}]"), model)?;
            }
            order::order(list)
        }
        other => Err(wrong_type(other, "input", "one of a string or array of objects")),
    }
}
