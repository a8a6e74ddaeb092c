//! One `hostler run`: which events are ours, what goes to standard output, when it is over, and with which code.
//!
//! It prints the terminal line exactly once and nothing after it, whatever happens: the run's own record, a refusal, a
//! lost log, a signal that outlasts its bound, or a reader that went away.

mod events;
mod report;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::lines;
use super::live::Live;
use crate::content::Attachment;
use crate::ids::{CallId, MessageId, PromptId, RunId, SessionId, TurnId};
use crate::machine::{Effects, Machine};
use crate::prompt::{PermissionMode, Prompt};
use crate::protocol::{Command, Event, EventId, Query, Refusal, RefusalKind, Reply, Request, SessionChoice};
use crate::record::{CancelScope, Reason, RunFinished, RunStatus, Totals};
use crate::time::{Deadline, Timestamp};
use crate::tools::Rule;

/// How long a run is given to settle after the first signal, in milliseconds.
const SETTLE: u64 = 4_500;

/// How long after that a reader may take for what is left to be said. Both together are less than the five seconds that are
/// promised by as much as a process may need to end.
const LAST_WORD: u64 = 250;

/// What a run is to do and how it reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The prompt; its run id names the run.
    pub prompt: Prompt,
    /// The session that it is for.
    pub session: Which,
    /// The id of the session that is made from that one, if it is to be left as it is.
    pub fork: Option<SessionId>,
    /// Whether the answer is also kept in a file.
    pub keeps: bool,
    /// How it reports.
    pub format: Format,
    /// Whether text is printed as it comes (format text only).
    pub live: bool,
    /// Whether standard output is a terminal, which must not be made to obey the text.
    pub terminal: bool,
    /// Whether progress is kept to itself (format text only).
    pub quiet: bool,
    /// Whether a failed tool makes the run fail.
    pub fail_on_tool_error: bool,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The version of the program.
    pub version: String,
    /// The working directory, for the first line.
    pub cwd: String,
    /// What to warn about at the start.
    pub warnings: Vec<String>,
}

/// What a run needs beside its command line: gathered after its first line, because it may take time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// The prompt's text: what stood on the command line and what came on standard input.
    pub text: String,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
    /// What is permitted for always where it works.
    pub rules: Vec<Rule>,
    /// What stands in the place of the principles in the system prompt.
    pub system: Option<String>,
    /// The JSON Schema that the answer must satisfy, as JSON text.
    #[serde(default)]
    pub schema: Option<String>,
    /// What there is to say about how it came together.
    pub warning: Option<String>,
}

/// The session that a run is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// A new one with that id.
    New(SessionId),
    /// The one that changed last; a new one with that id if there is none.
    Latest(SessionId),
    /// The one whose id begins so.
    Prefix(String),
}

/// How a run reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The answer.
    Text,
    /// One JSON object at the end.
    Json,
    /// A JSON object a line, as it happens.
    Jsonl,
}

/// A signal that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// What can happen to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// It begins. Nothing else comes before.
    Begin,
    /// What the run needs is gathered.
    Ready(Box<Gathered>),
    /// Something that the run needs cannot be had, which makes no sense of what was asked for; one sentence says what.
    Mistake(String),
    /// The workspace is open.
    Opened,
    /// The workspace could not be opened, and why.
    Unavailable(Refusal),
    /// The server that has the run was lost and does not come back, and why, in one sentence.
    ServerLost(String),
    /// The request that was made last is answered.
    Reply(Box<Reply>),
    /// Something happened in the workspace.
    Event(Box<Event>),
    /// The answer is in its file, or why it is not, in one sentence.
    Kept(Result<(), String>),
    /// A signal came.
    Signal(Signal),
    /// The reader of standard output went away. It is the one thing that still matters when the run is over: what was
    /// printed last is then lost.
    OutputClosed,
    /// Standard output cannot be written although somebody reads it, and why. It matters as long as that does.
    OutputFailed(String),
    /// The time is over that a reader of standard output is given, and it has not taken all of it.
    Undelivered,
    /// Time has passed.
    Tick,
}

/// What a run asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Open the workspace, which may take time. Nothing is asked before.
    Open,
    /// Ask at the door.
    Request(Box<Request>),
    /// Put the answer into its file, which then has all of it or is as it was.
    Keep(String),
    /// Write to standard output, in order.
    Out(String),
    /// Write a line to standard error.
    Err(String),
    /// Write nothing more and end the process with that code.
    Exit(u8),
}

impl crate::machine::Effect for Effect {
    fn id(&self) -> Option<crate::ids::EffectId> {
        None
    }
}

