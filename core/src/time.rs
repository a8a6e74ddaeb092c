//! Time as data: what "now" is comes in with every input, and what to wait for goes out as a deadline.
//!
//! Nothing here reads a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch: the wall clock when the process started plus monotonic time since.
///
/// It never goes back, whatever is done to the wall clock, and time spent asleep does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The time that many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This time and `millis` more; the far end of time if that does not fit.
    pub const fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this time; 0 if `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// What a machine waits for: the reason that goes with the earliest time at which a tick would do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Deadline {
    /// Streamed text is due to be recorded.
    Flush,
    /// Preparing a run (model, credentials, context) has taken too long.
    Prepare,
    /// The provider has not accepted the connection or sent its headers' first sign of life.
    Connect,
    /// The provider has sent headers but no event.
    FirstEvent,
    /// The provider has sent no event for too long in mid-stream.
    Idle,
    /// The wait before the next attempt is over.
    Retry,
    /// A model has not thought of a title.
    Title,
    /// Whether an answer satisfies its run's schema has not been found out.
    Check,
    /// What a tool call would touch has not been found out.
    Inspect,
    /// A tool has not ended by its own limit: it is stopped, and then given up.
    Tool,
    /// A cancelled tool has not ended and is given up.
    Settle,
    /// A whole `hostler run` has used up its time.
    Run,
    /// After a signal, the process must end.
    Exit,
}

/// The earlier of two deadlines; the first on a tie.
pub fn earliest(
    a: Option<(Timestamp, Deadline)>,
    b: Option<(Timestamp, Deadline)>,
) -> Option<(Timestamp, Deadline)> {
    match (a, b) {
        (Some(a), Some(b)) if b.0 < a.0 => Some(b),
        (None, b) => b,
        (a, _) => a,
    }
}
