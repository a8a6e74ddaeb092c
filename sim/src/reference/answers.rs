//! What the reference makes of a model's answer and of the tools that it calls.

use hostler_core::ids::{AttemptId, StepId};
use hostler_core::model::{CallError, CallErrorKind, FinishReason, ModelEvent};
use hostler_core::prompt::MAX_WAIT_HEADLESS;
use hostler_core::record::RunStatus;
use hostler_core::session::Verdict;
use hostler_core::time::Timestamp;

use super::Fate;
use super::story::{Doing, Story};
use super::tools::Call;
use crate::oracles::refused::refuses_key;

/// A piece of an answer.
#[derive(Clone, Debug)]
pub(super) struct Block {
    number: u32,
    pub(super) tool: Option<String>,
    thought: bool,
    sealed: bool,
    text: String,
}

/// How often a request for a summary may be refused.
const REFUSALS: u32 = 3;

/// How many summaries in a row may leave the conversation too long.
const CROWDED: u32 = 2;

impl Story {
    pub(super) fn model(
        &mut self,
        now: Timestamp,
        attempt: AttemptId,
        event: &ModelEvent,
        fates: &mut Vec<Fate>,
    ) {
        let (first, idle) = (now.plus(self.settings.first_event), now.plus(self.settings.idle));
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.attempt == attempt) else { return };
        let Doing::Asking { until, connected, bytes, blocks, done } = &mut turn.doing else { return };
        match event {
            ModelEvent::Connected if !*connected => (*connected, *until) = (true, first),
            ModelEvent::Connected => {}
            ModelEvent::Failed(error) => self.failed(now, error, fates),
            // It may never come to that end, and then what was said is all of it; or it goes on all the same.
            ModelEvent::Ending(reason) => {
                (*connected, *until, *done) = (true, now.plus(self.settings.ending), Some(*reason));
            }
            ModelEvent::Finished(reason) => self.answered(now, *reason, fates),
            said => {
                let more = take_in(blocks, said);
                if more > 0 {
                    (*connected, *until, *done) = (true, idle, None);
                }
                *bytes += more;
                if *bytes > self.settings.answer_bytes {
                    self.end(now, RunStatus::Error, fates);
                }
            }
        }
    }

    pub(super) fn failed(&mut self, now: Timestamp, error: &CallError, fates: &mut Vec<Fate>) {
        let too_much = match &error.kind {
            CallErrorKind::Status { code, status } => {
                code.starts_with("context") || *status == 413 || error.message.contains("too long")
            }
            _ => false,
        };
        if too_much && self.shorten(now) {
            return;
        }
        let renews = self.renews;
        let seals = std::mem::take(&mut self.read.seals);
        let Some(turn) = self.turn.as_mut() else { return };
        if seals {
            turn.doing = Doing::Waiting(now);
            return;
        }
        if renews && turn.renewed.is_none() && refuses_key(error) {
            // They begin anew: what is refused as too long from here on is counted from here on.
            turn.renewed = Some(turn.attempt.attempt - turn.summary.unwrap_or(0));
            turn.doing = Doing::Waiting(now);
            return;
        }
        let in_vain = turn.summary.unwrap_or(0) + turn.renewed.unwrap_or(0);
        let (tried, passes) = (turn.attempt.attempt.saturating_sub(in_vain).max(1), passes(&error.kind));
        let wait = error.retry_after.unwrap_or(self.settings.backoff << (tried - 1));
        let max_wait = turn.prompts.first().map_or(MAX_WAIT_HEADLESS, |prompt| prompt.terms.max_wait);
        let asks_too_much = passes && error.retry_after.is_some() && wait > max_wait;
        let again = passes && !asks_too_much && tried < self.settings.attempts;
        let status = if asks_too_much || (again && std::mem::take(&mut self.read.costly)) {
            RunStatus::Limit
        } else if again {
            turn.doing = Doing::Waiting(now.plus(wait));
            return;
        } else if too_much {
            RunStatus::Limit
        } else {
            RunStatus::Error
        };
        self.end(now, status, fates);
    }

    /// The conversation was too long. Returns whether something can be done about that.
    fn shorten(&mut self, now: Timestamp) -> bool {
        let (worth_it, spent) = (self.past.is_worth_a_summary(), self.read.spent);
        let Some(turn) = self.turn.as_mut() else { return false };
        match turn.summary.as_mut() {
            Some(refused) if *refused < REFUSALS && !spent => {
                *refused += 1;
                turn.doing = Doing::Waiting(now);
                true
            }
            None if worth_it => {
                self.next_turn(now, true);
                true
            }
            _ => false,
        }
    }

    pub(super) fn answered(&mut self, now: Timestamp, reason: FinishReason, fates: &mut Vec<Fate>) {
        let agent = self.is_agent;
        let Some(turn) = self.turn.as_mut() else { return };
        let Doing::Asking { blocks, .. } = &turn.doing else { return };
        let calls = blocks.iter().filter_map(|block| {
            block.tool.as_ref().map(|tool| (tool.clone(), Call::new(tool, &block.text, agent)))
        });
        let withheld = reason == FinishReason::ContentFilter;
        let sums_up = turn.summary.is_some();
        let without_calls = withheld || sums_up;
        let spoken =
            blocks.iter().any(|block| block.says_something() && !(without_calls && block.tool.is_some()));
        self.past.spoken |= spoken && !sums_up;
        if sums_up {
            let text: String = blocks
                .iter()
                .filter(|block| block.tool.is_none() && !block.thought)
                .map(|block| block.text.as_str())
                .collect();
            return self.summed_up(now, !text.trim().is_empty(), fates);
        }
        let calls = if withheld { Vec::new() } else { calls.collect() };
        let words = blocks.iter().filter(|block| block.tool.is_none() && !block.thought);
        turn.said |= words.map(|block| block.text.as_str()).any(|text| !text.trim().is_empty());
        turn.doing = Doing::Running(calls, reason);
        self.run_calls(now, fates);
    }

    fn summed_up(&mut self, now: Timestamp, something: bool, fates: &mut Vec<Fate>) {
        if !something {
            return self.end(now, RunStatus::Error, fates);
        }
        self.past.sum_up();
        let of_no_run = self.turn.as_ref().is_some_and(|turn| turn.prompts.is_empty());
        if of_no_run {
            return self.end(now, RunStatus::Ok, fates);
        }
        self.next_turn(now, false);
        self.past.prompted.push(self.past.turns);
        let still = self.read.still_crowded;
        let crowded = self.turn.as_mut().map_or(0, |turn| {
            turn.crowded = if still { turn.crowded + 1 } else { 0 };
            turn.crowded
        });
        if crowded >= CROWDED {
            self.end(now, RunStatus::Limit, fates);
        } else {
            self.step(now, fates);
        }
    }

    /// The run has an answer, and somebody looks whether it will do; without words there is nothing to look at.
    fn check(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let until = now.plus(self.settings.check);
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.said {
            turn.doing = Doing::Checking(turn.attempt.step, until);
        } else {
            self.refuse(now, fates);
        }
    }

    pub(super) fn checked(&mut self, now: Timestamp, step: StepId, verdict: &Verdict, fates: &mut Vec<Fate>) {
        let Some(Doing::Checking(of, _)) = self.turn.as_ref().map(|turn| &turn.doing) else { return };
        match verdict {
            _ if *of != step => {}
            Verdict::Satisfied => self.end(now, RunStatus::Ok, fates),
            Verdict::Violated(_) => self.refuse(now, fates),
            Verdict::Undecided(_) => self.end(now, RunStatus::Error, fates),
        }
    }

    /// What was said will not do: twice that is said to the model.
    fn refuse(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.repairs == 2 {
            return self.end(now, RunStatus::Error, fates);
        }
        turn.repairs += 1;
        turn.said = false;
        self.step(now, fates);
    }

    /// Some calls were waited for too long.
    pub(super) fn give_up(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        for id in std::mem::take(&mut self.read.late) {
            if self.is_given_up(id) {
                self.run_calls(now, fates);
            }
        }
    }

    /// If all calls of the step are over, the turn goes on or ends.
    pub(super) fn after_tools(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Doing::Running(calls, reason) = &turn.doing else { return };
        if !calls.iter().all(|(_, call)| call.is_over()) {
            return;
        }
        let denied = !calls.is_empty() && calls.iter().all(|(_, call)| *call == Call::Denied);
        turn.denied = if denied { turn.denied + 1 } else { 0 };
        let status = match reason {
            _ if turn.settle.is_some() => turn.settle.map_or(RunStatus::Cancelled, |(_, status)| status),
            _ if turn.stopped => RunStatus::Denied,
            FinishReason::Length => RunStatus::Limit,
            FinishReason::ContentFilter => RunStatus::Error,
            _ if calls.is_empty() && turn.prompts[0].terms.answer_schema.is_some() => {
                return self.check(now, fates);
            }
            _ if calls.is_empty() => RunStatus::Ok,
            _ if turn.denied >= self.settings.denied_steps => RunStatus::Denied,
            _ if self.read.circles => RunStatus::Limit,
            _ => return self.step(now, fates),
        };
        self.end(now, status, fates);
    }
}

