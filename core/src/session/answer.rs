//! A model's answer as it comes: events, silence, failure, and the moment it is complete.

use super::live::{Call, CallState, Renewal};
use super::stream::{Assembly, without_calls};
use super::{Decisions, Effect, Purpose, Session, retry};
use crate::content::{Finish, Message, MessageBody};
use crate::ids::AttemptId;
use crate::model::{CallError, CallErrorKind, FinishReason, ModelEvent};
use crate::prompt::MAX_WAIT_HEADLESS;
use crate::record::Record;
use crate::time::{Deadline, Timestamp, earliest};

impl Session {
    /// Takes in what a provider said. What answers no awaited attempt changes nothing.
    pub(super) fn model(
        &mut self,
        now: Timestamp,
        attempt: AttemptId,
        event: ModelEvent,
        out: &mut Decisions,
    ) {
        let (until, ends) = (now.plus(self.settings.first_event), now.plus(self.settings.ending));
        let Some(call) = self.awaited(attempt) else { return };
        match event {
            ModelEvent::Connected => {
                if matches!(call.state, CallState::Connecting { .. }) {
                    call.state = CallState::Waiting { until };
                }
            }
            ModelEvent::Ending(reason) => {
                call.state = CallState::Ending { until: ends, reason };
            }
            ModelEvent::Finished(reason) => self.answered(now, reason, out),
            ModelEvent::Failed(error) => self.attempt_failed(now, error, out),
            ModelEvent::Text { .. }
            | ModelEvent::Reasoning { .. }
            | ModelEvent::Opaque { .. }
            | ModelEvent::Call { .. }
            | ModelEvent::Input { .. }
            | ModelEvent::Usage(_) => self.streamed(now, &event, out),
        }
    }

    fn awaited(&mut self, attempt: AttemptId) -> Option<&mut Call> {
        let call = self.live.call.as_mut()?;
        let awaited = call.attempt == attempt && !matches!(call.state, CallState::Pausing { .. });
        awaited.then_some(call)
    }

    fn streamed(&mut self, now: Timestamp, event: &ModelEvent, out: &mut Decisions) {
        let (idle, gather, most) = (self.settings.idle, self.settings.gather, self.settings.answer_bytes);
        let Some(call) = self.live.call.as_mut() else { return };
        let before = call.assembly.bytes();
        call.assembly.push(event);
        // A provider that goes on without saying anything is as silent as one that is. One that goes on behind what it
        // said of its end was not done: some say that with every piece.
        if call.assembly.bytes() > before {
            call.state = CallState::Streaming { until: now.plus(idle) };
        }
        if call.assembly.bytes() > most {
            return self.too_much(now, out);
        }
        if call.assembly.is_pending() && call.flush.is_none() {
            call.flush = Some(call.flushed.map_or(now, |last| last.plus(gather)));
        }
        self.flush_due(now, out);
    }

    fn too_much(&mut self, now: Timestamp, out: &mut Decisions) {
        let most = self.settings.answer_bytes >> 20;
        let message = alloc::format!("the answer is longer than {most} MiB");
        let error =
            CallError { kind: CallErrorKind::Protocol, message, retry_after: None, should_retry: None };
        self.abandon_call(out);
        self.attempt_failed(now, error, out);
    }

    /// Stops an attempt that is still being carried out.
    pub(super) fn abandon_call(&mut self, out: &mut Decisions) {
        if let Some(call) = &self.live.call
            && !matches!(call.state, CallState::Pausing { .. })
        {
            out.effects.push(Effect::CancelCall { attempt: call.attempt });
        }
    }

    fn flush_due(&mut self, now: Timestamp, out: &mut Decisions) {
        let due = self.live.call.as_ref().is_some_and(|call| call.flush.is_some_and(|at| at <= now));
        if due {
            self.flush(now, out);
        }
    }

    /// Records what has been streamed and is not recorded.
    pub(super) fn flush(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some((message, _)) = self.durable.current() else { return };
        let Some(call) = self.live.call.as_mut() else { return };
        call.flush = None;
        if !call.assembly.is_pending() {
            return;
        }
        call.flushed = Some(now);
        for record in call.assembly.take_pending(message) {
            self.record(now, record, out);
        }
    }

