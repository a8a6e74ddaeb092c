//! What becomes of a failed attempt: another one, or the end of the turn.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Settings;
use crate::content::{ErrorClass, ErrorInfo};
use crate::model::{CallError, CallErrorKind};
use crate::record::{Reason, TurnOutcome};

/// What becomes of a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another attempt after so many milliseconds.
    Attempt(u64),
    /// The turn ends so.
    End(TurnOutcome),
}

/// Decides about the how-manieth attempt (from 1) that failed so.
pub(super) fn decide(error: &CallError, attempt: u32, max_wait: u64, settings: &Settings) -> Next {
    match error.retry_after.filter(|_| is_passing(error)) {
        Some(wait) if wait > max_wait => Next::End(too_long(error, wait, max_wait)),
        _ if !is_passing(error) || attempt >= settings.attempts => {
            Next::End(TurnOutcome::Failed(explain(error, attempt)))
        }
        Some(wait) => Next::Attempt(wait),
        None => Next::Attempt(settings.backoff.saturating_mul(1 << (attempt - 1).min(16))),
    }
}

/// Whether the same request may succeed a little later.
fn is_passing(error: &CallError) -> bool {
    if is_quota(error) {
        return false;
    }
    if let Some(should) = error.should_retry {
        return should;
    }
    match &error.kind {
        CallErrorKind::Transport | CallErrorKind::Truncated | CallErrorKind::Timeout(_) => true,
        CallErrorKind::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500..=599),
        CallErrorKind::Stream { code } => is_passing_code(code),
        CallErrorKind::Protocol | CallErrorKind::Credentials => false,
    }
}

/// Whether the provider says that the conversation is too long for the model.
pub(super) fn is_too_long(error: &CallError) -> bool {
    let by_code = code(error).is_some_and(|code| TOO_LONG_CODES.iter().any(|part| code.contains(part)));
    let by_words = status(error) == Some(400) && says(error, &TOO_LONG);
    by_code || by_words || status(error) == Some(413)
}

/// Parts of the codes that providers have for a conversation that is too long.
const TOO_LONG_CODES: [&str; 2] = ["context_length", "context_window"];

/// What providers call it when a conversation is too long, if they have no code for it.
const TOO_LONG: [&str; 9] = [
    "context length",
    "context window",
    "context size",
    "context limit",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "too many input tokens",
];

/// Whether the provider says that the credentials are not valid, or not any more.
pub(super) fn refuses_credentials(error: &CallError) -> bool {
    // Google has another status for it, and some who answer with status 200 say it there.
    const CODES: [&str; 5] =
        ["API_KEY_INVALID", "UNAUTHENTICATED", "invalid_api_key", "authentication_error", "401"];
    status(error) == Some(401) || code(error).is_some_and(|code| CODES.contains(&code))
}

/// Whether the provider says that it does not know the seals that it was sent back.
pub(super) fn refuses_seals(error: &CallError) -> bool {
    let by_code = code(error).is_some_and(|code| SEAL_CODES.iter().any(|part| code.contains(part)));
    matches!(status(error), Some(400 | 422)) && (says(error, &SEALS) || by_code)
}

/// Parts of the codes that providers have for seals that they do not know.
const SEAL_CODES: [&str; 2] = ["signature", "encrypted_content"];

/// What providers call it when they do not know a seal.
const SEALS: [&str; 6] = [
    "signature",
    "encrypted content",
    "encrypted_content",
    "redacted_thinking",
    "blocks in the latest assistant message cannot be modified",
    "without its required following item",
];

/// What providers call it when nothing is left to pay with, if they have no code for it.
const PAID_UP: [&str; 1] = ["credit balance is too low"];

/// All that decides something about an error by being a part of what the provider says: whoever hides that has to leave
/// these standing.
pub(crate) fn telling() -> Vec<&'static str> {
    [&TOO_LONG_CODES[..], &TOO_LONG, &SEAL_CODES, &SEALS, &PAID_UP].concat()
}

fn says(error: &CallError, words: &[&str]) -> bool {
    let said = error.message.to_ascii_lowercase();
    words.iter().any(|words| said.contains(words))
}

fn is_passing_code(code: &str) -> bool {
    const PASSING: [&str; 11] = [
        "UNAVAILABLE",
        "INTERNAL",
        "RESOURCE_EXHAUSTED",
        "server_error",
        "internal_error",
        "internal_server_error",
        "overloaded",
        "overloaded_error",
        "api_error",
        "rate_limit_exceeded",
        "rate_limit_error",
    ];
    PASSING.contains(&code)
        || code.parse().is_ok_and(|status: u16| matches!(status, 408 | 409 | 429 | 500..=599))
}

