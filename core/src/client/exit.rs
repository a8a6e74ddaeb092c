//! The exit code of a run: a function of how it ended, and of nothing else.

use crate::record::{Reason, RunStatus};

/// The exit code of a `hostler run` whose terminal says so.
pub fn exit_code(status: RunStatus, reason: Reason) -> u8 {
    match status {
        RunStatus::Ok => 0,
        RunStatus::Limit => 4,
        RunStatus::Denied => 5,
        RunStatus::Error => match reason {
            Reason::Usage | Reason::UnknownModel => 2,
            Reason::NoProvider | Reason::Credentials => 3,
            Reason::ServerLost => 6,
            _ => 1,
        },
        RunStatus::Cancelled => match reason {
            Reason::Sighup => 129,
            Reason::Sigint => 130,
            Reason::OutputClosed => 141,
            Reason::Sigterm => 143,
            _ => 7,
        },
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
