//! Whether a run's answer satisfies the schema that its prompt asked for, and what follows if it does not.
//!
//! Whoever has the schema's language looks at the answer; here is decided when that is asked, and what comes of it: the
//! model is told what is wrong and asked again, a few times at most. All of that is one run, and each time is a step of it
//! like any other.

use alloc::format;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use super::{Decisions, Effect, Session};
use crate::content::{ErrorClass, ErrorInfo};
use crate::ids::{MessageId, StepId};
use crate::record::{Record, TurnOutcome};
use crate::time::{Deadline, Timestamp};

/// How often a run is asked again for an answer that satisfies its schema.
pub const REPAIRS: u32 = 2;

/// What a look at an answer has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It satisfies the schema.
    Satisfied,
    /// It does not, and what is wrong with it, for the model and for people.
    Violated(String),
    /// It cannot be found out, and why, in one sentence.
    Undecided(String),
}

/// An answer that is being looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    /// The step that gave it.
    step: StepId,
    /// Until when that is waited for.
    until: Timestamp,
}

impl Session {
    /// The schema that the turn's answer must satisfy, as JSON text; none if any answer will do.
    pub(super) fn answer_schema(&self) -> Option<&str> {
        self.terms()?.answer_schema.as_deref()
    }

    /// The schema and the answer that is to be held against it; none if nobody waits for that.
    pub fn answer_to_check(&self) -> Option<(String, String)> {
        self.live.check.as_ref()?;
        let answer = self.durable.answer(self.durable.turn.as_ref()?.answer?)?;
        Some((self.answer_schema()?.to_string(), answer.text()))
    }

    /// What a turn that ended so has to show for its run: where there is a schema nothing but what satisfies it, which is
    /// what a turn that is complete has said last.
    pub(super) fn answer_after(&self, outcome: &TurnOutcome, said: Option<MessageId>) -> Option<MessageId> {
        said.filter(|_| self.answer_schema().is_none() || *outcome == TurnOutcome::Completed)
    }

    /// The turn is about to end with what it has said last: asks whether that will do.
    pub(super) fn check_answer(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(turn) = &self.durable.turn else { return };
        let step = turn.step_id();
        if turn.answer.is_none() {
            return self.refuse_answer(now, "There is no answer: the message has no text.".to_string(), out);
        }
        self.live.check = Some(Check { step, until: now.plus(self.settings.check) });
        out.effects.push(Effect::CheckAnswer { step });
    }

    /// It is found out whether an answer will do.
    pub(super) fn checked(&mut self, now: Timestamp, step: StepId, verdict: Verdict, out: &mut Decisions) {
        if self.live.check.as_ref().is_none_or(|check| check.step != step) {
            return;
        }
        self.live.check = None;
        match verdict {
            Verdict::Satisfied => self.complete_turn(now, TurnOutcome::Completed, out),
            Verdict::Violated(problem) => self.refuse_answer(now, problem, out),
            Verdict::Undecided(why) => self.close_turn(now, unsatisfied(&why), out),
        }
        self.advance(now, out);
    }

    fn refuse_answer(&mut self, now: Timestamp, problem: String, out: &mut Decisions) {
        let Some(turn) = &self.durable.turn else { return };
        if turn.repairs >= REPAIRS {
            let text = format!(
                "The answer does not satisfy the schema, though it was asked for {REPAIRS} times more; simplify the schema or \
                 choose another model. What was wrong at last: {problem}"
            );
            return self.close_turn(now, unsatisfied(&text), out);
        }
        let first = turn.prompts.first().and_then(|sequence| self.durable.open.get(sequence));
        let Some(prompt) = first.map(|open| open.prompt.id.clone()) else { return };
        let (turn, answer) = (turn.id, turn.answer);
        let (message, text) = (self.next_message(), request_again(&problem));
        self.record(now, Record::AnswerRefused { turn, answer, problem, prompt, message, text }, out);
        self.start_step(now, out);
    }

    pub(super) fn check_deadline(&self) -> Option<(Timestamp, Deadline)> {
        self.live.check.as_ref().map(|check| (check.until, Deadline::Check))
    }

    /// Waits no longer for what is not found out in time.
    pub(super) fn tick_check(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.live.check.as_ref().is_some_and(|check| check.until <= now) {
            self.abandon_check(out);
            let seconds = self.settings.check / 1000;
            let text = format!(
                "It could not be found out within {seconds} s whether the answer satisfies the schema; simplify the schema."
            );
            self.finish_turn(now, unsatisfied(&text), out);
        }
    }

    /// Nobody waits any more for what a look at the answer finds.
    pub(super) fn abandon_check(&mut self, out: &mut Decisions) {
        if let Some(Check { step, .. }) = self.live.check.take() {
            out.effects.push(Effect::CancelCheck { step });
        }
    }
}

fn unsatisfied(text: &str) -> TurnOutcome {
    TurnOutcome::Failed(ErrorInfo::new(ErrorClass::Schema, text))
}

/// What the model is told about an answer that will not do.
fn request_again(problem: &str) -> String {
    format!(
        "Your answer does not satisfy the JSON Schema that it must satisfy:\n\n{problem}\n\nAnswer again with one JSON value \
         that satisfies the schema and nothing else: no words before or after it, and no code fence."
    )
}