/// The state of a run as its client sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headless {
    options: Options,
    phase: Phase,
    session: Option<SessionId>,
    began: Timestamp,
    /// Why it is to end, and until when it may settle.
    ending: Option<(Reason, Timestamp)>,
    /// How many lines were printed.
    lines: u64,
    cursor: Option<EventId>,
    turn: Option<TurnId>,
    /// Whether that turn sums the conversation up.
    summing_up: bool,
    /// The texts of the run's messages that have some.
    answer: Option<(MessageId, String)>,
    /// The calls of the step that is under way: name and arguments.
    calls: BTreeMap<CallId, (String, String)>,
    /// Whether the reader of standard output is gone.
    closed: bool,
    /// Whether there is a reader and it cannot be written all the same.
    failed: bool,
    /// Where printing text as it comes stands.
    live: Live,
    /// What there is to say about how the session's next turn was prepared.
    #[serde(default)]
    notices: Vec<String>,
    /// What the run has used, as far as its records have said.
    used: Totals,
    /// How the run ended and when, while its answer is being kept.
    unsaid: Option<(Timestamp, RunFinished)>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Its prompt is being put together.
    Reading,
    /// Its workspace is being opened.
    Opening,
    /// Its session is being looked up.
    Finding,
    /// Its session is being made from another one.
    Forking,
    /// It is submitted and not yet accepted.
    Submitted,
    /// It is accepted.
    Accepted,
    /// It has ended, and its answer is being kept.
    Keeping,
    /// It is over.
    Over,
}

impl Machine for Headless {
    type Input = Input;
    type Effect = Effect;

    fn handle(&mut self, now: Timestamp, input: Input, out: &mut Effects<Effect>) {
        if self.phase == Phase::Over {
            return self.after_the_end(now, &input, out);
        }
        match input {
            Input::Begin => self.begin(now, out),
            Input::Ready(gathered) => self.ready(now, *gathered, out),
            Input::Mistake(message) => self.mistake(now, &message, out),
            Input::Opened => self.opened(out),
            Input::Unavailable(refusal) => self.refused(now, &refusal, out),
            Input::Reply(reply) => self.reply(now, *reply, out),
            // The run has ended; what happens to others meanwhile does not matter.
            Input::Event(_) | Input::ServerLost(_) if self.phase == Phase::Keeping => {}
            Input::ServerLost(why) => self.server_lost(now, &why, out),
            Input::Event(event) => self.event(now, *event, out),
            Input::Kept(kept) => self.kept(kept, out),
            Input::Signal(signal) => self.signal(now, signal, out),
            Input::OutputClosed => {
                self.closed = true;
                self.end(now, Reason::OutputClosed, out);
            }
            Input::OutputFailed(why) => {
                self.lost(&why, out);
                self.end(now, Reason::Storage, out);
            }
            Input::Undelivered => {}
            Input::Tick => self.tick(now, out),
        }
    }

    fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        match (self.phase, self.ending, self.options.timeout) {
            (Phase::Over, _, _) => None,
            (_, Some((_, until)), _) => Some((until, Deadline::Exit)),
            (_, None, Some(timeout)) => Some((self.began.plus(timeout), Deadline::Run)),
            (_, None, None) => None,
        }
    }
}

impl Headless {
    /// A run that has not begun.
    pub fn new(options: Options, now: Timestamp) -> Self {
        Self {
            options,
            phase: Phase::Reading,
            session: None,
            began: now,
            ending: None,
            lines: 0,
            cursor: None,
            turn: None,
            summing_up: false,
            answer: None,
            calls: BTreeMap::new(),
            closed: false,
            failed: false,
            live: Live::default(),
            notices: Vec::new(),
            used: Totals::default(),
            unsaid: None,
        }
    }

    /// Whether it has asked the process to end.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether what it prints can still reach somebody, as far as is known.
    pub fn has_reader(&self) -> bool {
        !self.closed
    }

    /// By when the process must have ended, once something asks it to.
    pub fn must_end_by(&self) -> Option<Timestamp> {
        self.ending.map(|(_, until)| until.plus(LAST_WORD))
    }

    fn run(&self) -> RunId {
        self.options.prompt.run_id()
    }

    fn prompt(&self) -> &PromptId {
        &self.options.prompt.id
    }

    fn begin(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        let (version, cwd) = (self.options.version.clone(), self.options.cwd.clone());
        let model = self.options.prompt.terms.model.clone();
        let permission_mode = match self.options.prompt.terms.permission {
            PermissionMode::Headless => "deny",
            PermissionMode::Yolo => "yolo",
            PermissionMode::Interactive => "ask",
            PermissionMode::Plan => "plan",
        };
        let started =
            lines::RunStarted { version: &version, model: model.as_deref(), cwd: &cwd, permission_mode };
        self.line(now, "run.started", &started, None, out);
        for warning in self.options.warnings.clone() {
            self.warn(now, &warning, out);
        }
    }

