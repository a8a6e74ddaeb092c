//! Whatever a session's history is, Google accepts what becomes of it.

use proptest::prelude::*;
use serde_json::Value;

use super::body;
use crate::provider::fixture::histories;
use crate::provider::wire::Protocol;

/// The seals that answers are given here; the last two are none of Google's.
const SEALS: &[&str] = &[
    r#""sig""#,
    r#"{"thoughtSignature":"sig"}"#,
    r#"{"thought":true,"thoughtSignature":"sig"}"#,
    r#"{"text":"","thoughtSignature":"sig"}"#,
    r#"{"type":"redacted_thinking","data":"x"}"#,
    "null",
];

/// A body has no seals but those that are Google's.
fn own_seals(body: &Value) -> bool {
    let contents = body["contents"].as_array().into_iter().flatten();
    let mut parts = contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let own = |seal: &Value| seal.is_null() || seal == "sig" || seal == "skip_thought_signature_validator";
    parts.all(|part| own(&part["thoughtSignature"]))
}

proptest! {
    #[test]
    fn every_history_becomes_a_legal_request(request in histories::requests(SEALS)) {
        let text = body(&request);
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        prop_assert_eq!(Protocol::Gemini.check(&text), Ok(()), "{}", text);
        prop_assert!(own_seals(&value), "{}", text);
        prop_assert_eq!(&text, &body(&request));
    }
}
