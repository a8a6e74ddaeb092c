//! An idle session has an empty queue: where no turn is under way, no prompt waits behind one. And a session in which
//! nothing is under way and nothing waits is let go.
//!
//! What a server finds in the queue of a process that is gone does not count, nor what waits behind that: it is prepared
//! once more.

use std::collections::BTreeSet;

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::record::Record;
use hostler_core::session::{Durable, Phase};
use hostler_core::time::Deadline;

use super::{Oracle, Seen};

/// The prompts that each living process has queued.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle(BTreeSet<(usize, PromptId)>);

impl Idle {
    fn check(&self, process: usize, durable: &Durable) -> Result<(), String> {
        let ours = |prompt: &PromptId| self.0.contains(&(process, prompt.clone()));
        let first = durable.open.values().next().map(|open| (&open.prompt.id, open.phase));
        match first {
            Some((prompt, Phase::Queued)) if durable.turn.is_none() && ours(prompt) => {
                Err(format!("{}: no turn is under way, and {prompt} waits for one", durable.id))
            }
            _ if durable.is_idle() => Err(format!("{}: nothing is under way, and it is kept", durable.id)),
            _ => Ok(()),
        }
    }

    fn decided(&mut self, process: usize, record: &Record) {
        if let Record::PromptQueued { prompt } = record {
            self.0.insert((process, prompt.clone()));
        }
    }
}

impl Oracle for Idle {
    fn name(&self) -> &'static str {
        "idle queue"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        if let Seen::Gone { process } = seen {
            self.0.retain(|(owner, _)| owner != process);
        }
        let Seen::Decided { process, entries, machine, .. } = seen else { return Ok(()) };
        entries.iter().for_each(|entry| self.decided(*process, &entry.record));
        let mut last = None;
        for entry in *entries {
            if last != Some(&entry.session)
                && let Some(durable) = machine.durable(&entry.session)
            {
                // A title is waited for, though not for long.
                let next = machine.deadline_of(&entry.session).map(|(_, what)| what);
                if next != Some(Deadline::Title) {
                    self.check(*process, durable)?;
                }
            }
            last = Some(&entry.session);
        }
        Ok(())
    }

    fn forget(&mut self, _session: &SessionId) {
        // Only what is under way is remembered, and nothing is.
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
    use hostler_core::time::Timestamp;

    use super::super::fixture::{accepted, ended, finished, queued, session, started};
    use super::*;

    fn after(log: &[Record]) -> Result<(), String> {
        let mut durable = Durable::new(session());
        let mut oracle = Idle::default();
        for record in log {
            durable.evolve(Timestamp::from_millis(1), record);
            oracle.decided(0, record);
        }
        oracle.check(0, &durable)
    }

    #[test]
    fn a_stranded_queue_and_an_idle_session_are_noticed() {
        let log = [accepted(1, "a"), accepted(2, "b"), started(1, "a"), queued("b"), ended(1), finished("a")];
        assert_eq!(after(&log[..4]), Ok(()));
        assert!(after(&log).is_err());
        assert!(after(&[accepted(1, "a"), started(1, "a"), ended(1), finished("a")]).is_err());
    }
}
