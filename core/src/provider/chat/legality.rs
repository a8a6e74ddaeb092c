//! Whatever a session's history is, servers of chat completions accept what becomes of it.

use proptest::prelude::*;

use super::body;
use crate::provider::fixture::histories;
use crate::provider::wire::Protocol;

/// The seals that answers are given here; the first two are none that a server of chat completions has given.
const SEALS: &[&str] = &[
    r#""sig""#,
    "null",
    r#"{"reasoning_content":true}"#,
    r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#,
];

proptest! {
    #[test]
    fn every_history_becomes_a_legal_request(request in histories::requests(SEALS)) {
        let text = body(&request);
        prop_assert_eq!(Protocol::Chat.check(&text), Ok(()), "{}", text);
        prop_assert!(!text.contains("sig"), "{}", text);
        prop_assert_eq!(&text, &body(&request));
    }
}
