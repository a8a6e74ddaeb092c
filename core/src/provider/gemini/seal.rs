//! What is kept of a signed part that is no call, so that it can go back as it came.

use alloc::borrow::Cow;
use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A signature, and which part it was on: a thought, a text that is told here, or else the text right before.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seal<'a> {
    /// Whether it was on the thought that the block has.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) thought: bool,
    /// The text that it was on, if no block could keep that: an empty one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Cow<'a, str>>,
    /// The signature, as it was written: the JSON text of a string.
    #[serde(borrow)]
    pub(super) thought_signature: &'a RawValue,
}

impl<'a> Seal<'a> {
    /// Its JSON text.
    pub(super) fn write(&self) -> String {
        // A struct of strings always has a JSON text; there is nothing here that could fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what was written so.
    pub(super) fn read(seal: &'a RawValue) -> Option<Self> {
        let seal: Self = serde_json::from_str(seal.get()).ok()?;
        is_signature(seal.thought_signature).then_some(seal)
    }
}

/// Whether that is a string with something in it.
pub(super) fn is_signature(value: &RawValue) -> bool {
    value.get().starts_with('"') && value.get() != "\"\""
}
