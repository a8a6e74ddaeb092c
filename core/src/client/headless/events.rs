//! What happened in the workspace, as far as it concerns the run, in lines.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::{lines, text};
use super::{Effect, Headless};
use crate::content::{Block, ToolOutcome, text_of};
use crate::ids::{CallId, MessageId, TurnId};
use crate::machine::{Effects, Entry};
use crate::protocol::{Event, EventId, Notice};
use crate::record::{Reason, Record, RunStatus, TurnOutcome};
use crate::time::Timestamp;

impl Headless {
    pub(super) fn event(&mut self, now: Timestamp, event: Event, out: &mut Effects<Effect>) {
        match event {
            Event::Record { id, entry } => {
                if self.session.as_ref() == Some(&entry.session) && !self.knows(&id) {
                    self.record(now, &id, entry, out);
                }
            }
            Event::Notice(Notice::SessionBusy { prompt, holder, .. }) => {
                if prompt == *self.prompt() {
                    let queued = lines::Queued { holder: Some((&holder).into()) };
                    self.line(now, "prompt.queued", &queued, None, out);
                    self.tell(format!("waiting: process {} has the session", holder.pid), out);
                }
            }
            Event::Notice(Notice::RulesNotKept { message }) => self.tell(message, out),
            Event::Notice(Notice::StorageFailed { message }) => {
                let terminal = self.unrecorded(now, RunStatus::Error, Reason::Storage, &message);
                self.finish(now, terminal, out);
            }
            // What happened to the run cannot be learned from another log.
            Event::Resync { .. } => {
                let message =
                    "The log was replaced during the run; see what is there with `hostler sessions list`.";
                let terminal = self.unrecorded(now, RunStatus::Error, Reason::Storage, message);
                self.finish(now, terminal, out);
            }
        }
    }

    /// Whether that is at or before what was said last: after a connection that was lost it may come again.
    fn knows(&self, id: &EventId) -> bool {
        self.cursor.as_ref().is_some_and(|cursor| cursor.log == id.log && id.seq <= cursor.seq)
    }

    fn record(&mut self, now: Timestamp, id: &EventId, entry: Entry, out: &mut Effects<Effect>) {
        self.cursor = Some(id.clone());
        let at = entry.at;
        match &entry.record {
            Record::PromptQueued { prompt } => {
                if prompt == self.prompt() {
                    self.line(at, "prompt.queued", &lines::Queued { holder: None }, Some(id), out);
                }
            }
            Record::PromptReturned { prompt, reason, text, .. } => {
                if prompt == self.prompt() {
                    let returned = lines::Returned { reason: *reason, text };
                    self.line(at, "prompt.returned", &returned, Some(id), out);
                }
            }
            Record::Prepared { preparation } => self.notices.clone_from(&preparation.notices),
            Record::TurnStarted { turn, prompt, message, .. } => {
                // What was prepared for somebody else's turn is said to them.
                let notices = core::mem::take(&mut self.notices);
                if prompt == self.prompt() {
                    self.turn = Some(*turn);
                    // Whoever wants quiet does not want to be told how it was prepared.
                    let notices = if self.is_quiet() { Vec::new() } else { notices };
                    for notice in notices {
                        self.warn(at, &notice, out);
                    }
                    let started = lines::Message { message_id: *message };
                    self.line(at, "prompt.started", &started, Some(id), out);
                }
            }
            Record::PromptFolded { prompt, turn, message } => {
                if prompt == self.prompt() {
                    self.turn = Some(*turn);
                    let folded = lines::Message { message_id: *message };
                    self.line(at, "prompt.folded", &folded, Some(id), out);
                }
            }
            Record::RunFinished(finished) => {
                if finished.prompt == *self.prompt() {
                    self.finish(at, finished.clone(), out);
                }
            }
            Record::SessionCreated { .. }
            | Record::SessionForked { .. }
            | Record::PromptAccepted { .. }
            | Record::TitleChanged { .. }
            | Record::CancelAccepted { .. } => {}
            Record::TurnFinished { .. }
            | Record::SummaryStarted { .. }
            | Record::SummaryFinished { .. }
            | Record::TurnContinued { .. }
            | Record::AnswerRefused { .. }
            | Record::StepStarted { .. }
            | Record::AttemptStarted { .. }
            | Record::TextAppended { .. }
            | Record::ReasoningAppended { .. }
            | Record::AttemptFailed { .. }
            | Record::MessageFinished { .. }
            | Record::PermissionAsked { .. }
            | Record::PermissionDecided { .. }
            | Record::PermissionWithdrawn { .. }
            | Record::SubAgentFinished { .. }
            | Record::TodosChanged { .. }
            | Record::ToolCallStarted { .. }
            | Record::ToolOutputAppended { .. }
            | Record::ToolCallFinished { .. }
            | Record::StepFinished { .. } => {
                if let Some(turn) = self.turn {
                    self.count(&entry.record);
                    self.listen(now, &entry.record);
                    self.of_turn(at, id, turn, &entry.record, out);
                }
            }
        }
    }