impl Block {
    pub(super) fn says_something(&self) -> bool {
        self.tool.is_some() || self.sealed || !self.text.is_empty()
    }
}

/// Takes in what was said. Returns how many bytes that was.
fn take_in(blocks: &mut Vec<Block>, event: &ModelEvent) -> usize {
    let (number, tool, text, size) = match event {
        ModelEvent::Text { block, text } | ModelEvent::Reasoning { block, text } => {
            (*block, None, text.as_str(), text.len())
        }
        ModelEvent::Opaque { block, data } => (*block, None, "", data.len()),
        ModelEvent::Call { block, id, name } => (*block, Some(name), "", id.len() + name.len()),
        ModelEvent::Input { block, text } => (*block, None, text.as_str(), text.len()),
        _ => return 0,
    };
    let sealed = matches!(event, ModelEvent::Opaque { .. });
    let thought = sealed || matches!(event, ModelEvent::Reasoning { .. });
    match blocks.iter_mut().find(|block| block.number == number) {
        Some(block) => {
            block.sealed |= sealed;
            block.text.push_str(text);
        }
        None => blocks.push(Block { number, tool: tool.cloned(), thought, sealed, text: text.to_owned() }),
    }
    size
}

/// Whether trying again makes sense.
fn passes(kind: &CallErrorKind) -> bool {
    match kind {
        CallErrorKind::Status { code, .. } if code == "insufficient_quota" => false,
        CallErrorKind::Status { status, .. } => *status == 429 || *status >= 500,
        CallErrorKind::Transport | CallErrorKind::Truncated | CallErrorKind::Timeout(_) => true,
        CallErrorKind::Stream { code } => code == "overloaded_error",
        CallErrorKind::Protocol | CallErrorKind::Credentials => false,
    }
}
