//! Prompts begin in the order in which they were accepted; those that join a turn do so in that order among themselves,
//! and a prompt with a run id of its own joins none. What is cancelled before it has begun waits for nobody.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::record::{CancelScope, Record};

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// Prompts that have not begun, with whether they may join, and their runs.
    waiting: BTreeMap<u64, (PromptId, bool, RunId)>,
}

/// The order of prompts in each session.
#[derive(Clone, Debug, Default)]
pub(super) struct Order(BTreeMap<SessionId, Session>);

impl Session {
    fn begin(&mut self, prompt: &PromptId, joins: bool) -> Result<(), String> {
        let found = self.waiting.iter().find(|(_, (id, ..))| id == prompt).map(|(sequence, _)| *sequence);
        let Some(sequence) = found else { return Ok(()) };
        let Some((_, folds, _)) = self.waiting.remove(&sequence) else { return Ok(()) };
        if joins && !folds {
            return Err(format!("{prompt} joins a turn and must not"));
        }
        // What joins may pass what waits for a turn of its own, and nothing else.
        let passed = self.waiting.range(..sequence).find(|(_, (_, may_join, _))| !joins || *may_join);
        match passed {
            Some((_, (first, ..))) => {
                Err(format!("{prompt} begins before {first}, which was accepted earlier"))
            }
            None => Ok(()),
        }
    }
}

impl Oracle for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { entry, .. } = seen else { return Ok(()) };
        let session = self.0.entry(entry.session.clone()).or_default();
        match &entry.record {
            Record::PromptAccepted { sequence, prompt } => {
                session.waiting.insert(*sequence, (prompt.id.clone(), prompt.folds(), prompt.run_id()));
                Ok(())
            }
            Record::TurnStarted { prompt, .. } => session.begin(prompt, false),
            Record::PromptFolded { prompt, .. } => session.begin(prompt, true),
            Record::PromptReturned { prompt, .. } => {
                session.waiting.retain(|_, (id, ..)| id != prompt);
                Ok(())
            }
            Record::CancelAccepted { scope, watermark, .. } => {
                session.waiting.retain(|sequence, (_, _, own)| match scope {
                    CancelScope::Session => sequence > watermark,
                    CancelScope::Run(run) => own != run,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{accepted, cancel, joined, returned, shown, started};
    use super::*;

    fn own(sequence: u64, id: &str) -> Record {
        let mut record = accepted(sequence, id);
        if let Record::PromptAccepted { prompt, .. } = &mut record {
            prompt.run = Some(RunId::new("r"));
        }
        record
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Order::default(), log, &[])
    }

    #[test]
    fn the_order_of_acceptance_is_kept() {
        let log = [accepted(1, "a"), accepted(2, "b"), started(1, "a"), started(2, "b")];
        assert_eq!(check(&log), Ok(()));
        assert_eq!(check(&[accepted(1, "a"), accepted(2, "b"), returned("a"), started(1, "b")]), Ok(()));
        assert_eq!(check(&[own(1, "a"), accepted(2, "b"), joined("b", 1)]), Ok(()));
        assert_eq!(check(&[accepted(1, "a"), accepted(2, "b"), cancel(2), started(1, "b")]), Ok(()));
    }

    #[test]
    fn overtaking_and_wrongful_joining_are_noticed() {
        assert!(check(&[accepted(1, "a"), accepted(2, "b"), started(1, "b")]).is_err());
        assert!(check(&[accepted(1, "a"), accepted(2, "b"), joined("b", 1)]).is_err());
        assert!(check(&[own(1, "a"), joined("a", 1)]).is_err());
        assert!(check(&[accepted(1, "a"), accepted(2, "b"), cancel(0), started(1, "b")]).is_err());
    }
}
