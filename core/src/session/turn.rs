//! Turns and steps: how one begins, what follows a step, and how all of it ends.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::durable::prompt_bytes;
use super::live::{Call, CallState, Renewal};
use super::stream::Assembly;
use super::{Decisions, Effect, Phase, Purpose, Session, cost, settle};
use crate::content::Finish;
use crate::ids::{AttemptId, MessageId, PromptId, StepId, TurnId};
use crate::model::{ModelRef, Preparation, PrepareError};
use crate::prompt::{Prompt, Terms};
use crate::quote::count;
use crate::record::{Reason, Record, RunFinished, Totals, TurnOutcome};
use crate::time::Timestamp;
use crate::tools;

impl Session {
    /// Begins a turn with that prompt. If its run could not be prepared, the turn fails at once. Whoever calls this
    /// sees to what begins after that.
    pub(super) fn start_turn(
        &mut self,
        now: Timestamp,
        prompt: &PromptId,
        prepared: Result<Preparation, PrepareError>,
        out: &mut Decisions,
    ) {
        let failed = match self.fitting(prompt, prepared) {
            Ok(preparation) => {
                if self.durable.preparation.as_ref() != Some(&preparation) {
                    self.record(now, Record::Prepared { preparation }, out);
                }
                None
            }
            Err(error) => Some(error),
        };
        self.open_turn(now, prompt, out);
        match failed {
            None => {
                self.ask_title(now, out);
                self.start_step(now, out);
            }
            Some(error) => self.close_turn(now, TurnOutcome::Failed(error), out),
        }
    }

    /// What was prepared, as far as it fits the prompt's terms.
    fn fitting(
        &self,
        prompt: &PromptId,
        prepared: Result<Preparation, PrepareError>,
    ) -> Result<Preparation, PrepareError> {
        let mut preparation = prepared?;
        if let Some((_, open)) = self.durable.find_open(prompt) {
            let terms = &open.prompt.terms;
            cost::check(terms, &preparation)?;
            preparation.answer_schema.clone_from(&terms.answer_schema);
            preparation.tools.retain(|tool| tools::is_offered(&tool.name, terms.permission));
        }
        Ok(preparation)
    }

    /// Records that a turn began and that its prompt became a message.
    pub(super) fn open_turn(&mut self, now: Timestamp, prompt: &PromptId, out: &mut Decisions) {
        let Some((_, open)) = self.durable.find_open(prompt) else { return };
        let run = open.prompt.run_id();
        let turn = TurnId(self.durable.last_turn.0 + 1);
        let message = self.next_message();
        self.record(now, Record::TurnStarted { turn, run, prompt: prompt.clone(), message }, out);
    }

    pub(super) fn next_message(&self) -> MessageId {
        MessageId(self.durable.last_message.0 + 1)
    }

    /// The terms of the prompt that the turn answers.
    pub(super) fn terms(&self) -> Option<&Terms> {
        let first = self.durable.turn.as_ref()?.prompts.first()?;
        Some(&self.durable.open.get(first)?.prompt.terms)
    }

    /// Begins the next step of the turn, or ends the turn if it has had as many as it may have.
    pub(super) fn start_step(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(turn) = &self.durable.turn else { return };
        let (turn, last, asked) = (turn.id, turn.step, turn.totals.steps);
        let most = self.terms().map_or(crate::prompt::MAX_STEPS, |terms| terms.max_steps);
        if asked >= most {
            let text = alloc::format!(
                "The run has had {}, as many as it may have; ask it to continue, or allow more with --max-steps.",
                count(most, "step")
            );
            return self.close_turn(now, TurnOutcome::Limited(Reason::MaxSteps, text), out);
        }
        if let Some(outcome) = self.over_cost(None) {
            return self.close_turn(now, outcome, out);
        }
        // What would join waits until what stands before it has been summed up.
        if self.is_crowded(self.joining_bytes()) && self.can_sum_up() {
            return self.sum_up(now, out);
        }
        self.fold(now, turn, out);
        self.ask(now, StepId { turn, step: last + 1 }, out);
    }