    fn ready(&mut self, now: Timestamp, gathered: Gathered, out: &mut Effects<Effect>) {
        if self.phase != Phase::Reading {
            return;
        }
        let Gathered { text, attachments, rules, system, schema, warning } = gathered;
        if let Some(warning) = warning {
            self.warn(now, &warning, out);
        }
        if text.trim().is_empty() {
            let message = "The prompt is empty; say what is to be done, as an argument or on standard input.";
            return self.mistake(now, message, out);
        }
        let prompt = &mut self.options.prompt;
        prompt.text = text;
        prompt.attachments = attachments;
        prompt.terms.rules.extend(rules);
        prompt.terms.system = system.or(prompt.terms.system.take());
        prompt.terms.answer_schema = schema.or(prompt.terms.answer_schema.take());
        self.phase = Phase::Opening;
        out.push(Effect::Open);
    }

    /// The session is looked up, or the prompt submitted to a new one.
    fn opened(&mut self, out: &mut Effects<Effect>) {
        if self.phase != Phase::Opening {
            return;
        }
        self.phase = Phase::Finding;
        let query = match &self.options.session {
            Which::New(id) => return self.submit(SessionChoice::New { id: id.clone() }, out),
            Which::Latest(_) => Query::LatestSession,
            Which::Prefix(prefix) => Query::FindSession { prefix: prefix.clone() },
        };
        out.push(Effect::Request(Box::new(Request::Query(query))));
    }

    /// What was asked for makes no sense.
    fn mistake(&mut self, now: Timestamp, message: &str, out: &mut Effects<Effect>) {
        if self.phase == Phase::Reading {
            self.finish(now, self.unrecorded(now, RunStatus::Error, Reason::Usage, message), out);
        }
    }

    fn warn(&mut self, now: Timestamp, message: &str, out: &mut Effects<Effect>) {
        self.line(now, "warning", &lines::Warning { message }, None, out);
        if self.options.format != Format::Jsonl {
            out.push(Effect::Err(format!("hostler: warning: {}\n", super::one_line(message))));
        }
    }

    fn submit(&mut self, session: SessionChoice, out: &mut Effects<Effect>) {
        self.phase = Phase::Submitted;
        self.session = Some(session.id().clone());
        let prompt = self.options.prompt.clone();
        out.push(Effect::Request(Box::new(Request::Command(Command::Submit { session, prompt }))));
    }

    fn reply(&mut self, now: Timestamp, reply: Reply, out: &mut Effects<Effect>) {
        match (self.phase, reply) {
            (Phase::Finding, Reply::Session(info)) => match self.options.fork.clone() {
                Some(session) => {
                    self.phase = Phase::Forking;
                    let fork = Command::Fork { from: info.id, session };
                    out.push(Effect::Request(Box::new(Request::Command(fork))));
                }
                None => self.submit(SessionChoice::Existing { id: info.id }, out),
            },
            (Phase::Forking, Reply::Forked { session }) => {
                self.submit(SessionChoice::Existing { id: session }, out);
            }
            (Phase::Finding, Reply::Refused(refusal)) => match &self.options.session {
                Which::Latest(id) if refusal.kind == RefusalKind::NotFound && self.options.fork.is_none() => {
                    let id = id.clone();
                    self.submit(SessionChoice::New { id }, out);
                }
                _ => self.refused(now, &refusal, out),
            },
            (Phase::Submitted, Reply::Accepted { ended: None, .. }) => self.phase = Phase::Accepted,
            // It was submitted before and is over, so that nothing more will happen to it: the log says how.
            (Phase::Submitted, Reply::Accepted { run, ended: Some(_), .. }) => {
                self.phase = Phase::Accepted;
                let query = Query::FindRun { prefix: run.as_str().to_string() };
                out.push(Effect::Request(Box::new(Request::Query(query))));
            }
            (Phase::Accepted, Reply::Runs(runs)) => {
                let own = runs.into_iter().find(|info| info.prompt == *self.prompt());
                let lost = "The run is over, but how it ended cannot be found; see `hostler runs list`.";
                let lost = || self.unrecorded(now, RunStatus::Error, Reason::Storage, lost);
                let finished = own.and_then(|info| info.finished).unwrap_or_else(lost);
                self.finish(now, finished, out);
            }
            (_, Reply::Refused(refusal)) => self.refused(now, &refusal, out),
            (
                _,
                Reply::Accepted { .. }
                | Reply::Session(_)
                | Reply::Cancelled { .. }
                | Reply::Cleared { .. }
                | Reply::Renamed
                | Reply::Forked { .. }
                | Reply::Deleted
                | Reply::Answered { .. },
            ) => {}
            (_, Reply::Sessions(_) | Reply::Transcript(_) | Reply::Runs(_) | Reply::Asks(_)) => {}
        }
    }

