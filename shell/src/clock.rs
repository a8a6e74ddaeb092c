//! The one place that reads a clock for the machines.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostler_core::time::Timestamp;
use tokio::time::Instant;

/// Wall-clock time when it was started plus monotonic time since: it never goes back, and sleep does not count.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: Timestamp,
    started: Instant,
}

impl Clock {
    /// A clock that starts from the wall clock. Must be called inside a tokio runtime for simulated time to apply.
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let base = Timestamp::from_millis(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX));
        Self { base, started: Instant::now() }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.base.plus(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// The moment at which it will be that time.
    pub fn instant(&self, at: Timestamp) -> Instant {
        self.started + Duration::from_millis(at.since(self.base))
    }
}
