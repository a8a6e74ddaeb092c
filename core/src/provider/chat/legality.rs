//! Whatever a session's history is, servers of chat completions accept what becomes of it.

use proptest::prelude::*;

use super::body;
use crate::provider::fixture::histories;
use crate::provider::wire::Protocol;

proptest! {
    #[test]
    fn every_history_becomes_a_legal_request(request in histories::requests(&[r#""sig""#, "null"])) {
        let text = body(&request);
        prop_assert_eq!(Protocol::Chat.check(&text), Ok(()), "{}", text);
        prop_assert!(!text.contains("sig"), "{}", text);
        prop_assert_eq!(&text, &body(&request));
    }
}