    /// Begins a step: the message that the answer will fill, and the first request for it.
    pub(super) fn ask(&mut self, now: Timestamp, step: StepId, out: &mut Decisions) {
        let Some(model) = self.model_ref() else { return };
        let message = self.next_message();
        self.record(now, Record::StepStarted { step, message, model: model.clone() }, out);
        self.start_attempt(now, AttemptId { step, attempt: 1 }, model, None, out);
    }

    fn model_ref(&self) -> Option<ModelRef> {
        Some(self.durable.preparation.as_ref()?.model.clone())
    }

    /// The queued prompts that may join the turn, in their order.
    fn joining(&self) -> impl Iterator<Item = &Prompt> {
        let joins = |open: &&super::OpenPrompt| open.phase == Phase::Queued && open.prompt.folds();
        self.durable.open.values().filter(joins).map(|open| &open.prompt)
    }

    fn joining_bytes(&self) -> u64 {
        self.joining().map(|prompt| prompt_bytes(&prompt.text, &prompt.attachments)).sum()
    }

    /// Lets them join.
    fn fold(&mut self, now: Timestamp, turn: TurnId, out: &mut Decisions) {
        let prompts: Vec<PromptId> = self.joining().map(|prompt| prompt.id.clone()).collect();
        for prompt in prompts {
            if let Some((sequence, _)) = self.durable.find_open(&prompt) {
                self.call_off(sequence, out);
            }
            let message = self.next_message();
            self.record(now, Record::PromptFolded { prompt, turn, message }, out);
        }
    }

    pub(super) fn start_attempt(
        &mut self,
        now: Timestamp,
        attempt: AttemptId,
        model: ModelRef,
        renewed: Option<Renewal>,
        out: &mut Decisions,
    ) {
        self.record(now, Record::AttemptStarted { attempt }, out);
        // Whoever connects gives up by itself; a server may then say nothing, not even that it has heard.
        let until = now.plus(self.settings.connect).plus(self.settings.first_event);
        self.live.call = Some(Call {
            attempt,
            renewed,
            state: CallState::Connecting { until },
            assembly: Assembly::default(),
            flush: None,
            flushed: None,
        });
        let renew = renewed.is_some_and(|renewal| renewal.attempt + 1 == attempt.attempt);
        out.effects.push(Effect::CallModel { attempt, model, renew });
    }

    /// Makes the next attempt of the step that is under way.
    pub(super) fn next_attempt(&mut self, now: Timestamp, failed: AttemptId, out: &mut Decisions) {
        let Some(model) = self.model_ref() else { return };
        let attempt = AttemptId { attempt: failed.attempt + 1, ..failed };
        let renewed = self.live.call.as_ref().and_then(|call| call.renewed);
        self.start_attempt(now, attempt, model, renewed, out);
    }

    /// Decides what follows once an answer is complete and all of its calls have ended.
    pub(super) fn finish_step(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let (finish, calls) = (answer.finish.clone().unwrap_or(Finish::Unknown), answer.calls().count());
        self.close_step(now, out);
        match self.after_step(&finish, calls) {
            Some(TurnOutcome::Completed) if self.answer_schema().is_some() => self.check_answer(now, out),
            Some(outcome) => self.complete_turn(now, outcome, out),
            None => self.start_step(now, out),
        }
        self.advance(now, out);
    }

    /// Ends the turn behind its last step, and makes room for what may follow if that is called for.
    pub(super) fn complete_turn(&mut self, now: Timestamp, outcome: TurnOutcome, out: &mut Decisions) {
        let ahead = self.sums_up_ahead(&outcome);
        self.close_turn(now, outcome, out);
        if ahead {
            self.sum_up_ahead(now, out);
        }
    }

    /// Records that the step is over and what it used.
    pub(super) fn close_step(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(turn) = self.durable.turn.as_ref().filter(|turn| turn.message.is_some()) else { return };
        let (step, usage) = (turn.step_id(), turn.usage);
        let known = turn.purpose == Purpose::Work && usage.context() > 0;
        let context = if known { usage.context() } else { self.tokens(0) };
        let cost = self.cost(&usage);
        self.record(now, Record::StepFinished { step, usage, cost, context, estimated: !known }, out);
    }

