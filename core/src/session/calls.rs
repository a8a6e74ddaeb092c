//! Tool calls: which may start when, whether they may run at all, and what came of them.
//!
//! Calls start in the order of the answer. Those that only read may overlap each other, at most five at a time; any
//! other overlaps nothing. No call is started twice, and none after its turn is being cancelled.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Decisions, Effect, Session};
use crate::content::{Finish, ToolCall, ToolOutcome, ToolStatus};
use crate::ids::CallId;
use crate::prompt::PermissionMode;
use crate::record::Record;
use crate::time::Timestamp;
use crate::tools::{self, Intent, ToolInput, Verdict};

/// What is said besides of arguments that make no sense because they are not whole.
const CUT: &str = " The output limit had cut the answer here; write less at once.";

/// How many bytes of a running tool's output are recorded while it runs; its outcome states what matters of it anyway.
const SHOWN_BYTES: usize = 64 << 10;

impl Session {
    /// Gives every call that makes no sense its outcome, so that it is never executed.
    pub(super) fn refuse_bad_calls(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let cut = if answer.finish == Some(Finish::MaxTokens) { CUT } else { "" };
        let bad = |call: &ToolCall| tools::read(&call.name, &call.input).err().map(|error| (call.id, error));
        let bad: Vec<_> = answer.calls().filter_map(bad).collect();
        for (call, error) in bad {
            let text = format!("{error}{cut}");
            self.end_call(now, call, ToolOutcome::text(ToolStatus::Error, text), 0, out);
        }
    }

    /// Starts the calls whose turn it is; once all have ended, the step is over.
    pub(super) fn run_calls(&mut self, now: Timestamp, out: &mut Decisions) {
        while let Some((call, name, input)) = self.next_call() {
            let overlaps = tools::overlaps(&name);
            let tool = self.looked_at(now, input.clone(), overlaps);
            self.live.tools.insert(call, tool);
            out.effects.push(Effect::InspectCall { call, input: Box::new(input) });
        }
        if self.live.tools.is_empty() {
            self.finish_step(now, out);
        }
    }

    /// The first call without outcome that is not under way, if it may start.
    fn next_call(&self) -> Option<(CallId, String, ToolInput)> {
        let (_, answer) = self.durable.current()?;
        let waits = |call: &&ToolCall| call.outcome.is_none() && !self.live.tools.contains_key(&call.id);
        let call = answer.calls().find(waits)?;
        let room = if tools::overlaps(&call.name) {
            self.live.tools.len() < self.settings.parallel
                && self.live.tools.values().all(|tool| tool.overlaps)
        } else {
            self.live.tools.is_empty()
        };
        let input = tools::read(&call.name, &call.input).ok()?;
        room.then(|| (call.id, call.name.clone(), input))
    }

    /// The shell has found out what a call would touch: it may run, or it may not.
    pub(super) fn inspected(&mut self, now: Timestamp, call: CallId, intent: &Intent, out: &mut Decisions) {
        let Some((message, answer)) = self.durable.current() else { return };
        let Some(name) = answer.call(call).map(|call| call.name.clone()) else { return };
        let mode = self.terms().map_or(PermissionMode::Headless, |terms| terms.permission);
        let Some(tool) = self.live.tools.get_mut(&call).filter(|tool| tool.started.is_none()) else { return };
        match tools::judge(&name, intent, mode) {
            Verdict::Allow => {
                tool.start(now, self.settings.overtime);
                let input = Box::new(tool.input.clone());
                self.record(now, Record::ToolCallStarted { message, call }, out);
                out.effects.push(Effect::RunTool { call, input });
            }
            Verdict::Deny(text) => {
                self.live.tools.remove(&call);
                let by = "policy".to_string();
                self.record(now, Record::PermissionDecided { call, allowed: false, by }, out);
                self.end_call(now, call, ToolOutcome::text(ToolStatus::Denied, text), 0, out);
                self.run_calls(now, out);
            }
        }
    }

    /// A running tool said something; the beginning of that is recorded for whoever watches.
    pub(super) fn tool_output(&mut self, now: Timestamp, call: CallId, text: String, out: &mut Decisions) {
        let Some(tool) = self.live.tools.get_mut(&call).filter(|tool| tool.started.is_some()) else { return };
        if text.is_empty() || tool.shown >= SHOWN_BYTES {
            return;
        }
        tool.shown += text.len();
        self.record(now, Record::ToolOutputAppended { call, text }, out);
    }

    /// A tool has ended. What nobody awaits any more changes nothing.
    pub(super) fn tool_finished(
        &mut self,
        now: Timestamp,
        call: CallId,
        outcome: ToolOutcome,
        out: &mut Decisions,
    ) {
        let Some(started) = self.live.tools.get(&call).and_then(|tool| tool.started) else { return };
        self.live.tools.remove(&call);
        let duration = now.since(started);
        self.end_call(now, call, outcome, duration, out);
        if self.durable.turn.as_ref().is_some_and(|turn| turn.cancelling.is_some()) {
            self.settle_if_done(now, out);
        } else {
            self.run_calls(now, out);
        }
    }

    /// Records what came of a call, once. An outcome that says nothing says so.
    pub(super) fn end_call(
        &mut self,
        now: Timestamp,
        call: CallId,
        mut outcome: ToolOutcome,
        duration: u64,
        out: &mut Decisions,
    ) {
        let Some((message, answer)) = self.durable.current() else { return };
        if answer.call(call).is_none_or(|call| call.outcome.is_some()) {
            return;
        }
        if outcome.text.trim().is_empty() {
            outcome.text = "[no output]".to_string();
        }
        self.record(now, Record::ToolCallFinished { message, call, outcome, duration }, out);
    }
}
