//! A turn that goes round in circles does not go on, and no other turn ends because of that. It does if of its last ten steps
//! with calls one was done more than five times, with the same calls and the same results; if there are not more than three
//! different ones among them; or if the same came of all of them.

use std::collections::{BTreeMap, VecDeque};

use hostler_core::content::Block;
use hostler_core::ids::{CallId, SessionId};
use hostler_core::record::{Reason, Record, TurnOutcome};

use super::{Oracle, Seen};

/// How many steps are looked at, how often one of them may occur, and how many different ones are too few.
const WINDOW: usize = 10;
const MOST: usize = 5;
const FEW: usize = 3;

/// A call: what is called, with what, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    tool: String,
    arguments: String,
    result: String,
}

#[derive(Clone, Debug, Default)]
struct Session {
    /// The calls of the step that is under way.
    step: Vec<(CallId, Call)>,
    /// The last steps of the turn.
    steps: VecDeque<Vec<Call>>,
}

/// What the last steps of each session did.
#[derive(Clone, Debug, Default)]
pub(super) struct Circles(BTreeMap<SessionId, Session>);

impl Session {
    /// Why the turn goes round in circles, if it does.
    fn circle(&self) -> Option<String> {
        if self.steps.len() < WINDOW {
            return None;
        }
        let times = |one: &Vec<Call>| self.steps.iter().filter(|other| *other == one).count();
        let new = |at: &usize| !self.steps.iter().take(*at).any(|before| *before == self.steps[*at]);
        let different = (0..self.steps.len()).filter(new).count();
        let came = |step: &Vec<Call>| -> Vec<_> {
            step.iter().map(|call| (call.tool.clone(), call.result.clone())).collect()
        };
        let same = self.steps.iter().all(|step| came(step) == came(&self.steps[0]));
        let often = self.steps.iter().find(|step| times(step) > MOST);
        match often {
            Some(step) => Some(format!("{step:?}")),
            None if different <= FEW => Some(format!("{different} different steps")),
            None => same.then(|| format!("always the same result: {:?}", came(&self.steps[0]))),
        }
    }

    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::TurnStarted { .. } | Record::TurnContinued { .. } | Record::SummaryStarted { .. } => {
                self.steps.clear();
            }
            Record::StepStarted { step, .. } => {
                if let Some(circle) = self.circle() {
                    return Err(format!("{step} begins, and the turn goes round in circles: {circle}"));
                }
                self.step.clear();
            }
            Record::MessageFinished { blocks, .. } => {
                let calls = blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => {
                        let (tool, arguments) = (call.name.clone(), call.input.clone());
                        Some((call.id, Call { tool, arguments, result: String::new() }))
                    }
                    Block::Text(_) | Block::Reasoning(_) => None,
                });
                self.step = calls.collect();
            }
            Record::ToolCallFinished { call, outcome, .. } => {
                if let Some((_, known)) = self.step.iter_mut().find(|(id, _)| id == call) {
                    known.result.push_str(&outcome.text);
                    outcome.media.iter().for_each(|shown| known.result.push_str(&shown.data));
                }
            }
            Record::StepFinished { .. } if !self.step.is_empty() => {
                if self.steps.len() == WINDOW {
                    self.steps.pop_front();
                }
                self.steps.push_back(self.step.drain(..).map(|(_, call)| call).collect());
            }
            Record::TurnFinished { outcome: TurnOutcome::Limited(Reason::Repetition, _), .. }
                if self.circle().is_none() =>
            {
                return Err(format!("a turn ends that goes round in no circle: {:?}", self.steps));
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

    /// Ten steps, of each of which the nth calls so and comes to that.
    fn circle(arguments: impl Fn(usize) -> usize, result: impl Fn(usize) -> usize) -> bool {
        let call = |nth| Call {
            tool: "ls".to_owned(),
            arguments: format!("{}", arguments(nth)),
            result: format!("{}", result(nth)),
        };
        let steps = (0..WINDOW).map(|nth| vec![call(nth)]).collect();
        Session { steps, ..Session::default() }.circle().is_some()
    }

    #[test]
    fn there_are_three_kinds_of_circles_and_no_others() {
        assert!(circle(|_| 0, |_| 0) && circle(|nth| nth % 3, |nth| nth % 3) && circle(|nth| nth, |_| 0));
        assert!(circle(|nth| if nth < 6 { 0 } else { nth }, |nth| nth / 6));
        assert!(!circle(|nth| nth % 4, |nth| nth % 2) && !circle(|_| 0, |nth| nth));
        assert!(!circle(|nth| if nth < 5 { 0 } else { nth }, |nth| nth / 5));
    }

    #[test]
    fn a_turn_that_gets_somewhere_does_not_end_because_of_circles() {
        let outcome = TurnOutcome::Limited(Reason::Repetition, String::new());
        let end = Record::TurnFinished { turn: STEP.turn, outcome, totals: None };
        assert_eq!(check(&[steps(10), vec![end.clone()]].concat()), Ok(()));
        assert!(check(&[steps(9), vec![end]].concat()).is_err());
    }
}
