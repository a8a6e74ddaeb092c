//! A log that cannot be written: while that lasts, prompts are refused with the reason, and whether it still lasts is tried
//! after 1, 2, 4 ... 30 s.

use alloc::string::{String, ToString};

use crate::protocol::{Refusal, RefusalKind};
use crate::time::Timestamp;

/// How long the log is left alone after the first failure, in milliseconds; it doubles with each further one.
const FIRST: u64 = 1_000;

/// How long it is left alone at the most, in milliseconds.
const LONGEST: u64 = 30_000;

/// Whether the log can be written, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outage(Option<Since>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Since {
    message: String,
    wait: u64,
    retry: Timestamp,
}

/// What is to be done with something that would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Take it: the log can be written.
    Open,
    /// See first whether the log can be written again.
    Try,
    /// Refuse it.
    Refuse(Refusal),
}

impl Outage {
    /// The log could not be written, and why.
    pub fn failed(&mut self, now: Timestamp, message: &str) {
        let wait = self.0.as_ref().map_or(FIRST, |since| since.wait.saturating_mul(2).min(LONGEST));
        self.0 = Some(Since { message: message.to_string(), wait, retry: now.plus(wait) });
    }

    /// The log can be written.
    pub fn over(&mut self) {
        self.0 = None;
    }

    /// Whether something that would be written can be taken now.
    pub fn access(&self, now: Timestamp) -> Access {
        match &self.0 {
            None => Access::Open,
            Some(since) if now < since.retry => {
                Access::Refuse(Refusal::new(RefusalKind::Storage, since.message.clone()))
            }
            Some(_) => Access::Try,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_log_that_stays_broken_is_tried_less_and_less_often() {
        let (mut outage, mut now) = (Outage::default(), at(0));
        assert_eq!(outage.access(now), Access::Open);
        for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            outage.failed(now, "the disk is full");
            let refusal = Refusal::new(RefusalKind::Storage, "the disk is full");
            assert_eq!(outage.access(now.plus(wait - 1)), Access::Refuse(refusal));
            now = now.plus(wait);
            assert_eq!(outage.access(now), Access::Try);
        }
    }

    #[test]
    fn once_it_is_over_the_next_one_begins_anew() {
        let mut outage = Outage::default();
        outage.failed(at(0), "a");
        outage.failed(at(1_000), "b");
        outage.over();
        assert_eq!(outage.access(at(1_001)), Access::Open);
        outage.failed(at(5_000), "c");
        assert_eq!(outage.access(at(6_000)), Access::Try);
    }
}
