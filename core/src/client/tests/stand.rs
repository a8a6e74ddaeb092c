//! A run whose events are scripted, and what has come out of it.

use serde_json::Value;

use super::super::{Earlier, Effect, Format, Gathered, Headless, Input, Options, Signal, Which};
use crate::content::{Block, Finish, ToolCall, ToolOutcome, ToolStatus, Usage};
use crate::ids::{CallId, MessageId, RunId, SessionId, TurnId};
use crate::machine::{Effects, Entry, Machine};
use crate::model::ModelRef;
use crate::protocol::{Event, EventId, Reply, Request};
use crate::record::{Reason, Record, RunFinished, RunStatus, Totals, TurnOutcome};
use crate::rig::words;
use crate::time::Timestamp;

pub(super) const TURN: TurnId = TurnId(1);

/// A run under test.
pub(super) struct Stand {
    pub(super) now: Timestamp,
    pub(super) run: Headless,
    /// What it asked at the door.
    pub(super) requests: Vec<Request>,
    pub(super) out: String,
    pub(super) err: String,
    /// What it wants kept.
    pub(super) keep: Vec<String>,
    /// The code that it has ended with.
    pub(super) exit: Option<u8>,
    /// How many times each event comes, as after a connection that was lost and made again.
    pub(super) times: usize,
    /// Whether the workspace opens as soon as that is asked for.
    pub(super) opens: bool,
    seq: u64,
}

pub(super) fn options(format: Format) -> Options {
    Options {
        prompt: words::run("p", ""),
        session: Which::New(words::session()),
        fork: None,
        earlier: Earlier::Reachable,
        keeps: false,
        format,
        live: false,
        terminal: false,
        quiet: false,
        fail_on_tool_error: false,
        timeout: None,
        version: "1.2.3".into(),
        cwd: "/w".into(),
        warnings: Vec::new(),
    }
}

impl Stand {
    pub(super) fn new(options: Options) -> Self {
        let now = Timestamp::from_millis(1_000);
        let run = Headless::new(options, now);
        let requests = Vec::new();
        let (out, err, keep) = (String::new(), String::new(), Vec::new());
        Self { now, run, requests, out, err, keep, exit: None, times: 1, opens: true, seq: 0 }
    }

    /// A run whose prompt is accepted and whose turn and step have begun.
    pub(super) fn begun(options: Options) -> Self {
        let mut stand = Self::new(options);
        stand.accept();
        stand.record(Record::TurnStarted {
            turn: TURN,
            run: RunId::new("run-p"),
            prompt: words::run("p", "").id,
            message: MessageId(1),
        });
        stand.step(1);
        stand
    }

    /// Brings the run to where its prompt is accepted.
    pub(super) fn accept(&mut self) {
        self.feed(Input::Begin);
        self.ready("Do it.");
        let (session, prompt) = (words::session(), words::run("p", "").id);
        let run = RunId::new("run-p");
        self.feed(Input::Reply(Box::new(Reply::Accepted { session, prompt, run, sequence: 1, ended: None })));
    }

    pub(super) fn ready(&mut self, text: &str) {
        self.feed(Input::Ready(Box::new(Gathered { text: text.into(), ..Gathered::default() })));
    }

    pub(super) fn feed(&mut self, input: Input) {
        self.take(input);
        assert_eq!(self.run.is_over(), self.exit.is_some());
    }

    fn take(&mut self, input: Input) {
        let mut out = Effects::new();
        self.run.handle(self.now, input, &mut out);
        assert!(out.records().is_empty(), "a client records nothing");
        for effect in out.into_parts().1 {
            let lost = matches!(effect, Effect::Exit(141 | 1) | Effect::Err(_));
            assert!(
                self.exit.is_none() || lost,
                "nothing comes after the end, unless that was not delivered"
            );
            match effect {
                Effect::Open if self.opens => self.take(Input::Opened),
                Effect::Open => {}
                Effect::Request(request) => self.requests.push(*request),
                Effect::Keep(text) => self.keep.push(text),
                Effect::Out(text) => self.out.push_str(&text),
                Effect::Err(text) => self.err.push_str(&text),
                Effect::Exit(code) => self.exit = Some(code),
            }
        }
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        self.feed(Input::Signal(signal));
    }

