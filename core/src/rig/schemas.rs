//! What answers are worth where a schema is to be satisfied: a run that is complete has one that was found to satisfy it, no
//! other run has any, and a model is asked again a few times at most.

use std::collections::BTreeMap;

use hostler_core::ids::StepId;
use hostler_core::record::{Record, RunStatus};
use hostler_core::session::{Durable, Input, REPAIRS, Verdict};

/// What was found about a session's answers.
#[derive(Default)]
pub(crate) struct Schemas {
    /// Whether the answers of steps were found to satisfy the schema; what is found first counts.
    found: BTreeMap<StepId, bool>,
    refused: u32,
}

impl Schemas {
    /// Something is about to be handled.
    pub(crate) fn input(&mut self, input: &Input) {
        if let Input::Checked { step, verdict } = input {
            self.found.entry(*step).or_insert(*verdict == Verdict::Satisfied);
        }
    }

    /// Whether a record may follow.
    pub(crate) fn before(&mut self, durable: &Durable, record: &Record) {
        match record {
            Record::TurnStarted { .. } => self.refused = 0,
            Record::AnswerRefused { message, answer, .. } => {
                assert!(demands(durable), "an answer is refused and any would have done");
                assert!(*message > durable.last_message, "messages keep their order");
                let turn = durable.turn.as_ref().expect("a turn is under way");
                assert_eq!(turn.answer, *answer, "another answer is refused than was given");
                assert_ne!(self.found.get(&turn.step_id()), Some(&true), "an answer is refused that will do");
                self.refused += 1;
                assert!(self.refused <= REPAIRS, "an answer is asked for again and again");
            }
            Record::RunFinished(finished) => {
                let Some(turn) = &durable.turn else { return };
                let first = turn.prompts.first().and_then(|sequence| durable.open.get(sequence));
                if first.is_none_or(|open| open.prompt.id != finished.prompt) || !demands(durable) {
                    return;
                }
                let complete = finished.status == RunStatus::Ok;
                assert_eq!(finished.answer.is_some(), complete, "an answer that nobody found to be good");
                let good = self.found.get(&turn.step_id()) == Some(&true);
                assert!(good || !complete, "a run is complete with an answer that nobody looked at");
            }
            _ => {}
        }
    }
}

/// Whether the answer of the turn that is under way must satisfy a schema.
fn demands(durable: &Durable) -> bool {
    let first = durable.turn.as_ref().and_then(|turn| turn.prompts.first());
    let open = first.and_then(|sequence| durable.open.get(sequence));
    open.is_some_and(|open| open.prompt.terms.answer_schema.is_some())
}
