//! How a run is put into words: the terminal, the lines, and what goes to standard error.

use alloc::format;
use alloc::string::{String, ToString};

use serde::Serialize;

use super::super::lines::{self, Place};
use super::super::{exit_code, text};
use super::stop::{cancelled_status, reason_of};
use super::{Effect, Format, Headless, Input, Phase, SETTLE, Signal};
use crate::machine::Effects;
use crate::protocol::EventId;
use crate::record::{Reason, RunFinished, RunStatus};
use crate::time::Timestamp;

impl Headless {
    /// Nothing happens any more, except that what was printed last may not have been delivered: whoever asked must not
    /// take that for success.
    pub(super) fn after_the_end(&mut self, now: Timestamp, input: &Input, out: &mut Effects<Effect>) {
        match input {
            Input::OutputClosed if !self.closed => {
                self.closed = true;
                out.push(Effect::Exit(exit_code(RunStatus::Cancelled, Reason::OutputClosed)));
            }
            // A reader that takes nothing is then not waited for any longer than a signal allows, and after a second
            // one not at all.
            Input::Signal(signal) if self.ending.is_none() => {
                self.ending = Some((reason_of(*signal), now.plus(SETTLE)));
            }
            Input::Signal(Signal::Interrupt) => {
                self.ending = self.ending.map(|(reason, _)| (reason, Timestamp::from_millis(0)));
            }
            // What was cut short is no success, whatever the record says.
            Input::Undelivered if !self.closed => {
                self.closed = true;
                let reason = self.ending.map_or(Reason::OutputClosed, |(reason, _)| reason);
                out.push(Effect::Exit(exit_code(cancelled_status(reason), reason)));
            }
            Input::OutputFailed(why) if !self.closed => {
                self.lost(why, out);
                out.push(Effect::Exit(exit_code(RunStatus::Error, Reason::Storage)));
            }
            Input::OutputClosed
            | Input::OutputFailed(_)
            | Input::Signal(_)
            | Input::Begin
            | Input::Ready(_)
            | Input::Mistake(_)
            | Input::UnknownModel(_)
            | Input::Opened
            | Input::Reply(_)
            | Input::Unavailable(_)
            | Input::ServerLost(_)
            | Input::Event(_)
            | Input::Kept(_)
            | Input::Undelivered
            | Input::Tick => {}
        }
    }

    /// Nothing can be printed any more, which is said where it can be.
    pub(super) fn lost(&mut self, why: &str, out: &mut Effects<Effect>) {
        self.closed = true;
        self.failed = true;
        let text = format!(
            "hostler: Standard output cannot be written ({}); see whether there is room where it leads.\n",
            text::one_line(why)
        );
        out.push(Effect::Err(text));
    }

    /// The run has ended: prints the terminal, once, and ends the process. What is to be kept is kept before, so that the
    /// terminal tells whether it is.
    pub(super) fn finish(&mut self, at: Timestamp, terminal: RunFinished, out: &mut Effects<Effect>) {
        // What was said before an answer that satisfies the schema is none.
        if self.options.prompt.terms.answer_schema.is_some() && terminal.status != RunStatus::Ok {
            self.answer = None;
        }
        let keeps = self.options.keeps && self.phase != Phase::Keeping;
        match self.answer.as_ref().filter(|_| keeps) {
            Some((_, answer)) => {
                out.push(Effect::Keep(with_line_break(answer.clone())));
                self.phase = Phase::Keeping;
                self.unsaid = Some((at, terminal));
            }
            None => self.conclude(at, terminal, out),
        }
    }

    /// The answer is in its file, or is not.
    pub(super) fn kept(&mut self, kept: Result<(), String>, out: &mut Effects<Effect>) {
        let Some((at, mut terminal)) = self.unsaid.take() else { return };
        if let Err(why) = kept {
            if terminal.status == RunStatus::Ok {
                terminal.status = RunStatus::Error;
                terminal.reason = Reason::Storage;
            }
            terminal.message = format!("{} {why}", terminal.message).trim_start().to_string();
        }
        self.conclude(at, terminal, out);
    }

    fn conclude(&mut self, at: Timestamp, mut terminal: RunFinished, out: &mut Effects<Effect>) {
        self.phase = Phase::Over;
        // What was given back because of our own signal ended by that signal.
        if terminal.status == RunStatus::Cancelled
            && let Some((reason, _)) = self.ending
        {
            terminal.status = cancelled_status(reason);
            terminal.reason = reason;
        }
        if terminal.status == RunStatus::Ok
            && self.options.fail_on_tool_error
            && terminal.totals.tools.failed > 0
        {
            terminal.status = RunStatus::Error;
            terminal.reason = Reason::ToolError;
            terminal.message = format!(
                "Failed tool calls: {}, which --fail-on-tool-error makes a failure of the run; see them with `hostler sessions show`.",
                terminal.totals.tools.failed
            );
        }
        let code = match (self.closed, self.failed) {
            (_, true) => exit_code(RunStatus::Error, Reason::Storage),
            (true, false) => exit_code(RunStatus::Cancelled, Reason::OutputClosed),
            (false, false) => exit_code(terminal.status, terminal.reason),
        };
        self.report(at, &terminal, code, out);
        out.push(Effect::Exit(code));
    }

