//! Each run has exactly one terminal record, and nothing of it comes behind that.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

/// The runs that have been accepted, and those that have ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    runs: BTreeMap<(SessionId, PromptId), RunId>,
    ended: BTreeSet<(SessionId, RunId)>,
}

impl Ends {
    fn record(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let run = prompt.run_id();
                if self.runs.iter().any(|((other, _), known)| other == session && *known == run) {
                    return Err(format!("{session}: there are two runs {run}"));
                }
                self.runs.insert((session.clone(), prompt.id.clone()), run);
                Ok(())
            }
            Record::RunFinished(finished) => {
                let known = self.runs.get(&(session.clone(), finished.prompt.clone()));
                if known != Some(&finished.run) {
                    return Err(format!("{session}: {} ends as {}", finished.prompt, finished.run));
                }
                if !self.ended.insert((session.clone(), finished.run.clone())) {
                    return Err(format!("{session}: run {} ends twice", finished.run));
                }
                Ok(())
            }
            Record::TurnStarted { run, .. } if self.ended.contains(&(session.clone(), run.clone())) => {
                Err(format!("{session}: run {run} has ended and begins a turn"))
            }
            _ => Ok(()),
        }
    }
}

impl Oracle for Ends {
    fn name(&self) -> &'static str {
        "one end"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(&entry.session, &entry.record),
            Seen::Quiet { tidy: true, .. } if self.ended.len() < self.runs.len() => {
                Err(format!("{} runs were accepted, and {} have ended", self.runs.len(), self.ended.len()))
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.runs.retain(|(id, _), _| id.root() != *session);
        self.ended.retain(|(id, _)| id.root() != *session);
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
    use super::super::fixture::{accepted, finished, quiet, shown, started};
    use super::*;

    #[test]
    fn one_end_is_right_and_none_or_two_are_wrong() {
        let mut oracle = Ends::default();
        assert_eq!(shown(&mut oracle, &[accepted(1, "a"), started(1, "a")], &[]), Ok(()));
        assert!(quiet(&mut oracle.clone(), true).is_err());
        assert_eq!(shown(&mut oracle, &[finished("a")], &[]), Ok(()));
        assert_eq!(quiet(&mut oracle, true), Ok(()));
        assert!(shown(&mut oracle.clone(), &[started(2, "a")], &[]).is_err());
        assert!(shown(&mut oracle, &[finished("a")], &[]).is_err());
    }

    #[test]
    fn an_end_names_the_run_of_its_prompt() {
        let mut oracle = Ends::default();
        let mut wrong = finished("b");
        if let Record::RunFinished(finished) = &mut wrong {
            finished.prompt = PromptId::new("a");
        }
        assert!(shown(&mut oracle, &[accepted(1, "a"), wrong], &[]).is_err());
    }
}
