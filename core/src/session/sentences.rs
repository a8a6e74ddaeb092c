//! How runs end, in the words that people read: every way of it, looked at one by one. A variant that is added does not
//! compile until it stands here.

use alloc::string::{String, ToString};

use super::Settings;
use super::retry::{Next, decide};
use super::settle::terminal;
use crate::content::ErrorInfo;
use crate::model::{CallError, CallErrorKind};
use crate::record::{Reason, TurnOutcome};
use crate::time::Deadline;

/// What a run says that ends with an attempt that failed so for the last time.
fn said(kind: CallErrorKind) -> String {
    let error = CallError { kind, message: "It said so.".to_string(), retry_after: None, should_retry: None };
    match decide(&error, 4, 60_000, &Settings::default()) {
        Next::End(outcome) => terminal(&outcome).2,
        Next::Attempt(_) => panic!("{error:?} is tried again"),
    }
}

/// The kinds of failure, each leading to the next.
fn next(kind: Option<&CallErrorKind>) -> Option<CallErrorKind> {
    Some(match kind {
        None => CallErrorKind::Transport,
        Some(CallErrorKind::Transport) => CallErrorKind::Truncated,
        Some(CallErrorKind::Truncated) => CallErrorKind::Stream { code: "overloaded".to_string() },
        Some(CallErrorKind::Stream { .. }) => CallErrorKind::Protocol,
        Some(CallErrorKind::Protocol) => CallErrorKind::Credentials,
        Some(CallErrorKind::Credentials) => CallErrorKind::Timeout(Deadline::FirstEvent),
        Some(CallErrorKind::Timeout(_)) => CallErrorKind::Status { status: 400, code: String::new() },
        Some(CallErrorKind::Status { status, .. }) => {
            let known = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 529];
            let place = known.iter().position(|one| one == status)?;
            CallErrorKind::Status { status: *known.get(place + 1)?, code: String::new() }
        }
    })
}

#[test]
fn every_failure_of_an_attempt_says_what_happened_and_what_to_do() {
    let mut kind = next(None);
    let mut all = String::new();
    while let Some(one) = kind {
        kind = next(Some(&one));
        all += &said(one);
        all.push('\n');
    }
    let expected = "\
The provider could not be reached (4 attempts): It said so; see whether the network works and the provider's base_url is right, as with `hostler doctor`.
The provider's answer broke off (4 attempts): It said so; try again.
The provider reported an error in its answer (4 attempts): It said so; try again later, or take another model.
The provider could not be spoken to or understood (4 attempts): It said so; see whether its base_url, protocol and headers are right, as with `hostler config show`.
It said so.
The provider was silent for too long (4 attempts): It said so; try again later.
The provider rejected the request (status 400, 4 attempts): It said so; change what it names, or take another model.
The provider refused the credentials (status 401, 4 attempts): It said so; check the key, and see where it comes from with `hostler config show --origin`.
The account's quota at the provider is used up (status 402, 4 attempts): It said so; see to the account, or take another provider.
The provider refused the credentials (status 403, 4 attempts): It said so; check the key, and see where it comes from with `hostler config show --origin`.
The provider does not have this model (status 404, 4 attempts): It said so; check its name and the provider's base_url, or take another model.
The provider is too busy for us (status 408, 4 attempts): It said so; try again later.
The conversation is too long for the model (status 413, 4 attempts): It said so; begin a new session, or take a model with a larger context window.
The provider rejected the request (status 422, 4 attempts): It said so; change what it names, or take another model.
The provider is too busy for us (status 429, 4 attempts): It said so; try again later.
The provider has trouble of its own (status 500, 4 attempts): It said so; try again later.
The provider has trouble of its own (status 529, 4 attempts): It said so; try again later.
";
    assert_eq!(all, expected);
}

#[test]
fn every_other_end_says_so_too() {
    let outcomes = [
        TurnOutcome::Completed,
        TurnOutcome::Continued,
        TurnOutcome::Cancelled(Reason::User),
        TurnOutcome::Cancelled(Reason::Timeout),
        TurnOutcome::Cancelled(Reason::Storage),
        TurnOutcome::Interrupted,
        TurnOutcome::Limited(Reason::MaxSteps, "A limit; allow more.".to_string()),
        TurnOutcome::Denied,
        TurnOutcome::DeniedByPerson,
        TurnOutcome::Refused,
        TurnOutcome::Failed(ErrorInfo::new(crate::content::ErrorClass::Internal, "It failed; try again.")),
    ];
    for outcome in outcomes {
        let expected = match &outcome {
            TurnOutcome::Completed | TurnOutcome::Continued => "",
            TurnOutcome::Cancelled(Reason::Timeout) => {
                "The run took as long as it may; allow more with --timeout."
            }
            TurnOutcome::Cancelled(Reason::Storage) => {
                "What the run had to say could not be written, so it was cancelled; see whether there is room where it goes."
            }
            TurnOutcome::Cancelled(_) => "The run was cancelled.",
            TurnOutcome::Interrupted => {
                "The program stopped during the run, and what its tools had done is not undone; look at that before you go on."
            }
            TurnOutcome::Limited(_, text) => text,
            TurnOutcome::Denied => {
                "Every tool call of the last three steps was denied; allow what the task needs (--allow, --yolo), or change the rules that forbid it."
            }
            TurnOutcome::DeniedByPerson => {
                "A tool call was denied, which ended the turn; say what should be done instead."
            }
            TurnOutcome::Refused => "The provider withheld the answer; word the request differently.",
            TurnOutcome::Failed(error) => &error.message,
        };
        assert_eq!(terminal(&outcome).2, expected, "{outcome:?}");
    }
}