    /// The run never was: it ends here, because no record will end it.
    fn refused(&mut self, now: Timestamp, refusal: &Refusal, out: &mut Effects<Effect>) {
        let (status, reason) = match (refusal.kind, self.ending) {
            // Nothing was done, as whoever asked for its end wanted.
            (RefusalKind::Cancelled, Some(_)) => return self.give_up(now, out),
            (RefusalKind::Cancelled | RefusalKind::Closing, None) => (RunStatus::Cancelled, Reason::Client),
            (RefusalKind::Storage, _) => (RunStatus::Error, Reason::Storage),
            (RefusalKind::Closing, Some(_)) => (RunStatus::Cancelled, Reason::Shutdown),
            (
                RefusalKind::Invalid | RefusalKind::NotFound | RefusalKind::Ambiguous | RefusalKind::Conflict,
                _,
            ) => (RunStatus::Error, Reason::Usage),
        };
        self.finish(now, self.unrecorded(now, status, reason, &refusal.message), out);
    }

    /// Nobody can say what becomes of the run, unless it never was. Whoever wanted its end has it as far as that goes.
    fn server_lost(&mut self, now: Timestamp, why: &str, out: &mut Effects<Effect>) {
        if self.ending.is_some() {
            return self.give_up(now, out);
        }
        let message = match self.phase {
            Phase::Submitted | Phase::Accepted => {
                format!(
                    "{why} How the run ended can be seen with `hostler runs show {}`.",
                    self.run().as_str()
                )
            }
            Phase::Reading
            | Phase::Opening
            | Phase::Finding
            | Phase::Forking
            | Phase::Keeping
            | Phase::Over => {
                format!("{why} Nothing was begun; try again.")
            }
        };
        self.finish(now, self.unrecorded(now, RunStatus::Error, Reason::ServerLost, &message), out);
    }

    fn unrecorded(&self, now: Timestamp, status: RunStatus, reason: Reason, message: &str) -> RunFinished {
        RunFinished {
            run: self.run(),
            prompt: self.prompt().clone(),
            status,
            reason,
            message: message.to_string(),
            answer: self.answer.as_ref().map(|(message, _)| *message),
            totals: self.used,
            duration: now.since(self.began),
        }
    }

    fn signal(&mut self, now: Timestamp, signal: Signal, out: &mut Effects<Effect>) {
        let again = self.ending.is_some() && signal == Signal::Interrupt;
        if again {
            return self.hurry(now, out);
        }
        self.end(now, reason_of(signal), out);
    }

    /// Asks for the end of the run, once. What has not been submitted ends here.
    fn end(&mut self, now: Timestamp, reason: Reason, out: &mut Effects<Effect>) {
        if self.ending.is_some() {
            return;
        }
        self.ending = Some((reason, now.plus(SETTLE)));
        match (self.phase, self.session.clone()) {
            (Phase::Submitted | Phase::Accepted, Some(session)) => {
                let scope = CancelScope::Run(self.run());
                let cancel = Command::Cancel { session, scope, reason };
                out.push(Effect::Request(Box::new(Request::Command(cancel))));
            }
            _ => self.give_up(now, out),
        }
    }

    /// Ends the run here and now, and waits no longer for a reader than its last word takes.
    fn hurry(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        self.ending = self.ending.map(|(reason, until)| (reason, until.min(now)));
        self.give_up(now, out);
    }

    /// Ends the run here and now; what is still under way is cut off with the process.
    fn give_up(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        let Some((reason, _)) = self.ending else { return };
        let message = match reason {
            Reason::Timeout => "The run took as long as it may; allow more with --timeout.",
            Reason::Storage => "Standard output cannot be written, so the run was cancelled.",
            _ => "The run was cancelled.",
        };
        let terminal = self.unrecorded(now, cancelled_status(reason), reason, message);
        self.finish(now, terminal, out);
    }

    fn tick(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        match (self.ending, self.options.timeout) {
            (Some((_, until)), _) if until <= now => self.give_up(now, out),
            (None, Some(timeout)) if self.began.plus(timeout) <= now => self.end(now, Reason::Timeout, out),
            _ => {}
        }
    }
}

fn reason_of(signal: Signal) -> Reason {
    match signal {
        Signal::Hangup => Reason::Sighup,
        Signal::Interrupt => Reason::Sigint,
        Signal::Terminate => Reason::Sigterm,
    }
}

/// The status of a run that was stopped for that reason.
fn cancelled_status(reason: Reason) -> RunStatus {
    match reason {
        Reason::Timeout => RunStatus::Limit,
        Reason::Storage => RunStatus::Error,
        _ => RunStatus::Cancelled,
    }
}
