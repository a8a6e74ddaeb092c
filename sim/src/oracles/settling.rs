//! A cancelled turn ends within a fixed bound: by the first batch that its process decides once the bound has passed.

use std::collections::BTreeMap;

use hostler_core::ids::SessionId;
use hostler_core::machine::Entry;
use hostler_core::record::{CancelScope, Record};
use hostler_core::session::Settings;
use hostler_core::time::Timestamp;

use super::{Oracle, Seen};

/// The turns that have been cancelled and have not ended, and until when that may last.
#[derive(Clone, Debug)]
pub(super) struct Settling {
    settle: u64,
    turns: BTreeMap<(usize, SessionId), Option<Timestamp>>,
    runs: BTreeMap<(usize, SessionId), hostler_core::ids::RunId>,
}

impl Settling {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settle: settings.settle, turns: BTreeMap::new(), runs: BTreeMap::new() }
    }

    fn decided(&mut self, process: usize, entry: &Entry) {
        let key = (process, entry.session.clone());
        match &entry.record {
            Record::TurnStarted { run, .. } => {
                self.runs.insert(key.clone(), run.clone());
                self.turns.insert(key, None);
            }
            Record::SummaryStarted { .. } | Record::TurnContinued { .. } => {
                self.turns.insert(key, None);
            }
            Record::TurnFinished { .. } => {
                self.turns.remove(&key);
            }
            Record::CancelAccepted { scope, .. } => {
                let covered = match scope {
                    CancelScope::Session => true,
                    CancelScope::Run(run) => self.runs.get(&key) == Some(run),
                };
                let until = entry.at.plus(self.settle);
                if let Some(turn) = self.turns.get_mut(&key).filter(|turn| covered && turn.is_none()) {
                    *turn = Some(until);
                }
            }
            _ => {}
        }
    }
}

impl Oracle for Settling {
    fn name(&self) -> &'static str {
        "bounded cancel"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Decided { process, at, entries, .. } => {
                entries.iter().for_each(|entry| self.decided(*process, entry));
                let late = self
                    .turns
                    .iter()
                    .find(|((owner, _), until)| owner == process && until.is_some_and(|until| until <= *at));
                match late {
                    Some(((_, session), until)) => Err(format!(
                        "{session}: the turn was cancelled and should have ended by {until:?}; it is {at:?}"
                    )),
                    None => Ok(()),
                }
            }
            Seen::Gone { process } => {
                self.turns.retain(|(owner, _), _| owner != process);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.turns.retain(|(_, id), _| id.root() != *session);
        self.runs.retain(|(_, id), _| id.root() != *session);
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
    use super::super::fixture::{cancel, ended, entry, machine, started};
    use super::*;

    fn check(log: &[Record], at: u64) -> Result<(), String> {
        let mut oracle = Settling::new(&Settings::default());
        let entries: Vec<_> = log.iter().cloned().map(entry).collect();
        let (at, machine) = (Timestamp::from_millis(at), machine());
        oracle.see(&Seen::Decided { process: 0, at, entries: &entries, machine: &machine })
    }

    #[test]
    fn a_cancelled_turn_that_goes_on_is_noticed() {
        let log = [started(1, "a"), cancel(1)];
        assert_eq!(check(&log, 3_000), Ok(()));
        assert!(check(&log, 3_001).is_err());
        assert_eq!(check(&[started(1, "a"), cancel(1), ended(1)], 9_000), Ok(()));
    }
}