    /// The answer is complete: from here on it is what is executed and what is sent again.
    fn answered(&mut self, now: Timestamp, reason: FinishReason, out: &mut Decisions) {
        self.flush(now, out);
        let Some((message, answer)) = self.durable.current() else { return };
        let step = answer.step;
        let Some(call) = self.live.call.take() else { return };
        let usage = call.assembly.usage;
        let mut blocks = call.assembly.finish(step);
        if reason == FinishReason::ContentFilter {
            blocks = without_calls(blocks);
        }
        let sums_up = self.durable.turn.as_ref().is_some_and(|turn| turn.purpose != Purpose::Work);
        if sums_up {
            blocks = without_calls(blocks);
        }
        let calls = blocks.iter().any(|block| matches!(block, crate::content::Block::Call(_)));
        let finish = finish_of(reason, calls);
        self.record(now, Record::MessageFinished { message, blocks, finish, usage }, out);
        if sums_up {
            return self.summed_up(now, out);
        }
        self.refuse_bad_calls(now, out);
        self.run_calls(now, out);
    }

    pub(super) fn attempt_failed(&mut self, now: Timestamp, error: CallError, out: &mut Decisions) {
        self.flush(now, out);
        if self.too_long(now, &error, out) {
            return;
        }
        // Once is enough: after that there are no seals in the request.
        if retry::refuses_seals(&error) && self.sends_seals() {
            return self.fail_attempt(now, error, Some(0), out);
        }
        // What was refused as too long was no failure of the provider.
        let refused = match self.durable.turn.as_ref().map(|turn| turn.purpose) {
            Some(Purpose::Summary { refused, .. }) => refused,
            Some(Purpose::Work) | None => 0,
        };
        let renewable = self.durable.preparation.as_ref().is_some_and(|preparation| preparation.renewable);
        let Some(call) = self.live.call.as_mut() else { return };
        if retry::refuses_credentials(&error) && renewable && call.renewed.is_none() {
            call.renewed = Some(Renewal { attempt: call.attempt.attempt, refused });
            return self.fail_attempt(now, error, Some(0), out);
        }
        let counted = match call.renewed {
            Some(renewal) => {
                let refused = refused.saturating_sub(renewal.refused);
                call.attempt.attempt.saturating_sub(renewal.attempt).saturating_sub(refused)
            }
            None => call.attempt.attempt.saturating_sub(refused),
        };
        let usage = call.assembly.usage;
        let max_wait = self.terms().map_or(MAX_WAIT_HEADLESS, |terms| terms.max_wait);
        match retry::decide(&error, counted.max(1), max_wait, &self.settings) {
            retry::Next::Attempt(wait) => {
                let over = self.over_cost(self.cost(&usage));
                self.fail_attempt(now, error, over.is_none().then_some(wait), out);
                if let Some(outcome) = over {
                    self.finish_turn(now, outcome, out);
                }
            }
            retry::Next::End(outcome) => {
                self.fail_attempt(now, error, None, out);
                self.finish_turn(now, outcome, out);
            }
        }
    }

    /// Whether the request of the step that is under way has seals of its own provider.
    fn sends_seals(&self) -> bool {
        let works = self.durable.turn.as_ref().is_some_and(|turn| turn.purpose == Purpose::Work);
        let after = |message: &&Message| message.id > self.durable.unsealed;
        let Some(preparation) = &self.durable.preparation else { return false };
        works
            && self.durable.messages.iter().rev().take_while(after).any(|message| match &message.body {
                MessageBody::Assistant(answer) => answer.model == preparation.model && answer.is_sealed(),
                MessageBody::User(_) | MessageBody::Summary(_) => false,
            })
    }

