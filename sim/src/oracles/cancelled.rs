//! After a cancel is in the log, no model call, no tool and no preparation starts for what it covers, no step or attempt
//! begins, and what it covers does not end well.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::record::{CancelScope, Record, RunStatus};
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// Prompts that have not ended: their sequence and their run.
    open: BTreeMap<PromptId, (u64, RunId)>,
    /// The run of the last turn and its prompts. A run may go on with another turn.
    turn: Option<(RunId, Vec<PromptId>)>,
    covered: BTreeSet<PromptId>,
}

/// What has been cancelled in each session.
#[derive(Clone, Debug, Default)]
pub(super) struct Cancelled(BTreeMap<SessionId, Session>);

impl Session {
    fn turn_is_covered(&self) -> bool {
        let first = self.turn.as_ref().and_then(|(_, prompts)| prompts.first());
        first.is_some_and(|prompt| self.covered.contains(prompt))
    }

    fn cancel(&mut self, scope: &CancelScope, watermark: u64) {
        let in_turn = |prompt: &PromptId| match &self.turn {
            Some((run, prompts)) if prompts.contains(prompt) => Some(run.clone()),
            _ => None,
        };
        let covered = self.open.iter().filter(|(prompt, (sequence, own))| match scope {
            CancelScope::Session => *sequence <= watermark,
            CancelScope::Run(run) => in_turn(prompt).unwrap_or_else(|| own.clone()) == *run,
        });
        let covered: Vec<_> = covered.map(|(prompt, _)| prompt.clone()).collect();
        self.covered.extend(covered);
    }

    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { sequence, prompt } => {
                self.open.insert(prompt.id.clone(), (*sequence, prompt.run_id()));
            }
            Record::TurnStarted { run, prompt, .. } => self.turn = Some((run.clone(), vec![prompt.clone()])),
            Record::PromptFolded { prompt, .. } => {
                if self.covered.contains(prompt) || self.turn_is_covered() {
                    return Err(format!("{prompt} joins a turn after its cancel"));
                }
                if let Some((_, prompts)) = self.turn.as_mut() {
                    prompts.push(prompt.clone());
                }
            }
            Record::CancelAccepted { scope, watermark, .. } => self.cancel(scope, *watermark),
            Record::StepStarted { .. } | Record::AttemptStarted { .. } | Record::ToolCallStarted { .. }
                if self.turn_is_covered() =>
            {
                return Err(format!("{} after the cancel of its turn", record.kind()));
            }
            Record::RunFinished(finished) => {
                self.open.remove(&finished.prompt);
                let covered = self.covered.remove(&finished.prompt);
                if covered
                    && !matches!(finished.status, RunStatus::Cancelled | RunStatus::Limit | RunStatus::Error)
                {
                    return Err(format!("{} was cancelled and ends {:?}", finished.run, finished.status));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&self, effect: &Ask) -> Result<(), String> {
        match effect {
            Ask::Prepare { prompt, .. } if self.covered.contains(prompt) => {
                Err(format!("{prompt} is prepared after its cancel"))
            }
            Ask::CallModel { .. } | Ask::InspectCall { .. } | Ask::RunTool { .. }
                if self.turn_is_covered() =>
            {
                Err(format!("{effect:?} starts after the cancel of its turn"))
            }
            _ => Ok(()),
        }
    }
}

impl Oracle for Cancelled {
    fn name(&self) -> &'static str {
        "nothing after its cancel"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                let session = self.0.entry(entry.session.clone()).or_default();
                session.record(&entry.record).map_err(|what| format!("{}: {what}", entry.session))
            }
            Seen::Start { effect: Effect::Session(Owned { session, effect }), .. } => {
                let known = self.0.get(session).map_or(Ok(()), |known| known.start(effect));
                known.map_err(|what| format!("{session}: {what}"))
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
    use super::super::fixture::{
        accepted, attempt, call_model, cancel, finished, joined, run_tool, shown, started, step,
    };
    use super::*;

    fn check(then: &[Record], starts: &[Effect]) -> Result<(), String> {
        let first = [accepted(1, "a"), started(1, "a"), cancel(1)];
        shown(&mut Cancelled::default(), &[&first[..], then].concat(), starts)
    }

    #[test]
    fn whatever_starts_after_its_cancel_is_noticed() {
        assert!(check(&[], &[call_model()]).is_err());
        assert!(check(&[], &[run_tool()]).is_err());
        assert!(check(&[step(1)], &[]).is_err());
        assert!(check(&[attempt(2)], &[]).is_err());
        assert!(check(&[accepted(2, "b"), joined("b", 1)], &[]).is_err());
        assert!(check(&[finished("a")], &[]).is_err(), "it ends as if nothing had happened");
    }

    #[test]
    fn what_was_accepted_later_is_not_touched() {
        let ended = [super::super::fixture::ended(1), accepted(2, "b"), started(2, "b")];
        assert_eq!(check(&ended, &[call_model()]), Ok(()));
        assert_eq!(check(&[&ended[..], &[finished("b")]].concat(), &[]), Ok(()));
    }
}
