//! Every accepted prompt is exactly one of: being prepared, queued, in a turn, or ended. None is lost, doubled or merged
//! away.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Accepted,
    Queued,
    InTurn,
    Returned,
    Ended,
}

/// Where each prompt is, by its session and its id.
#[derive(Clone, Debug, Default)]
pub(super) struct Conserved(BTreeMap<(SessionId, PromptId), State>);

impl Conserved {
    fn go(
        &mut self,
        session: &SessionId,
        prompt: &PromptId,
        from: &[State],
        to: State,
    ) -> Result<(), String> {
        let Some(state) = self.0.get_mut(&(session.clone(), prompt.clone())) else {
            return Err(format!("{session}: {prompt} becomes {to:?} and was never accepted"));
        };
        if !from.contains(state) {
            return Err(format!("{session}: {prompt} becomes {to:?} and was {state:?}"));
        }
        *state = to;
        Ok(())
    }

    fn record(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        use State::{Accepted, Ended, InTurn, Queued, Returned};
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let before = self.0.insert((session.clone(), prompt.id.clone()), Accepted);
                before.map_or(Ok(()), |_| Err(format!("{session}: {} is accepted twice", prompt.id)))
            }
            Record::PromptQueued { prompt } => self.go(session, prompt, &[Accepted], Queued),
            Record::PromptFolded { prompt, .. } => self.go(session, prompt, &[Queued], InTurn),
            Record::TurnStarted { prompt, .. } => self.go(session, prompt, &[Accepted, Queued], InTurn),
            Record::PromptReturned { prompt, .. } => self.go(session, prompt, &[Accepted, Queued], Returned),
            Record::RunFinished(finished) => self.go(session, &finished.prompt, &[InTurn, Returned], Ended),
            _ => Ok(()),
        }
    }

    /// At the end every prompt has ended.
    fn all_ended(&self) -> Result<(), String> {
        match self.0.iter().find(|(_, state)| **state != State::Ended) {
            Some(((session, prompt), state)) => {
                Err(format!("{session}: nothing is under way, and {prompt} is still {state:?}"))
            }
            None => Ok(()),
        }
    }
}

impl Oracle for Conserved {
    fn name(&self) -> &'static str {
        "conservation"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(&entry.session, &entry.record),
            Seen::Quiet { tidy: true, .. } => self.all_ended(),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|(id, _), _| id.root() != *session);
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
    use super::super::fixture::{accepted, finished, joined, queued, quiet, returned, shown, started};
    use super::*;

    fn check(log: &[Record]) -> Result<(), String> {
        let mut oracle = Conserved::default();
        shown(&mut oracle, log, &[])?;
        quiet(&mut oracle, true)
    }

    #[test]
    fn a_whole_life_is_fine() {
        let life = [accepted(1, "a"), started(1, "a"), accepted(2, "b"), queued("b"), joined("b", 1)];
        let end = [finished("a"), finished("b"), accepted(3, "c"), returned("c"), finished("c")];
        assert_eq!(check(&[&life[..], &end[..]].concat()), Ok(()));
    }

    #[test]
    fn a_prompt_that_is_lost_doubled_or_invented_is_noticed() {
        assert!(check(&[accepted(1, "a")]).is_err());
        assert!(check(&[accepted(1, "a"), accepted(2, "a")]).is_err());
        assert!(check(&[started(1, "a")]).is_err());
        assert!(check(&[accepted(1, "a"), started(1, "a"), returned("a")]).is_err());
        assert!(check(&[accepted(1, "a"), finished("a")]).is_err());
    }
}
