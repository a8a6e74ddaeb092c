//! Refusals that mean more than their code says: some providers have sentences and details where others have codes.
//!
//! Only what decides what becomes of a run is read: a full context, an empty account, a key that is none, how long to
//! wait, and seals that are not taken back.

use alloc::string::String;

use serde_json::Value;

use crate::model::{CallError, CallErrorKind};

/// Words that, all together, stand for a code. They are looked for in code and message.
const MEANINGS: &[(&[&str], &str)] = &[
    (&["prompt is too long"], "context_length_exceeded"),
    (&["exceed context limit"], "context_length_exceeded"),
    (&["exceed_context_size_error"], "context_length_exceeded"),
    (&["input token count", "exceeds the maximum"], "context_length_exceeded"),
    (&["credit balance is too low"], "insufficient_quota"),
];

/// Words that, all together, say that something sealed was not taken back: Anthropic's signatures, OpenAI's encrypted
/// thoughts, and Google's signatures.
const SEALS: &[&[&str]] = &[
    &["signature", "thinking"],
    &["thinking", "cannot be modified"],
    &["redacted_thinking", "invalid"],
    &["encrypted content"],
    &["encrypted_content"],
    &["required following item"],
    &["thought signature"],
];

/// The code that other providers have for what is meant.
pub(super) fn meaning(code: &str, message: &str) -> Option<&'static str> {
    let said = lower(code, message);
    MEANINGS.iter().find(|(words, _)| has_all(&said, words)).map(|(_, code)| *code)
}

/// Whether a provider refused what it had sealed itself. The same request without seals is none that it would refuse
/// for that: seals bind thoughts to a model, an account and all that stood before them, and any of these may change.
pub fn refuses_seals(error: &CallError) -> bool {
    let CallErrorKind::Status { status: 400, code } = &error.kind else { return false };
    let said = lower(code, &error.message);
    SEALS.iter().any(|words| has_all(&said, words))
}

fn lower(code: &str, message: &str) -> String {
    let mut said = alloc::format!("{code} {message}");
    said.make_ascii_lowercase();
    said
}

fn has_all(said: &str, words: &[&str]) -> bool {
    words.iter().all(|word| said.contains(word))
}

/// What Google tells beside an error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Details {
    /// How long to wait, in milliseconds.
    pub(super) wait: Option<u64>,
    /// Whether the key is none.
    pub(super) bad_key: bool,
}

impl Details {
    /// Reads an error body, which may be anything.
    pub(super) fn read(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let error = &body.get(0).unwrap_or(&body)["error"];
        let list = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            wait: list.iter().find_map(|detail| duration(detail["retryDelay"].as_str()?)),
            bad_key: list.iter().any(|detail| detail["reason"] == "API_KEY_INVALID"),
        }
    }
}

/// A duration such as `34.07s`, in milliseconds, rounded up.
fn duration(text: &str) -> Option<u64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let millis = seconds * 1000.0;
    (millis.is_finite() && millis >= 0.0).then(|| {
        let whole = millis as u64;
        whole.saturating_add(u64::from((whole as f64) < millis))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::refusal::error_from_response;

    fn refused(status: u16, body: &str) -> CallError {
        error_from_response(status, &[], body.as_bytes(), 0)
    }

    #[track_caller]
    fn check(body: &str, code: &str) {
        let error = refused(400, body);
        assert_eq!(error.kind, CallErrorKind::Status { status: 400, code: code.into() }, "{body}");
    }

    #[test]
    fn sentences_stand_for_codes() {
        check(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            "context_length_exceeded",
        );
        check(
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            "context_length_exceeded",
        );
        check(
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            "context_length_exceeded",
        );
        check(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
            "insufficient_quota",
        );
        check(r#"{"error":{"type":"invalid_request_error","message":"No."}}"#, "invalid_request_error");
    }

    #[test]
    fn what_google_tells_beside_an_error_is_read() {
        let key = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
            "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        assert_eq!(refused(400, key).kind, CallErrorKind::Credentials);
        let wait = |delay: &str| {
            let body = format!(r#"[{{"error":{{"code":429,"details":[{{}},{{"retryDelay":"{delay}"}}]}}}}]"#);
            refused(429, &body).retry_after
        };
        for (delay, millis) in [
            ("34s", Some(34_000)),
            ("0.0701s", Some(71)),
            ("", None),
            ("-1s", None),
            ("nans", None),
            ("5m", None),
        ] {
            assert_eq!(wait(delay), millis, "{delay}");
        }
        let error = error_from_response(
            429,
            &[("retry-after", "2")],
            br#"{"error":{"details":[{"retryDelay":"9s"}]}}"#,
            0,
        );
        assert_eq!(error.retry_after, Some(2000));
    }

    #[test]
    fn refused_seals_are_known() {
        for (status, message, expected) in [
            (400, "messages.1.content.0: Invalid `signature` in `thinking` block", true),
            (
                400,
                "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
                true,
            ),
            (400, "messages.1.content.0: Invalid `data` in `redacted_thinking` block", true),
            (400, "The encrypted content gAAA...ng== could not be verified.", true),
            (400, "Encrypted content is not supported with this model.", true),
            (400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", true),
            (400, "Corrupted thought signature.", true),
            (401, "Corrupted thought signature.", false),
            (400, "max_tokens must be above thinking.budget_tokens", false),
            (400, "", false),
        ] {
            let error = refused(status, message);
            assert_eq!(refuses_seals(&error), expected, "{status} {message}");
        }
    }
}
