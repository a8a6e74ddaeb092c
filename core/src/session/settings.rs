//! How long things may take, and how much of them there may be. Plain data, so that a simulation can vary it.

use serde::{Deserialize, Serialize};

/// The limits that a session works under. All times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Whether a server runs the session: it then starts, after a restart, what it had accepted shortly before.
    pub serving: bool,
    /// How long streamed text is gathered before it is recorded.
    pub gather: u64,
    /// How long preparing a run may take.
    pub prepare: u64,
    /// How long it may take to connect to a provider. Whoever connects gives up then.
    pub connect: u64,
    /// How long a provider may take from there to accepting the request, and from there to its first event.
    pub first_event: u64,
    /// How long a provider may be silent between two events.
    pub idle: u64,
    /// How long is waited for what may come after the end of an answer, before the answer is taken for complete.
    #[serde(default = "ending")]
    pub ending: u64,
    /// How long a model may take to think of a title.
    pub title: u64,
    /// How long it may take to find out what a tool call would touch.
    pub inspect: u64,
    /// How long it may take to find out whether an answer satisfies its run's schema.
    #[serde(default = "check")]
    pub check: u64,
    /// How much longer than its own limit a tool may run before it is stopped from here.
    pub overtime: u64,
    /// How long a cancelled tool may take to end before it is given up.
    pub settle: u64,
    /// The wait before the second attempt; it doubles with each further one.
    pub backoff: u64,
    /// How many attempts a step may have.
    pub attempts: u32,
    /// How old a prompt may be for a server to start it after a restart.
    pub restart_age: u64,
    /// How many calls may run at the same time.
    pub parallel: usize,
    /// How many steps in a row may consist of nothing but denied calls.
    pub denied_steps: u32,
    /// How many bytes one answer may have. It is sent again with every later request, and providers refuse a message of
    /// more than 10 MiB, so that a longer one would be the end of its session.
    pub answer_bytes: usize,
}

/// What flight records from before there were schemas leave out.
fn check() -> u64 {
    30_000
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            serving: false,
            gather: 33,
            prepare: 30_000,
            connect: 10_000,
            first_event: 300_000,
            idle: 300_000,
            ending: ending(),
            title: 60_000,
            inspect: 30_000,
            check: check(),
            overtime: 30_000,
            settle: 3_000,
            backoff: 5_000,
            attempts: 4,
            restart_age: 600_000,
            parallel: 5,
            denied_steps: 3,
            answer_bytes: 8 << 20,
        }
    }
}

fn ending() -> u64 {
    5_000
}
