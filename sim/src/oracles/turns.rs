//! A session has at most one turn at a time, a turn begins only after the one before has ended with all of its runs, and
//! an ended turn says nothing more.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, SessionId, TurnId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    turn: Option<TurnId>,
    /// The prompts of the last turn that have not ended.
    prompts: Vec<PromptId>,
    step: bool,
}

/// The turn of each session.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(BTreeMap<SessionId, Session>);

impl Turns {
    fn record(&mut self, id: &SessionId, record: &Record) -> Result<(), String> {
        let session = self.0.entry(id.clone()).or_default();
        match record {
            Record::TurnStarted { turn, prompt, .. } => {
                if session.turn.is_some() || !session.prompts.is_empty() {
                    return Err(format!("{turn} begins while {:?} has {:?}", session.turn, session.prompts));
                }
                session.turn = Some(*turn);
                session.prompts.push(prompt.clone());
            }
            // A summary may belong to no run.
            Record::SummaryStarted { turn, .. } => {
                if session.turn.is_some() {
                    return Err(format!("{turn} begins while {:?} lasts", session.turn));
                }
                session.turn = Some(*turn);
            }
            Record::TurnContinued { turn, .. } => {
                if session.turn.is_some() || session.prompts.is_empty() {
                    return Err(format!("{turn} goes on with no run, or while {:?} lasts", session.turn));
                }
                session.turn = Some(*turn);
            }
            Record::PromptFolded { prompt, turn, .. } => {
                if session.turn != Some(*turn) || session.step {
                    return Err(format!("{prompt} joins {turn} in the middle of a step or after its end"));
                }
                session.prompts.push(prompt.clone());
            }
            Record::StepStarted { step, .. } => {
                if session.turn != Some(step.turn) || session.step {
                    return Err(format!("step {step} begins outside of its turn or inside another step"));
                }
                session.step = true;
            }
            Record::StepFinished { step, .. } => {
                if session.turn != Some(step.turn) || !session.step {
                    return Err(format!("step {step} ends and is not under way"));
                }
                session.step = false;
            }
            Record::TurnFinished { turn, .. } => {
                if session.turn != Some(*turn) || session.step {
                    return Err(format!("{turn} ends while {:?} is under way", session.turn));
                }
                session.turn = None;
            }
            Record::RunFinished(finished) => {
                let ours = session.prompts.contains(&finished.prompt);
                if ours && session.turn.is_some() {
                    return Err(format!("{} ends before its turn", finished.run));
                }
                session.prompts.retain(|prompt| *prompt != finished.prompt);
            }
            record if of_step(record) && !session.step => {
                return Err(format!("{} outside of any step", record.kind()));
            }
            _ => {}
        }
        Ok(())
    }
}

fn of_step(record: &Record) -> bool {
    matches!(
        record,
        Record::AttemptStarted { .. }
            | Record::TextAppended { .. }
            | Record::ReasoningAppended { .. }
            | Record::AttemptFailed { .. }
            | Record::MessageFinished { .. }
            | Record::PermissionDecided { .. }
            | Record::ToolCallStarted { .. }
            | Record::ToolOutputAppended { .. }
            | Record::ToolCallFinished { .. }
    )
}

impl Oracle for Turns {
    fn name(&self) -> &'static str {
        "one turn"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { entry, .. } = seen else { return Ok(()) };
        self.record(&entry.session, &entry.record).map_err(|what| format!("{}: {what}", entry.session))
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
        accepted, attempt, ended, finished, joined, shown, started, step, tool_started,
    };
    use super::*;

    fn summary(turn: u32) -> Record {
        Record::SummaryStarted { turn: TurnId(turn), budget: 1 }
    }

    fn continued(turn: u32) -> Record {
        let (prompt, run) = (PromptId::new("a"), hostler_core::ids::RunId::new("a"));
        let message = hostler_core::ids::MessageId(99);
        let text = String::new();
        Record::TurnContinued { turn: TurnId(turn), run, prompt, message, text, crowded: false }
    }

    fn step_of(turn: u32) -> Record {
        let mut record = step(1);
        if let Record::StepStarted { step, .. } = &mut record {
            step.turn = TurnId(turn);
        }
        record
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Turns::default(), log, &[])
    }

    #[test]
    fn one_turn_after_the_other_is_fine() {
        let log = [accepted(1, "a"), started(1, "a"), ended(1), finished("a"), started(2, "b")];
        assert_eq!(check(&log), Ok(()));
    }

    #[test]
    fn whatever_overlaps_is_noticed() {
        assert!(check(&[started(1, "a"), started(2, "b")]).is_err());
        assert!(check(&[started(1, "a"), ended(1), started(2, "b")]).is_err());
        assert!(check(&[started(1, "a"), finished("a")]).is_err());
        assert!(check(&[started(1, "a"), step(1), joined("b", 1)]).is_err());
        assert!(check(&[started(1, "a"), step(1), ended(1)]).is_err());
        assert!(check(&[started(1, "a"), attempt(1)]).is_err());
        assert!(check(&[started(1, "a"), ended(1), tool_started()]).is_err());
        assert!(check(&[started(1, "a"), summary(2)]).is_err());
        assert!(check(&[started(1, "a"), ended(1), finished("a"), continued(2)]).is_err());
        assert_eq!(check(&[started(1, "a"), ended(1), finished("a"), summary(2)]), Ok(()));
        assert_eq!(check(&[started(1, "a"), ended(1), summary(2), step_of(2)]), Ok(()));
    }
}