    pub(super) fn tick_at(&mut self, millis: u64) {
        self.now = Timestamp::from_millis(millis);
        self.feed(Input::Tick);
    }

    pub(super) fn record(&mut self, record: Record) {
        self.record_of(&words::session(), record);
    }

    pub(super) fn record_of(&mut self, session: &SessionId, record: Record) {
        self.seq += 1;
        let id = EventId { log: "log".into(), seq: self.seq };
        let entry = Entry { session: session.clone(), at: self.now, record };
        for _ in 0..self.times {
            self.feed(Input::Event(Box::new(Event::Record { id: id.clone(), entry: entry.clone() })));
        }
    }

    pub(super) fn step(&mut self, step: u32) {
        let model = ModelRef { provider: "p".into(), model: "m".into() };
        let step = words::call_id(TURN.0, step, 1).step;
        self.record(Record::StepStarted { step, message: MessageId(u64::from(step.step) + 1), model });
    }

    pub(super) fn text(&mut self, text: &str) {
        let piece = Record::TextAppended { message: MessageId(2), block: 0, text: text.into() };
        self.record(piece);
    }

    /// The answer of a step is complete.
    pub(super) fn answered(&mut self, step: u32, text: &str, calls: &[CallId]) {
        let call = |id: &CallId| {
            Block::Call(ToolCall {
                id: *id,
                provider_id: String::new(),
                name: "bash".into(),
                input: r#"{"command":"make"}"#.into(),
                opaque: None,
                outcome: None,
            })
        };
        let text = (!text.is_empty()).then(|| Block::Text(text.into()));
        let blocks = text.into_iter().chain(calls.iter().map(call)).collect();
        let message = MessageId(u64::from(step) + 1);
        self.record(Record::MessageFinished {
            message,
            blocks,
            finish: Finish::EndTurn,
            usage: Usage::default(),
        });
    }

    /// A call runs and ends.
    pub(super) fn tool(&mut self, call: CallId, status: ToolStatus, text: &str) {
        let message = MessageId(2);
        self.record(Record::ToolCallStarted { message, call });
        let outcome = ToolOutcome::text(status, text);
        self.record(Record::ToolCallFinished { message, call, outcome, duration: 1_250 });
    }

    pub(super) fn step_finished(&mut self, step: u32) {
        let step = words::call_id(TURN.0, step, 1).step;
        let usage = Usage { input: 10, output: 2, ..Usage::default() };
        self.record(Record::StepFinished {
            step,
            usage,
            cost: Some(1_500_000),
            context: 12,
            estimated: false,
        });
    }

    /// The run's own end comes.
    pub(super) fn finish(&mut self, status: RunStatus, reason: Reason) {
        self.record(Record::TurnFinished { turn: TURN, outcome: TurnOutcome::Completed, totals: None });
        self.record(Record::RunFinished(finished(status, reason)));
    }

    /// The lines of standard output as JSON.
    pub(super) fn lines(&self) -> Vec<Value> {
        assert!(self.out.is_empty() || self.out.ends_with('\n'), "no line is cut short");
        self.out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
    }

    pub(super) fn kinds(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["type"].as_str().unwrap_or_default().to_string()).collect()
    }

    pub(super) fn last(&self) -> Value {
        self.lines().pop().unwrap_or_default()
    }
}

pub(super) fn finished(status: RunStatus, reason: Reason) -> RunFinished {
    RunFinished {
        run: RunId::new("run-p"),
        prompt: words::run("p", "").id,
        status,
        reason,
        message: if status == RunStatus::Ok { String::new() } else { "So it ended.".into() },
        answer: None,
        totals: Totals { steps: 1, ..Totals::default() },
        duration: 77,
    }
}
