//! Tool calls: which may start when, whether they may run at all, and what came of them.
//!
//! Calls start in the order of the answer. Those that only read may overlap each other, at most five at a time; any
//! other overlaps nothing. No call is started twice, and none after its turn is being cancelled.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Decisions, Effect, Session};
use crate::content::{Block, Finish, ToolCall, ToolOutcome, ToolStatus};
use crate::ids::CallId;
use crate::prompt::PermissionMode;
use crate::record::Record;
use crate::time::Timestamp;
use crate::todos;
use crate::tools::{self, BadInput, CallInput, Intent, Verdict};

/// What is said besides of arguments that make no sense because they are not whole.
const CUT: &str = " The output limit had cut the answer here; write less at once.";

/// What is said of a call that the output limit cut off before its arguments.
const UNWRITTEN: &str = "The output limit had cut the answer before the arguments of this call were written. Nothing was run; \
                         call it again, and write less at once.";

/// How many bytes of a running tool's output are recorded while it runs; its outcome states what matters of it anyway.
const SHOWN_BYTES: usize = 64 << 10;

/// The facts about a call that is denied because nobody can be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Allowing {
    /// The rules that would have let it pass; none if no rule says it.
    pub(crate) allow: Vec<String>,
    /// Whether it is not known what the call does, so that no rule is about less than the whole tool.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) unknown: bool,
}

/// The call that this block is, if nothing was written of its arguments. Of a call that is the last thing in an answer that
/// was cut nobody knows then whether it was to have none. Arguments that make sense are whole: no beginning of an object is
/// one.
fn unwritten(block: &Block) -> Option<CallId> {
    match block {
        Block::Call(call) if call.input.trim().is_empty() => Some(call.id),
        Block::Call(_) | Block::Text(_) | Block::Reasoning(_) => None,
    }
}

impl Session {
    /// Gives every call that makes no sense its outcome, so that it is never executed.
    pub(super) fn refuse_bad_calls(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let is_cut = answer.finish == Some(Finish::MaxTokens);
        let cut = if is_cut { CUT } else { "" };
        let unwritten = answer.blocks.last().filter(|_| is_cut).and_then(unwritten);
        let bad = |call: &ToolCall| match self.read(call) {
            Err(error) => Some((call.id, format!("{error}{cut}"))),
            Ok(_) => (unwritten == Some(call.id)).then(|| (call.id, UNWRITTEN.to_string())),
        };
        let bad: Vec<_> = answer.calls().filter_map(bad).collect();
        for (call, text) in bad {
            self.end_call(now, call, ToolOutcome::text(ToolStatus::Error, text), 0, out);
        }
    }

    /// What a call asks for, if its tool is on offer and its arguments fit.
    fn read(&self, call: &ToolCall) -> Result<CallInput, BadInput> {
        let offered = self.durable.preparation.iter().flat_map(|preparation| &preparation.tools);
        let names: Vec<&str> = offered.map(|tool| tool.name.as_str()).collect();
        if names.contains(&call.name.as_str()) {
            return tools::read_call(&call.name, &call.input);
        }
        Err(tools::unknown(&call.name, names.join(", ")))
    }

    /// Starts the calls whose turn it is; once all have ended, the step is over.
    pub(super) fn run_calls(&mut self, now: Timestamp, out: &mut Decisions) {
        while let Some((call, overlaps, input)) = self.next_call() {
            let tool = self.looked_at(now, input.clone(), overlaps);
            self.live.tools.insert(call, tool);
            match input {
                CallInput::Tool(input) => {
                    out.effects.push(Effect::InspectCall { call, input: Box::new(input) });
                }
                // What is done here touches nothing that the shell could look at.
                CallInput::Agent(_) | CallInput::Todos(_) => {
                    let intent = Intent { complete: true, ..Intent::default() };
                    self.judge(now, call, &intent, out);
                }
            }
        }
        if self.live.tools.is_empty() {
            self.finish_step(now, out);
        }
    }