    /// A record of the turn that the run is part of.
    fn of_turn(
        &mut self,
        at: Timestamp,
        id: &EventId,
        own: TurnId,
        record: &Record,
        out: &mut Effects<Effect>,
    ) {
        let cursor = Some(id);
        match record {
            Record::TurnFinished { turn, outcome, .. } => {
                // A run that goes on keeps its place until its next turn takes it.
                if own == *turn && *outcome != TurnOutcome::Continued && !self.summing_up {
                    self.turn = None;
                }
            }
            Record::SummaryStarted { turn, .. } => {
                self.turn = Some(*turn);
                self.summing_up = true;
                self.line(at, "summary.started", &lines::Empty {}, cursor, out);
                self.tell("summing the conversation up to save room".to_string(), out);
            }
            Record::SummaryFinished { message, .. } => {
                self.line(at, "summary.finished", &lines::Message { message_id: *message }, cursor, out);
            }
            Record::TurnContinued { turn, .. } => {
                self.turn = Some(*turn);
                self.summing_up = false;
            }
            Record::AnswerRefused { answer, problem, .. } => {
                self.answer = None;
                let refused = lines::AnswerRefused { message_id: *answer, problem };
                self.line(at, "answer.refused", &refused, cursor, out);
                self.break_live(out);
                self.tell(
                    format!("asking again, since the answer does not satisfy the schema: {problem}"),
                    out,
                );
            }
            Record::StepStarted { step, message, model } => {
                self.calls.clear();
                let model = &model.to_string();
                let started = lines::StepStarted { step: *step, message_id: *message, model };
                self.line(at, "step.started", &started, cursor, out);
            }
            // A summary is for the model; it is no part of the answer.
            Record::TextAppended { .. }
            | Record::ReasoningAppended { .. }
            | Record::MessageFinished { .. }
                if self.summing_up => {}
            Record::TextAppended { message, block, text } => {
                let delta = lines::Delta { message_id: *message, block: *block, text };
                self.line(at, "text.delta", &delta, cursor, out);
                if self.prints_live() {
                    let text = self.live.print(&self.shown(text));
                    self.out(text, out);
                }
            }
            Record::ReasoningAppended { message, block, text } => {
                let delta = lines::Delta { message_id: *message, block: *block, text };
                self.line(at, "reasoning.delta", &delta, cursor, out);
            }
            Record::AttemptFailed { attempt, message, error, retry_after, .. } => {
                if let Some(wait) = retry_after {
                    let retry =
                        lines::Retry { attempt: attempt.attempt, delay_ms: *wait, cause: &error.message };
                    self.line(at, "retry", &retry, cursor, out);
                    self.line(at, "attempt.reset", &lines::Message { message_id: *message }, cursor, out);
                    self.break_live(out);
                    self.tell(format!("retrying in {} s: {}", wait.div_ceil(1000), error.message), out);
                }
            }
            Record::MessageFinished { message, blocks, .. } => self.message_finished(*message, blocks),
            Record::PermissionDecided { call, allowed, by, session: None, .. } => {
                let (name, _) = self.call(*call);
                let kind = if *allowed { "permission.granted" } else { "permission.denied" };
                self.line(at, kind, &lines::Permission { call: *call, name: &name, by }, cursor, out);
            }
            Record::ToolCallStarted { call, .. } => {
                let (name, input) = self.call(*call);
                let started = lines::ToolStarted { call: *call, name: &name, input: &input };
                self.line(at, "tool.started", &started, cursor, out);
                self.break_live(out);
                self.tell(format!("> {}", text::call_line(&name, &input)), out);
            }
            Record::ToolOutputAppended { call, text } => {
                self.line(at, "tool.output", &lines::ToolOutput { call: *call, text }, cursor, out);
            }
            Record::ToolCallFinished { call, outcome, duration, .. } => {
                self.tool_finished(at, id, *call, outcome, *duration, out);
            }
            Record::StepFinished { step, usage, cost, context, estimated } => {
                let finished = lines::StepFinished {
                    step: *step,
                    usage,
                    context_tokens: *context,
                    context_estimated: *estimated,
                    cost_usd: lines::dollars(*cost),
                };
                self.line(at, "step.finished", &finished, cursor, out);
                self.live.end_step();
            }
            // What a sub-agent may do is no part of what the run itself does.
            Record::PermissionDecided { session: Some(_), .. }
            | Record::PermissionAsked { .. }
            | Record::PermissionWithdrawn { .. }
            | Record::SubAgentFinished { .. }
            | Record::TodosChanged { .. }
            | Record::TitleChanged { .. }
            | Record::AttemptStarted { .. }
            | Record::SessionCreated { .. }
            | Record::SessionForked { .. }
            | Record::PromptAccepted { .. }
            | Record::PromptQueued { .. }
            | Record::PromptFolded { .. }
            | Record::PromptReturned { .. }
            | Record::Prepared { .. }
            | Record::TurnStarted { .. }
            | Record::CancelAccepted { .. }
            | Record::RunFinished(_) => {}
        }
    }

