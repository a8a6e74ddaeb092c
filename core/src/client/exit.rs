//! The exit code of a run: a function of how it ended, and of nothing else.

use crate::record::{Reason, RunStatus};

/// The exit code of a `hostler run` whose terminal says so.
pub fn exit_code(status: RunStatus, reason: Reason) -> u8 {
    match status {
        RunStatus::Ok => 0,
        RunStatus::Limit => 4,
        RunStatus::Denied => 5,
        RunStatus::Error => error_code(reason),
        RunStatus::Cancelled => cancelled_code(reason),
    }
}

/// A run that failed. The reasons of other ends say no more than that.
fn error_code(reason: Reason) -> u8 {
    match reason {
        Reason::Usage | Reason::UnknownModel => 2,
        Reason::NoProvider | Reason::Credentials => 3,
        Reason::ServerLost => 6,
        Reason::Provider
        | Reason::Refusal
        | Reason::Storage
        | Reason::Internal
        | Reason::Interrupted
        | Reason::ToolError
        | Reason::Schema => 1,
        Reason::Completed
        | Reason::OutputLimit
        | Reason::MaxSteps
        | Reason::MaxCost
        | Reason::Timeout
        | Reason::MaxWait
        | Reason::Repetition
        | Reason::Context
        | Reason::Denied
        | Reason::Returned
        | Reason::Client
        | Reason::Shutdown
        | Reason::User
        | Reason::Sighup
        | Reason::Sigint
        | Reason::Sigterm
        | Reason::OutputClosed => 1,
    }
}

/// A run that somebody stopped: by a signal, or some other way.
fn cancelled_code(reason: Reason) -> u8 {
    match reason {
        Reason::Sighup => 129,
        Reason::Sigint => 130,
        Reason::OutputClosed => 141,
        Reason::Sigterm => 143,
        Reason::Client | Reason::Shutdown | Reason::User | Reason::Returned => 7,
        Reason::Completed
        | Reason::Provider
        | Reason::Refusal
        | Reason::Storage
        | Reason::Internal
        | Reason::Interrupted
        | Reason::ToolError
        | Reason::Schema
        | Reason::Usage
        | Reason::UnknownModel
        | Reason::NoProvider
        | Reason::Credentials
        | Reason::OutputLimit
        | Reason::MaxSteps
        | Reason::MaxCost
        | Reason::Timeout
        | Reason::MaxWait
        | Reason::Repetition
        | Reason::Context
        | Reason::Denied
        | Reason::ServerLost => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_follows_from_the_terminal() {
        for (status, reason, code) in [
            (RunStatus::Ok, Reason::Completed, 0),
            (RunStatus::Error, Reason::Provider, 1),
            (RunStatus::Error, Reason::Interrupted, 1),
            (RunStatus::Error, Reason::Usage, 2),
            (RunStatus::Error, Reason::UnknownModel, 2),
            (RunStatus::Error, Reason::NoProvider, 3),
            (RunStatus::Error, Reason::Credentials, 3),
            (RunStatus::Limit, Reason::Timeout, 4),
            (RunStatus::Denied, Reason::Denied, 5),
            (RunStatus::Error, Reason::ServerLost, 6),
            (RunStatus::Cancelled, Reason::Client, 7),
            (RunStatus::Cancelled, Reason::Sighup, 129),
            (RunStatus::Cancelled, Reason::Sigint, 130),
            (RunStatus::Cancelled, Reason::OutputClosed, 141),
            (RunStatus::Cancelled, Reason::Sigterm, 143),
        ] {
            assert_eq!(exit_code(status, reason), code, "{status:?} {reason:?}");
        }
    }
}