    /// The first call without outcome that is not under way, if it may start.
    fn next_call(&self) -> Option<(CallId, bool, CallInput)> {
        let (_, answer) = self.durable.current()?;
        if self.durable.turn.as_ref().is_none_or(|turn| turn.stopped) {
            return None;
        }
        let waits = |call: &&ToolCall| call.outcome.is_none() && !self.live.tools.contains_key(&call.id);
        let call = answer.calls().find(waits)?;
        let overlaps = tools::overlaps(&call.name);
        let room = if overlaps {
            self.live.tools.len() < self.settings.parallel
                && self.live.tools.values().all(|tool| tool.overlaps)
        } else {
            self.live.tools.is_empty()
        };
        let input = self.read(call).ok()?;
        room.then_some((call.id, overlaps, input))
    }

    /// The shell has found out what a call would touch.
    pub(super) fn inspected(&mut self, now: Timestamp, call: CallId, intent: &Intent, out: &mut Decisions) {
        if self.live.tools.get(&call).is_some_and(|tool| tool.started.is_none() && !tool.asked) {
            self.judge(now, call, intent, out);
            self.run_calls(now, out);
        }
    }

    /// A call may run, or it may not.
    fn judge(&mut self, now: Timestamp, call: CallId, intent: &Intent, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let Some(name) = answer.call(call).map(|call| call.name.clone()) else { return };
        match self.verdict(&name, intent) {
            Verdict::Allow => self.start_call(now, call, out),
            Verdict::Ask(_) => self.need_permission(now, call, name, intent, out),
            Verdict::Deny(text) => {
                self.live.tools.remove(&call);
                let metadata = self.allowing(&name, intent);
                let (by, grants) = ("policy".to_string(), Vec::new());
                let (allowed, person, session) = (false, false, None);
                let decided = Record::PermissionDecided { call, allowed, by, session, person, grants };
                self.record(now, decided, out);
                let outcome = ToolOutcome { metadata, ..ToolOutcome::text(ToolStatus::Denied, text) };
                self.end_call(now, call, outcome, 0, out);
            }
        }
    }

    /// What would have let a call pass that is denied because nobody can be asked, as JSON for programs: the rules, none if no
    /// rule says it. Nothing where a rule forbids it or nothing may be done.
    fn allowing(&self, tool: &str, intent: &Intent) -> Option<String> {
        let terms = self.terms().filter(|terms| tools::is_offered(tool, terms.permission))?;
        let rules = terms.rules.iter().chain(&self.durable.grants);
        match tools::judge(tool, intent, PermissionMode::Interactive, rules) {
            Verdict::Ask(ask) => {
                let facts = Allowing { allow: ask.would_do(), unknown: ask.is_unknown() };
                serde_json::to_string(&facts).ok()
            }
            Verdict::Allow | Verdict::Deny(_) => None,
        }
    }

    /// What the rules of the turn and what has been granted make of a call.
    pub(super) fn verdict(&self, tool: &str, intent: &Intent) -> Verdict {
        let terms = self.terms();
        let mode = terms.map_or(PermissionMode::Headless, |terms| terms.permission);
        let rules = terms.into_iter().flat_map(|terms| &terms.rules).chain(&self.durable.grants);
        tools::judge(tool, intent, mode, rules)
    }

    pub(super) fn start_call(&mut self, now: Timestamp, call: CallId, out: &mut Decisions) {
        let Some((message, _)) = self.durable.current() else { return };
        let Some(tool) = self.live.tools.get_mut(&call) else { return };
        tool.start(now, self.settings.overtime);
        let input = tool.input.clone();
        self.record(now, Record::ToolCallStarted { message, call }, out);
        match input {
            CallInput::Tool(input) => out.effects.push(Effect::RunTool { call, input: Box::new(input) }),
            CallInput::Agent(task) => self.open_sub_agent(message, call, task, out),
            CallInput::Todos(list) => {
                self.live.tools.remove(&call);
                let outcome = ToolOutcome::text(ToolStatus::Ok, todos::noted(&list.todos));
                self.record(now, Record::TodosChanged { todos: list.todos }, out);
                self.end_call(now, call, outcome, 0, out);
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