    /// Counts what the run uses, for an end of it that no record tells of.
    fn count(&mut self, record: &Record) {
        let used = &mut self.used;
        match record {
            Record::StepStarted { .. } => used.steps += 1,
            Record::AttemptStarted { .. } => used.attempts += 1,
            Record::AttemptFailed { usage, cost, .. } | Record::SubAgentFinished { usage, cost, .. } => {
                used.usage.add(usage);
                used.add_cost(*cost);
            }
            Record::StepFinished { usage, cost, context, estimated, .. } => {
                used.usage.add(usage);
                used.add_cost(*cost);
                (used.context, used.estimated) = (*context, *estimated);
            }
            Record::ToolCallFinished { outcome, .. } => used.tools.count(outcome.status),
            Record::SessionCreated { .. }
            | Record::SessionForked { .. }
            | Record::TitleChanged { .. }
            | Record::PromptAccepted { .. }
            | Record::PromptQueued { .. }
            | Record::PromptFolded { .. }
            | Record::PromptReturned { .. }
            | Record::Prepared { .. }
            | Record::TurnStarted { .. }
            | Record::TurnFinished { .. }
            | Record::TurnContinued { .. }
            | Record::AnswerRefused { .. }
            | Record::SummaryStarted { .. }
            | Record::SummaryFinished { .. }
            | Record::TextAppended { .. }
            | Record::ReasoningAppended { .. }
            | Record::MessageFinished { .. }
            | Record::PermissionAsked { .. }
            | Record::PermissionDecided { .. }
            | Record::PermissionWithdrawn { .. }
            | Record::TodosChanged { .. }
            | Record::ToolCallStarted { .. }
            | Record::ToolOutputAppended { .. }
            | Record::CancelAccepted { .. }
            | Record::RunFinished(_) => {}
        }
    }

    fn message_finished(&mut self, message: MessageId, blocks: &[Block]) {
        let answer = text_of(blocks);
        if !answer.trim().is_empty() {
            self.answer = Some((message, answer));
        }
        for block in blocks {
            if let Block::Call(call) = block {
                self.calls.insert(call.id, (call.name.clone(), call.input.clone()));
            }
        }
    }

    fn call(&self, call: CallId) -> (String, String) {
        self.calls.get(&call).cloned().unwrap_or_default()
    }

    fn tool_finished(
        &mut self,
        at: Timestamp,
        id: &EventId,
        call: CallId,
        outcome: &ToolOutcome,
        duration: u64,
        out: &mut Effects<Effect>,
    ) {
        let (name, input) = self.call(call);
        self.hints.note(&name, &input, outcome);
        let finished = lines::ToolFinished {
            call,
            name: &name,
            input: &input,
            status: lines::status_word(outcome.status),
            output: &outcome.text,
            metadata: outcome.metadata.as_deref(),
            duration_ms: duration,
        };
        self.line(at, "tool.finished", &finished, Some(id), out);
        self.break_live(out);
        self.tell(
            format!("  {}: {}", text::call_line(&name, &input), text::outcome_line(outcome, duration)),
            out,
        );
    }
}
