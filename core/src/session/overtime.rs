//! Every tool call ends: a look at what one would touch, and a run of one, are waited for only so long.
//!
//! A tool has a limit of its own, which its shell keeps. This is for the one that does not: it is told to stop, and given
//! up if that does not help either. Whatever it still says then is awaited by nobody.

use alloc::format;
use alloc::vec::Vec;

use super::live::Tool;
use super::{Decisions, Effect, Session};
use crate::content::{ToolOutcome, ToolStatus};
use crate::ids::CallId;
use crate::time::{Deadline, Timestamp};
use crate::tools::{self, CallInput};

impl Tool {
    /// It runs from now on.
    pub(super) fn start(&mut self, now: Timestamp, overtime: u64) {
        self.started = Some(now);
        self.until = tools::longest(&self.input).map(|limit| now.plus(limit).plus(overtime));
    }
}

impl Session {
    /// A call that is about to be looked at.
    pub(super) fn looked_at(&self, now: Timestamp, input: CallInput, overlaps: bool) -> Tool {
        let until = Some(now.plus(self.settings.inspect));
        Tool { input, overlaps, started: None, asked: false, until, overdue: false, shown: 0 }
    }

    /// When the next call is waited for no longer. Those of a cancelled turn have a deadline together.
    pub(super) fn tool_deadline(&self) -> Option<(Timestamp, Deadline)> {
        if self.live.settle.is_some() {
            return None;
        }
        let reason = |tool: &Tool| if tool.started.is_some() { Deadline::Tool } else { Deadline::Inspect };
        self.live.tools.values().filter_map(|tool| Some((tool.until?, reason(tool)))).min()
    }

    /// Deals with calls that have taken too long.
    pub(super) fn tick_tools(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.live.settle.is_some() {
            return;
        }
        let late = |tool: &Tool| tool.until.is_some_and(|until| until <= now);
        let late: Vec<_> =
            self.live.tools.iter().filter(|(_, tool)| late(tool)).map(|(call, _)| *call).collect();
        let mut given_up = false;
        for call in late {
            given_up |= self.late(now, call, out);
        }
        if given_up {
            self.run_calls(now, out);
        }
    }

    /// A call is late: one that runs is told to stop, once, and any other is given up. Returns whether it is.
    fn late(&mut self, now: Timestamp, call: CallId, out: &mut Decisions) -> bool {
        let settle = self.settings.settle;
        let Some(tool) = self.live.tools.get_mut(&call) else { return false };
        if !tool.overdue {
            out.effects.push(Effect::CancelTool { call });
        }
        if tool.started.is_some() && !tool.overdue {
            (tool.overdue, tool.until) = (true, Some(now.plus(settle)));
            return false;
        }
        let (text, duration) = match tool.started {
            None => {
                let seconds = self.settings.inspect / 1000;
                let text = format!(
                    "What this would touch could not be found out within {seconds} s; nothing was done."
                );
                (text, 0)
            }
            Some(started) => {
                let seconds = now.since(started) / 1000;
                let text = format!(
                    "This had not ended after {seconds} s and could not be stopped; it may have had some effect."
                );
                (text, now.since(started))
            }
        };
        self.live.tools.remove(&call);
        self.end_call(now, call, ToolOutcome::text(ToolStatus::Error, text), duration, out);
        true
    }
}