fn is_quota(error: &CallError) -> bool {
    const QUOTA: [&str; 4] =
        ["insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "quota_exceeded"];
    let by_words = status(error) == Some(400) && says(error, &PAID_UP);
    by_words || code(error).is_some_and(|code| QUOTA.contains(&code)) || status(error) == Some(402)
}

fn code(error: &CallError) -> Option<&str> {
    match &error.kind {
        CallErrorKind::Status { code, .. } | CallErrorKind::Stream { code } => Some(code),
        CallErrorKind::Transport
        | CallErrorKind::Truncated
        | CallErrorKind::Protocol
        | CallErrorKind::Credentials
        | CallErrorKind::Timeout(_) => None,
    }
}

fn status(error: &CallError) -> Option<u16> {
    match &error.kind {
        CallErrorKind::Status { status, .. } => Some(*status),
        CallErrorKind::Stream { .. }
        | CallErrorKind::Transport
        | CallErrorKind::Truncated
        | CallErrorKind::Protocol
        | CallErrorKind::Credentials
        | CallErrorKind::Timeout(_) => None,
    }
}

fn too_long(error: &CallError, wait: u64, max_wait: u64) -> TurnOutcome {
    let message = format!(
        "The provider asks to wait {} before the next request, longer than the {} allowed ({}); try again later, or allow more with --max-wait.",
        span(if wait < 1000 { wait } else { wait.div_ceil(1000).saturating_mul(1000) }),
        span(max_wait),
        error.message.trim_end_matches('.')
    );
    TurnOutcome::Limited(Reason::MaxWait, message)
}

/// A time for people.
fn span(millis: u64) -> String {
    if millis < 1000 { format!("{millis} ms") } else { format!("{} s", millis / 1000) }
}

/// What went wrong, for people, and what to do about it.
fn explain(error: &CallError, attempt: u32) -> ErrorInfo {
    let said = Some(error.message.clone()).filter(|text| !text.is_empty());
    // Why there is no key is a sentence of our own.
    if let (CallErrorKind::Credentials, Some(why)) = (&error.kind, &said) {
        return ErrorInfo::new(ErrorClass::Credentials, why.clone());
    }
    let (class, what, advice) = describe(error);
    let status = status(error).map(|status| format!("status {status}"));
    let times = (attempt > 1).then(|| format!("{attempt} attempts"));
    let facts: Vec<_> = status.into_iter().chain(times).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    ErrorInfo { class, message: format!("{what}{facts}"), details: said, advice: Some(advice.to_string()) }
}

fn describe(error: &CallError) -> (ErrorClass, &'static str, &'static str) {
    match &error.kind {
        _ if is_too_long(error) => (
            ErrorClass::Context,
            "The conversation is too long for the model",
            "begin a new session, or take a model with a larger context window",
        ),
        _ if is_quota(error) => (
            ErrorClass::Quota,
            "The account's quota at the provider is used up",
            "see to the account, or take another provider",
        ),
        _ if refuses_credentials(error) => REFUSED_CREDENTIALS,
        CallErrorKind::Transport => (
            ErrorClass::Transport,
            "The provider could not be reached",
            "see whether the network works and the provider's base_url is right, as with `hostler doctor`",
        ),
        CallErrorKind::Truncated => (ErrorClass::Transport, "The provider's answer broke off", "try again"),
        CallErrorKind::Protocol => (
            ErrorClass::Provider,
            "The provider could not be spoken to or understood",
            "see whether its base_url, protocol and headers are right, as with `hostler config show`",
        ),
        CallErrorKind::Credentials => (
            ErrorClass::Credentials,
            "There are no usable credentials",
            "see where the key comes from with `hostler config show --origin`",
        ),
        CallErrorKind::Timeout(_) => {
            (ErrorClass::Timeout, "The provider was silent for too long", "try again later")
        }
        CallErrorKind::Stream { .. } => (
            ErrorClass::Provider,
            "The provider reported an error in its answer",
            "try again later, or take another model",
        ),
        CallErrorKind::Status { status, code } => describe_status(*status, code),
    }
}

fn describe_status(status: u16, code: &str) -> (ErrorClass, &'static str, &'static str) {
    match status {
        401 | 403 => REFUSED_CREDENTIALS,
        _ if status == 404 || code == "model_not_found" => (
            ErrorClass::UnknownModel,
            "The provider does not have this model",
            "check its name and the provider's base_url, or take another model",
        ),
        408 | 429 => (ErrorClass::RateLimit, "The provider is too busy for us", "try again later"),
        500..=599 => (ErrorClass::Provider, "The provider has trouble of its own", "try again later"),
        _ => (
            ErrorClass::Provider,
            "The provider rejected the request",
            "change what it names, or take another model",
        ),
    }
}

/// What is said of credentials that are refused, in whatever words a provider does it.
const REFUSED_CREDENTIALS: (ErrorClass, &str, &str) = (
    ErrorClass::Credentials,
    "The provider refused the credentials",
    "check the key, and see where it comes from with `hostler config show --origin`",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Deadline;

    fn status_error(status: u16, code: &str, retry_after: Option<u64>) -> CallError {
        let kind = CallErrorKind::Status { status, code: code.to_string() };
        CallError { kind, message: "said".to_string(), retry_after, should_retry: None }
    }

    fn check(error: &CallError, attempt: u32) -> Next {
        decide(error, attempt, 60_000, &Settings::default())
    }

    #[test]
    fn times_and_attempts_are_said_as_people_count_them() {
        assert_eq!([0, 999, 1_000, 2_500].map(span), ["0 ms", "999 ms", "1 s", "2 s"]);
        let said = |attempt| explain(&status_error(503, "", None), attempt).message;
        assert!(!said(1).contains("attempt") && said(1).contains("(status 503)"), "{}", said(1));
        assert!(said(2).contains("(status 503, 2 attempts)"), "{}", said(2));
    }

    #[test]
    fn passing_trouble_is_waited_out_with_growing_patience() {
        let error = status_error(503, "", None);
        let waits: Vec<_> = (1..=3).map(|attempt| check(&error, attempt)).collect();
        assert_eq!(waits, [Next::Attempt(5_000), Next::Attempt(10_000), Next::Attempt(20_000)]);
        assert!(matches!(check(&error, 4), Next::End(TurnOutcome::Failed(_))));
    }

    #[test]
    fn what_the_provider_asks_for_is_waited_exactly_or_not_at_all() {
        assert_eq!(check(&status_error(429, "", Some(1)), 3), Next::Attempt(1));
        assert_eq!(check(&status_error(429, "", Some(60_000)), 1), Next::Attempt(60_000));
        let beyond = check(&status_error(429, "", Some(60_001)), 1);
        assert!(matches!(beyond, Next::End(TurnOutcome::Limited(Reason::MaxWait, _))));
    }

    #[test]
    fn what_will_not_pass_is_final_at_once() {
        for (error, class) in [
            (status_error(401, "", None), ErrorClass::Credentials),
            (status_error(400, "", None), ErrorClass::Provider),
            (status_error(400, "context_length_exceeded", None), ErrorClass::Context),
            (status_error(404, "model_not_found", None), ErrorClass::UnknownModel),
            (status_error(429, "insufficient_quota", None), ErrorClass::Quota),
            (status_error(400, "API_KEY_INVALID", None), ErrorClass::Credentials),
        ] {
            let Next::End(TurnOutcome::Failed(info)) = check(&error, 1) else { panic!("{error:?}") };
            assert_eq!(info.class, class, "{error:?}");
        }
    }

    #[test]
    fn providers_have_many_words_for_a_conversation_that_is_too_long() {
        for (status, message, expected) in [
            (400, "prompt is too long: 210000 tokens > 200000 maximum", true),
            (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", true),
            (400, "This model's maximum context length is 128000 tokens.", true),
            (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", true),
            (400, "the request exceeds the available context size", true),
            (413, "Request Entity Too Large", true),
            (400, "the tool schema is wrong", false),
            (429, "too many tokens per minute in your context window", false),
            (500, "prompt is too long", false),
        ] {
            let error = CallError { message: message.to_string(), ..status_error(status, "", None) };
            assert_eq!(is_too_long(&error), expected, "{status} {message}");
        }
    }

    #[test]
    fn a_refused_seal_is_told_from_other_refusals() {
        for (status, code, message, expected) in [
            (400, "", "messages.1.content.0: Invalid `signature` in `thinking` block", true),
            (400, "invalid_encrypted_content", "It could not be verified", true),
            (400, "", "The encrypted content gAAA could not be verified", true),
            (400, "INVALID_ARGUMENT", "Thought signature is not valid", true),
            (
                400,
                "INVALID_ARGUMENT",
                "Function call is missing a thought_signature in functionCall parts.",
                true,
            ),
            (
                400,
                "",
                "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
                true,
            ),
            (400, "", "messages.1.content.0: Invalid `data` in `redacted_thinking` block", true),
            (
                400,
                "",
                "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
                true,
            ),
            (400, "", "max_tokens must be above thinking.budget_tokens", false),
            (400, "", "temperature is wrong", false),
            (500, "", "Invalid signature", false),
        ] {
            let error = CallError { message: message.to_string(), ..status_error(status, code, None) };
            assert_eq!(refuses_seals(&error), expected, "{status} {code} {message}");
        }
    }

    #[test]
    fn what_is_refused_with_success_is_refused_all_the_same() {
        let told = |code: &str, message: &str| {
            let kind = CallErrorKind::Stream { code: code.to_string() };
            let error =
                CallError { kind, message: message.to_string(), retry_after: None, should_retry: None };
            match check(&error, 1) {
                Next::End(TurnOutcome::Failed(info)) => Some(info.class),
                Next::End(_) | Next::Attempt(_) => None,
            }
        };
        assert_eq!(told("invalid_api_key", "No."), Some(ErrorClass::Credentials));
        assert_eq!(told("", "no such model"), Some(ErrorClass::Provider));
        assert_eq!(told("429", "Slow down."), None);
        let balance = CallError {
            message: "Your credit balance is too low.".to_string(),
            ..status_error(400, "", None)
        };
        assert!(is_quota(&balance));
    }

    #[test]
    fn every_kind_of_timeout_is_passing() {
        for deadline in [Deadline::Connect, Deadline::FirstEvent, Deadline::Idle] {
            let kind = CallErrorKind::Timeout(deadline);
            let error = CallError { kind, message: String::new(), retry_after: None, should_retry: None };
            assert_eq!(check(&error, 1), Next::Attempt(5_000));
        }
    }
}
