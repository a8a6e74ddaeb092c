//! A turn that goes round in circles does not go on: among its last ten steps with calls, none has occurred more than five
//! times, with the same calls and the same results.

use std::collections::{BTreeMap, VecDeque};

use hostler_core::content::Block;
use hostler_core::ids::{CallId, SessionId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

/// How many steps are looked at, and how often one of them may occur.
const WINDOW: usize = 10;
const MOST: usize = 5;

#[derive(Clone, Debug, Default)]
struct Session {
    /// The calls of the step that is under way, with their results.
    step: Vec<(CallId, String)>,
    /// The last steps of the turn, in words.
    steps: VecDeque<String>,
}

/// What the last steps of each session did.
#[derive(Clone, Debug, Default)]
pub(super) struct Circles(BTreeMap<SessionId, Session>);

impl Session {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::TurnStarted { .. } | Record::TurnContinued { .. } | Record::SummaryStarted { .. } => {
                self.steps.clear();
            }
            Record::StepStarted { step, .. } => {
                let circle = self
                    .steps
                    .iter()
                    .find(|one| self.steps.iter().filter(|other| other == one).count() > MOST);
                if let Some(same) = circle.filter(|_| self.steps.len() == WINDOW) {
                    return Err(format!("{step} begins, and the turn goes round in circles: {same}"));
                }
                self.step.clear();
            }
            Record::MessageFinished { blocks, .. } => {
                let calls = blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => Some((call.id, format!("{} {:?}", call.name, call.input))),
                    Block::Text(_) | Block::Reasoning(_) => None,
                });
                self.step = calls.collect();
            }
            Record::ToolCallFinished { call, outcome, .. } => {
                if let Some((_, words)) = self.step.iter_mut().find(|(id, _)| id == call) {
                    words.push_str(&outcome.text);
                }
            }
            Record::StepFinished { .. } if !self.step.is_empty() => {
                let words: Vec<_> = self.step.drain(..).map(|(_, words)| words).collect();
                if self.steps.len() == WINDOW {
                    self.steps.pop_front();
                }
                self.steps.push_back(words.join("; "));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Oracle for Circles {
    fn name(&self) -> &'static str {
        "no circles"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { entry, .. } = seen else { return Ok(()) };
        let session = self.0.entry(entry.session.clone()).or_default();
        session.record(&entry.record).map_err(|what| format!("{}: {what}", entry.session))
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
    use hostler_core::content::Usage;

    use super::super::fixture::{STEP, answered, call, shown, started, step, tool_finished};
    use super::*;

    fn steps(count: u32) -> Vec<Record> {
        let over = Record::StepFinished {
            step: STEP,
            usage: Usage::default(),
            cost: None,
            context: 0,
            estimated: false,
        };
        let one = |nth| [step(nth), answered(vec![call()]), tool_finished(), over.clone()];
        (1..=count).flat_map(one).collect()
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Circles::default(), log, &[])
    }

    #[test]
    fn a_turn_that_repeats_itself_is_noticed_and_another_turn_begins_anew() {
        assert_eq!(check(&steps(10)), Ok(()));
        assert!(check(&steps(11)).is_err());
        assert_eq!(check(&[steps(10), vec![started(2, "b")], steps(10)].concat()), Ok(()));
    }
}