    /// How the turn ends after that step; none if it goes on.
    fn after_step(&self, finish: &Finish, calls: usize) -> Option<TurnOutcome> {
        let turn = self.durable.turn.as_ref()?;
        if let Some(reason) = turn.cancelling {
            return Some(TurnOutcome::Cancelled(reason));
        }
        if turn.stopped {
            return Some(TurnOutcome::DeniedByPerson);
        }
        match finish {
            Finish::MaxTokens => {
                let text = "The model's output limit cut the answer; ask it to continue.".to_string();
                return Some(TurnOutcome::Limited(Reason::OutputLimit, text));
            }
            Finish::ContentFilter => return Some(TurnOutcome::Refused),
            Finish::EndTurn | Finish::ToolUse | Finish::Unknown => {}
            Finish::Cancelled | Finish::Interrupted | Finish::Error(_) => {}
        }
        if calls == 0 {
            Some(TurnOutcome::Completed)
        } else if turn.denied_steps >= self.settings.denied_steps {
            Some(TurnOutcome::Denied)
        } else if turn.trail.is_circle() {
            let text = "The model repeats the same calls without getting anywhere; say what it should do differently.";
            Some(TurnOutcome::Limited(Reason::Repetition, text.to_string()))
        } else {
            None
        }
    }

    /// Ends the turn and every run in it, in one commit, and lets the next prompt begin.
    pub(super) fn finish_turn(&mut self, now: Timestamp, outcome: TurnOutcome, out: &mut Decisions) {
        self.close_turn(now, outcome, out);
        self.advance(now, out);
    }

    /// Ends the turn, but not the runs in it.
    pub(super) fn end_turn(&mut self, now: Timestamp, outcome: TurnOutcome, out: &mut Decisions) {
        self.settle(now, &outcome, out);
        let Some(turn) = self.durable.turn.as_ref() else { return };
        let (turn, used) = (turn.id, turn.totals);
        let totals = self.works_for_nobody().then(|| {
            let context = self.tokens(0);
            Totals { context, estimated: true, ..used }
        });
        self.record(now, Record::TurnFinished { turn, outcome, totals }, out);
    }

    /// Ends the turn and every run in it.
    pub(super) fn close_turn(&mut self, now: Timestamp, outcome: TurnOutcome, out: &mut Decisions) {
        self.end_turn(now, outcome.clone(), out);
        let Some(turn) = &self.durable.turn else { return };
        let (totals, prompts) = (turn.totals, turn.prompts.clone());
        let answer = self.answer_after(&outcome, turn.answer);
        for (nth, sequence) in prompts.into_iter().enumerate() {
            // What the turn used is counted once, with the prompt that began it.
            let totals = if nth == 0 { totals } else { Totals::default() };
            self.finish_run(now, sequence, &outcome, answer, totals, out);
        }
    }

    fn finish_run(
        &mut self,
        now: Timestamp,
        sequence: u64,
        outcome: &TurnOutcome,
        answer: Option<MessageId>,
        totals: Totals,
        out: &mut Decisions,
    ) {
        let Some(open) = self.durable.open.get(&sequence) else { return };
        let (status, reason, message) = settle::terminal(outcome);
        let finished = RunFinished {
            run: open.prompt.run_id(),
            prompt: open.prompt.id.clone(),
            status,
            reason,
            message,
            answer,
            totals,
            duration: now.since(open.accepted),
        };
        self.report(&finished, out);
        self.record(now, Record::RunFinished(finished), out);
    }

    /// Ends the run of a prompt that was never begun.
    pub(super) fn return_prompt(
        &mut self,
        now: Timestamp,
        sequence: u64,
        why: (crate::record::ReturnReason, Reason),
        out: &mut Decisions,
    ) {
        self.call_off(sequence, out);
        let Some(open) = self.durable.open.get(&sequence) else { return };
        let (prompt, client, text) =
            (open.prompt.id.clone(), open.prompt.client.clone(), open.prompt.text.clone());
        let finished = RunFinished {
            run: open.prompt.run_id(),
            prompt: prompt.clone(),
            status: crate::record::RunStatus::Cancelled,
            reason: why.1,
            message: String::from("The prompt was given back before it began."),
            answer: None,
            totals: Totals::default(),
            duration: now.since(open.accepted),
        };
        self.report(&finished, out);
        self.record(now, Record::PromptReturned { prompt, client, text, reason: why.0 }, out);
        self.record(now, Record::RunFinished(finished), out);
    }
}
