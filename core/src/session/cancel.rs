//! Cancels, decided at once and in one commit: what they cover never starts anything again.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Decisions, Effect, Phase, Session};
use crate::content::ToolOutcome;
use crate::ids::{PromptId, RequestId, RunId};
use crate::protocol::Reply;
use crate::record::{CancelScope, Reason, Record, ReturnReason, TurnOutcome};
use crate::time::Timestamp;

impl Session {
    /// Stops what the scope covers: prompts that wait go back, an undecided one becomes a cancelled turn, and a turn
    /// ends as soon as its running tools have. With nothing to stop it changes nothing.
    pub(super) fn cancel(
        &mut self,
        now: Timestamp,
        to: RequestId,
        scope: CancelScope,
        reason: Reason,
        out: &mut Decisions,
    ) {
        let runs = self.stop(now, scope, reason, out);
        out.effects.push(Effect::Reply { to, reply: Box::new(Reply::Cancelled { runs }) });
    }

    /// The same without anybody to answer. Returns the runs that it ends.
    pub(crate) fn stop(
        &mut self,
        now: Timestamp,
        scope: CancelScope,
        reason: Reason,
        out: &mut Decisions,
    ) -> Vec<RunId> {
        let covered = self.covered(&scope);
        let runs = covered.iter().map(|(_, _, run)| run.clone()).collect();
        // A turn that belongs to no run stands behind all that was accepted before it.
        let unowned = scope == CancelScope::Session && self.works_for_nobody();
        let unowned = unowned.then_some(self.durable.sequence);
        if let Some(watermark) = covered.iter().map(|(sequence, _, _)| *sequence).max().or(unowned) {
            self.record(now, Record::CancelAccepted { scope, watermark, reason }, out);
            self.cancel_waiting(now, &covered, reason, out);
            self.cancel_turn(now, out);
            self.advance(now, out);
        }
        runs
    }

    /// The open prompts that the scope covers. A prompt that joined another run's turn ends with that run, and only so.
    fn covered(&self, scope: &CancelScope) -> Vec<(u64, PromptId, RunId)> {
        let all = self.durable.open.iter();
        let covered = all.filter(|(_, open)| match (scope, open.phase, &self.durable.turn) {
            (CancelScope::Session, _, _) => true,
            (CancelScope::Run(run), Phase::InTurn, Some(turn)) => turn.run == *run,
            (CancelScope::Run(run), _, _) => open.prompt.run_id() == *run,
        });
        covered.map(|(sequence, open)| (*sequence, open.prompt.id.clone(), open.prompt.run_id())).collect()
    }

    fn cancel_waiting(
        &mut self,
        now: Timestamp,
        covered: &[(u64, PromptId, RunId)],
        reason: Reason,
        out: &mut Decisions,
    ) {
        for (sequence, prompt, _) in covered {
            let phase = self.durable.open.get(sequence).map(|open| open.phase);
            match phase {
                Some(Phase::InTurn) | None => {}
                Some(Phase::Preparing) if self.durable.turn.is_none() => {
                    self.call_off(*sequence, out);
                    self.open_turn(now, prompt, out);
                    self.close_turn(now, TurnOutcome::Cancelled(reason), out);
                }
                Some(Phase::Preparing | Phase::Queued) => {
                    self.return_prompt(now, *sequence, (ReturnReason::Cancelled, Reason::Returned), out);
                }
            }
        }
    }

    /// Stops the turn if it is being cancelled and that has not been done.
    fn cancel_turn(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.durable.turn.as_ref().is_none_or(|turn| turn.cancelling.is_none())
            || self.live.settle.is_some()
        {
            return;
        }
        self.stop_calls(now, out);
        self.live.settle = Some(now.plus(self.settings.settle));
        self.settle_if_done(now, out);
    }

    /// Gives every call that is not running its outcome and tells the running ones to stop.
    fn stop_calls(&mut self, now: Timestamp, out: &mut Decisions) {
        self.withdraw(now, out);
        let running = |tool: &super::live::Tool| tool.started.is_some();
        // Also what is about to be looked at: that is taken back.
        let stop = self.live.tools.iter().filter(|(_, tool)| !tool.asked).map(|(call, _)| *call);
        let stop: Vec<_> = stop.collect();
        self.live.tools.retain(|_, tool| running(tool));
        let Some((_, answer)) = self.durable.current() else { return };
        let runs = |call| self.live.tools.contains_key(call);
        let idle = answer.calls().filter(|call| call.outcome.is_none() && !runs(&call.id));
        let idle: Vec<_> = idle.map(|call| call.id).collect();
        for call in idle {
            self.end_call(now, call, ToolOutcome::never_started(), 0, out);
        }
        let reason = self.durable.turn.as_ref().and_then(|turn| turn.cancelling).unwrap_or(Reason::User);
        for call in stop {
            if !self.stop_sub_agent(call, reason, out) {
                out.effects.push(Effect::CancelTool { call });
            }
        }
    }

    /// Ends a turn that is being cancelled once none of its tools runs.
    pub(super) fn settle_if_done(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(reason) = self.durable.turn.as_ref().and_then(|turn| turn.cancelling) else { return };
        if self.live.tools.is_empty() {
            self.finish_turn(now, TurnOutcome::Cancelled(reason), out);
        }
    }

    /// Gives up the tools of a cancelled turn that have not ended in time.
    pub(super) fn tick_settle(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(reason) = self.durable.turn.as_ref().and_then(|turn| turn.cancelling) else { return };
        if self.live.settle.is_some_and(|at| at <= now) {
            self.finish_turn(now, TurnOutcome::Cancelled(reason), out);
        }
    }

    /// Gives back every prompt that is queued, and lets what they held back begin.
    pub(super) fn clear_queue(&mut self, now: Timestamp, to: RequestId, out: &mut Decisions) {
        let queued = self.durable.open.iter().filter(|(_, open)| open.phase == Phase::Queued);
        let queued: Vec<_> = queued.map(|(sequence, open)| (*sequence, open.prompt.id.clone())).collect();
        for (sequence, _) in &queued {
            self.return_prompt(now, *sequence, (ReturnReason::Cleared, Reason::Returned), out);
        }
        self.advance(now, out);
        let prompts = queued.into_iter().map(|(_, prompt)| prompt).collect();
        out.effects.push(Effect::Reply { to, reply: Box::new(Reply::Cleared { prompts }) });
    }
}
