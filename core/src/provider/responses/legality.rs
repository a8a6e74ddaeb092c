//! Whatever a session's history is, OpenAI accepts what becomes of it.

use proptest::prelude::*;
use serde_json::Value;

use super::body;
use crate::provider::fixture::histories;
use crate::provider::wire::Protocol;

/// The seals that answers are given here; the last two are none of OpenAI's.
const SEALS: &[&str] = &[r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#, r#""sig""#, "null"];

/// A body has no seals but those that are OpenAI's.
fn own_seals(body: &Value) -> bool {
    let mut items = body["input"].as_array().into_iter().flatten();
    items.all(|item| item["type"] != "reasoning" || item["encrypted_content"] == "x")
}

proptest! {
    #[test]
    fn every_history_becomes_a_legal_request(request in histories::requests(SEALS)) {
        let text = body(&request);
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        prop_assert_eq!(Protocol::Responses.check(&text), Ok(()), "{}", text);
        prop_assert!(own_seals(&value), "{}", text);
        prop_assert_eq!(&text, &body(&request));
    }
}
