//! Whatever a session's history is, Anthropic accepts what becomes of it.

use proptest::prelude::*;
use serde_json::Value;

use super::body;
use crate::provider::fixture::histories;
use crate::provider::wire::Protocol;

/// The seals that answers are given here; the last two are none of Anthropic's.
const SEALS: &[&str] = &[r#""sig""#, r#"{"type":"redacted_thinking","data":"x"}"#, "7", "null"];

/// A body has no seals but those that are Anthropic's.
fn own_seals(body: &Value) -> bool {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.flat_map(|message| message["content"].as_array().into_iter().flatten()).all(|block| {
        match block["type"].as_str().unwrap_or_default() {
            "thinking" => block["signature"] == "sig",
            "redacted_thinking" => block["data"] == "x",
            _ => true,
        }
    })
}

proptest! {
    #[test]
    fn every_history_becomes_a_legal_request(request in histories::requests(SEALS)) {
        let text = body(&request);
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        prop_assert_eq!(Protocol::Messages.check(&text), Ok(()), "{}", text);
        prop_assert!(own_seals(&value), "{}", text);
        prop_assert!(text.matches("\"cache_control\"").count() <= 4, "{}", text);
        prop_assert_eq!(&text, &body(&request));
    }
}
