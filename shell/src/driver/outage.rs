//! A log that cannot be written. While that lasts, prompts are refused with the reason; whether it still lasts is tried
//! after 1, 2, 4 ... 30 s.

use hostler_core::protocol::{Refusal, RefusalKind};
use hostler_core::time::Timestamp;

use super::Driver;

const FIRST: u64 = 1_000;
const LONGEST: u64 = 30_000;

/// Whether the log can be written, as far as is known.
#[derive(Debug, Default)]
pub(super) struct Outage(Option<Since>);

#[derive(Debug)]
struct Since {
    message: String,
    wait: u64,
    retry: Timestamp,
}

impl Outage {
    /// A commit has failed.
    pub(super) fn begin(&mut self, now: Timestamp, message: &str) {
        let wait = self.0.as_ref().map_or(FIRST, |since| (since.wait * 2).min(LONGEST));
        self.0 = Some(Since { message: message.to_owned(), wait, retry: now.plus(wait) });
    }
}

impl Driver {
    /// Why nothing can be accepted; none if it can be tried.
    pub(super) fn refusal(&mut self) -> Option<Refusal> {
        let now = self.setup.clock.now();
        let since = self.outage.0.as_ref()?;
        if now < since.retry {
            return Some(Refusal::new(RefusalKind::Storage, since.message.clone()));
        }
        match self.setup.store.probe() {
            Ok(()) => {
                self.outage.0 = None;
                None
            }
            Err(error) => {
                let message = error.to_string();
                self.outage.begin(now, &message);
                Some(Refusal::new(RefusalKind::Storage, message))
            }
        }
    }
}
