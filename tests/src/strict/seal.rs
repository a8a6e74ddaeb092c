//! Seals: reasoning that only the provider can read, and that has to come back as it was.
//!
//! A seal is made of the model and of what it seals, so that any server of a test can tell whether either was changed.
//! What a server issued it remembers as well, so that it can tell what is missing.

use super::{protocol::Protocol, record::Recorded};
use serde_json::Value;

/// What of an answer has to come back.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Issued {
    /// The protocol in which it was given.
    pub(super) protocol: Protocol,
    /// The model that answered.
    pub(super) model: String,
    /// The ids of its calls, by which an answer is known again; those without an id are left out.
    pub(super) calls: Vec<String>,
    /// What was sealed, in the form in which it has to come back, in order.
    pub(super) seals: Vec<Value>,
}

/// The seal of these parts: base64 text that is another one whenever a part is.
pub(super) fn seal(model: &str, parts: &[&str]) -> String {
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    for part in std::iter::once(&model).chain(parts) {
        // A byte that no text has keeps the parts apart.
        for byte in part.bytes().chain([0xff]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("U2VhbGVk{digest:016x}")
}

impl Issued {
    /// What an answer to `request` has sealed.
    pub(super) fn new(request: &Recorded, calls: Vec<String>, seals: Vec<Value>) -> Self {
        Self { protocol: request.protocol, model: request.model.clone(), calls, seals }
    }
}

/// The answers that `request`, in the same protocol and to the same model, can mean by a turn with these calls.
pub(super) fn of_calls<'a>(issued: &'a [Issued], request: &Recorded, calls: &[&str]) -> Vec<&'a Issued> {
    let meant = |one: &&Issued| {
        one.protocol == request.protocol
            && one.model == request.model
            && one.calls.iter().any(|id| calls.contains(&id.as_str()))
    };
    issued.iter().filter(meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let seals = [
            seal("m", &["a", "b"]),
            seal("n", &["a", "b"]),
            seal("m", &["ab", ""]),
            seal("m", &["", "ab"]),
            seal("m", &["a"]),
        ];
        assert_eq!(seals[0], seal("m", &["a", "b"]));
        for (at, one) in seals.iter().enumerate() {
            assert!(!seals[at + 1..].contains(one), "{one}");
            assert!(one.len() == 24 && one.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{one}");
        }
    }
}