    fn report(&mut self, at: Timestamp, terminal: &RunFinished, code: u8, out: &mut Effects<Effect>) {
        let answer = self.answer.clone();
        let cursor = self.cursor.clone();
        let finished = lines::RunFinished {
            status: terminal.status,
            exit_code: code,
            reason: terminal.reason,
            message: &terminal.message,
            answer: answer.as_ref().map(|(_, text)| text.as_str()),
            message_id: answer.as_ref().map(|(message, _)| *message),
            usage: &terminal.totals.usage,
            context_tokens: terminal.totals.context,
            context_estimated: terminal.totals.estimated,
            cost_usd: lines::dollars(terminal.totals.cost),
            steps: terminal.totals.steps,
            attempts: terminal.totals.attempts,
            tools: &terminal.totals.tools,
            duration_ms: terminal.duration,
            last_cursor: cursor.as_ref(),
        };
        match self.options.format {
            Format::Jsonl => self.line(at, "run.finished", &finished, cursor.as_ref(), out),
            Format::Json => {
                let text = self.json_line(at, "run.finished", &finished, cursor.as_ref());
                self.out(text, out);
            }
            Format::Text => self.report_text(answer.map(|(_, text)| text), out),
        }
        self.say_hints(out);
        if !terminal.message.is_empty() && self.options.format == Format::Text {
            out.push(Effect::Err(format!("hostler: {}\n", text::one_line(&terminal.message))));
        }
        // Nothing at all would look as if something had been lost.
        if terminal.status == RunStatus::Ok && self.answer.is_none() && self.options.format == Format::Text {
            out.push(Effect::Err("hostler: The model is done and has said nothing.\n".to_string()));
        }
    }

    fn report_text(&mut self, answer: Option<String>, out: &mut Effects<Effect>) {
        if self.prints_live() {
            return self.break_live(out);
        }
        let Some(answer) = answer else { return };
        let answer = with_line_break(self.shown(&answer));
        self.out(answer, out);
    }

    pub(super) fn line<T: Serialize>(
        &mut self,
        at: Timestamp,
        kind: &'static str,
        body: &T,
        cursor: Option<&EventId>,
        out: &mut Effects<Effect>,
    ) {
        if self.options.format == Format::Jsonl {
            let text = self.json_line(at, kind, body, cursor);
            self.out(text, out);
        }
    }

    fn json_line<T: Serialize>(
        &mut self,
        at: Timestamp,
        kind: &'static str,
        body: &T,
        cursor: Option<&EventId>,
    ) -> String {
        self.lines += 1;
        let run = self.run();
        let place = Place { seq: self.lines, at, run: &run, session: self.session.as_ref(), cursor };
        lines::line(&place, kind, body)
    }

    pub(super) fn out(&self, text: String, out: &mut Effects<Effect>) {
        if !self.closed {
            out.push(Effect::Out(text));
        }
    }

    /// Whether text is printed as it comes. Where an answer must satisfy a schema nobody knows yet whether it is one.
    pub(super) fn prints_live(&self) -> bool {
        let checked = self.options.prompt.terms.answer_schema.is_some();
        self.options.format == Format::Text && self.options.live && !checked
    }

    /// Ends the line that live text stands on, so that what comes next begins a new one.
    pub(super) fn break_live(&mut self, out: &mut Effects<Effect>) {
        if let Some(text) = self.live.break_line() {
            self.out(text, out);
        }
    }

    /// Text as it may be printed.
    pub(super) fn shown(&self, text: &str) -> String {
        if self.options.terminal { text::printable(text) } else { text.to_string() }
    }

    /// Whether nobody wants to be told more than the answer.
    pub(super) fn is_quiet(&self) -> bool {
        self.options.format == Format::Text && self.options.quiet
    }

    /// Tells a person what is going on.
    pub(super) fn tell(&self, line: String, out: &mut Effects<Effect>) {
        if self.options.format == Format::Text && !self.is_quiet() {
            out.push(Effect::Err(format!("{}\n", text::printable(&line.replace(['\n', '\r'], " ")))));
        }
    }
}

fn with_line_break(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