    /// Records that an attempt failed; the next one is made after so many milliseconds, if one is made.
    pub(super) fn fail_attempt(
        &mut self,
        now: Timestamp,
        error: CallError,
        retry_after: Option<u64>,
        out: &mut Decisions,
    ) {
        let Some((message, _)) = self.durable.current() else { return };
        let Some(call) = self.live.call.as_mut() else { return };
        // What it used is on record with its failure, and not once more with the message.
        let (attempt, usage) = (call.attempt, core::mem::take(&mut call.assembly.usage));
        let (too_long, cost) = (retry::is_too_long(&error), self.cost(&usage));
        let seals = retry_after.is_some() && retry::refuses_seals(&error);
        let failed =
            Record::AttemptFailed { attempt, message, error, usage, cost, too_long, seals, retry_after };
        self.record(now, failed, out);
        self.pause(now.plus(retry_after.unwrap_or_default()));
        if retry_after.is_some() {
            self.forget_answer();
        }
    }

    /// Nothing is awaited until then.
    fn pause(&mut self, until: Timestamp) {
        if let Some(call) = self.live.call.as_mut() {
            call.state = CallState::Pausing { until };
        }
    }

    fn forget_answer(&mut self) {
        if let Some(call) = self.live.call.as_mut() {
            call.assembly = Assembly::default();
            call.flush = None;
            call.flushed = None;
        }
    }

    pub(super) fn call_deadline(&self) -> Option<(Timestamp, Deadline)> {
        let call = self.live.call.as_ref()?;
        let state = match call.state {
            CallState::Connecting { until } => (until, Deadline::Connect),
            CallState::Waiting { until } => (until, Deadline::FirstEvent),
            CallState::Streaming { until } | CallState::Ending { until, .. } => (until, Deadline::Idle),
            CallState::Pausing { until } => (until, Deadline::Retry),
        };
        earliest(call.flush.map(|at| (at, Deadline::Flush)), Some(state))
    }

    pub(super) fn tick_call(&mut self, now: Timestamp, out: &mut Decisions) {
        self.flush_due(now, out);
        let Some(call) = self.live.call.as_ref() else { return };
        let attempt = call.attempt;
        match call.state {
            CallState::Pausing { until } if until <= now => self.next_attempt(now, attempt, out),
            CallState::Connecting { until } if until <= now => self.silent(now, Deadline::Connect, out),
            CallState::Waiting { until } if until <= now => self.silent(now, Deadline::FirstEvent, out),
            CallState::Streaming { until } if until <= now => self.silent(now, Deadline::Idle, out),
            CallState::Ending { until, reason } if until <= now => {
                self.abandon_call(out);
                self.answered(now, reason, out);
            }
            CallState::Pausing { .. }
            | CallState::Connecting { .. }
            | CallState::Waiting { .. }
            | CallState::Streaming { .. }
            | CallState::Ending { .. } => {}
        }
    }

    fn silent(&mut self, now: Timestamp, what: Deadline, out: &mut Decisions) {
        self.abandon_call(out);
        let (waited, which) = match what {
            Deadline::Connect => (self.settings.connect + self.settings.first_event, "no answer"),
            Deadline::FirstEvent => (self.settings.first_event, "no first event"),
            Deadline::Idle
            | Deadline::Flush
            | Deadline::Prepare
            | Deadline::Retry
            | Deadline::Title
            | Deadline::Check
            | Deadline::Inspect
            | Deadline::Tool
            | Deadline::Settle
            | Deadline::Run
            | Deadline::Exit => (self.settings.idle, "no event"),
        };
        let message = alloc::format!("{which} within {} s", waited / 1000);
        let kind = CallErrorKind::Timeout(what);
        self.attempt_failed(now, CallError { kind, message, retry_after: None, should_retry: None }, out);
    }
}

/// How an answer ended, from what its provider says and whether it calls tools: some say `stop` although it does.
fn finish_of(reason: FinishReason, calls: bool) -> Finish {
    match reason {
        FinishReason::Length => Finish::MaxTokens,
        FinishReason::ContentFilter => Finish::ContentFilter,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Unknown if calls => Finish::ToolUse,
        FinishReason::Stop | FinishReason::ToolCalls => Finish::EndTurn,
        FinishReason::Unknown => Finish::Unknown,
    }
}
