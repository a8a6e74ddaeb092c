//! Tells a story to a rig.

use hostler_core::content::{ErrorClass, ErrorInfo, ToolStatus, Usage};
use hostler_core::flight;
use hostler_core::ids::{AttemptId, CallId, ClientId, RunId, SessionId};
use hostler_core::model::{CallError, CallErrorKind, FinishReason, ModelEvent, Preparation};
use hostler_core::prompt::{PermissionMode, Prompt};
use hostler_core::protocol::{Answer, Breadth, Command, Holder};
use hostler_core::record::{CancelScope, Record};
use hostler_core::session::{self, Settings, Verdict};
use hostler_core::workspace::{Input, Opened};

use super::{Act, Census, End, Says, Scene, Story, Wait};
use crate::rig::{Rig, words};

const TOOLS: [(&str, &str); 10] = [
    ("ls", "{}"),
    ("view", r#"{"file_path":"a"}"#),
    ("bash", r#"{"command":"make"}"#),
    ("edit", "{"),
    ("rm", "{}"),
    ("glob", r#"{"pattern":"*"}"#),
    ("write", r#"{"file_path":"a","content":""}"#),
    ("agent", r#"{"prompt":"a task"}"#),
    ("todos", r#"{"todos":[{"content":"a","status":"pending"}]}"#),
    ("agent", r#"{"prompt":"another"}"#),
];

/// A context window that is soon full.
const WINDOW: u64 = 400;

/// A rig on which a story is played.
pub(crate) struct Stage {
    pub(super) rig: Rig,
    pub(super) census: Census,
    forks: u32,
}

/// One of the sessions of all stories.
pub(super) fn session(number: u8) -> SessionId {
    SessionId::new(["s", "other"][usize::from(number) % 2])
}

impl Stage {
    pub(crate) fn new(serving: bool) -> Self {
        let settings = Settings { serving, answer_bytes: 200, attempts: 3, ..Settings::default() };
        Self { rig: Rig::with(settings), census: Census::default(), forks: 0 }
    }

    /// Plays the story and brings everything in it to its end. Says what happened in it.
    pub(crate) fn play(mut self, story: &Story) -> Census {
        self.act_out(story);
        self.census
    }

    fn act_out(&mut self, story: &Story) {
        for scene in &story.0 {
            self.scene(scene);
        }
        self.census.records(&self.rig.log);
        self.close();
    }

    /// Plays the story, and replays what is left of its flight record with its texts hidden.
    pub(crate) fn play_for_others(mut self, story: &Story) -> Census {
        self.act_out(story);
        let text = self.rig.flight();
        let redacted = flight::redact(&text).unwrap_or_else(|error| panic!("{error}"));
        let (before, after) = (flight::replay(&text), flight::replay(&redacted.text));
        assert_eq!(before.as_ref().map(|report| &report.differs), Ok(&None));
        assert_eq!(before, after);
        assert_eq!(redacted.text.len(), text.len(), "every text has a placeholder of its length");
        assert!(!redacted.text.contains("prompt "), "a prompt is still there: {}", redacted.text);
        self.census
    }

    fn scene(&mut self, scene: &Scene) {
        match (scene.wait, self.rig.deadline()) {
            (Wait::Millis(millis), _) => self.rig.wait(millis),
            (Wait::UntilTheNextDeadline, Some(_)) => drop(self.rig.tick()),
            (Wait::UntilTheNextDeadline, None) => {}
        }
        let inputs: Vec<_> = scene.acts.iter().flat_map(|act| self.inputs(act)).collect();
        match scene.end {
            End::Well => drop(self.rig.batch(inputs)),
            End::Uncommitted => {
                self.census.crash(&self.rig);
                self.rig.crash_uncommitted(inputs);
            }
            End::Unstarted => {
                self.census.crash(&self.rig);
                self.rig.crash_unstarted(inputs);
            }
        }
    }

    fn inputs(&mut self, act: &Act) -> Vec<Input> {
        match act {
            Act::Answer { nth, tools, reason } => self.answer(*nth, tools, *reason),
            Act::GoOn { nth, how } => self.go_on(*nth, *how),
            _ => self.input(act).into_iter().collect(),
        }
    }

    /// The first thing that is under way comes to something.
    fn go_on(&mut self, nth: u8, how: u8) -> Vec<Input> {
        let flights = &self.rig.flights;
        let act = if !flights.opens.is_empty() {
            Act::Open { nth, fails: false }
        } else if !flights.prepares.is_empty() {
            Act::Prepared { nth, fails: how == 0, small: how.is_multiple_of(2) }
        } else if !flights.inspections.is_empty() {
            Act::Inspected { nth, inside: !how.is_multiple_of(8) }
        } else if !flights.checks.is_empty() {
            Act::Checked { nth, how }
        } else if !flights.titles.is_empty() && how.is_multiple_of(4) {
            Act::Title { nth, how: how / 4 }
        } else if !flights.tools.is_empty() {
            // Those take their time.
            let takes_long = !how.is_multiple_of(3);
            return if takes_long {
                Vec::new()
            } else {
                self.inputs(&Act::ToolFinished { nth, status: how })
            };
        } else {
            return self.said_and_done(nth, how);
        };
        self.input(&act).into_iter().collect()
    }

    /// A whole answer, with words; about every second one fills the window, and a summary takes its time.
    fn said_and_done(&self, nth: u8, how: u8) -> Vec<Input> {
        let Some((session, attempt)) = pick(self.rig.flights.calls.iter(), nth) else { return Vec::new() };
        let turn = self.rig.durable(session).turn.as_ref();
        let sums_up = turn.is_some_and(|turn| turn.purpose != session::Purpose::Work);
        if sums_up && !how.is_multiple_of(16) {
            return Vec::new();
        }
        let said = |event| words::to(session, session::Input::Model { attempt: *attempt, event });
        let words = [words::text(9, "some words"), event(&Says::Usage { much: how.is_multiple_of(2) })];
        // A reader, now and then a sub-agent or something of the session's own.
        let tools = [how, how / 2, how / 3];
        let tools = &tools[..usize::from(how / 2) % 4];
        let reason = if tools.is_empty() { 4 } else { 0 };
        words.into_iter().map(said).chain(self.answer(nth, tools, reason)).collect()
    }

    /// A whole answer at once.
    fn answer(&self, nth: u8, tools: &[u8], reason: u8) -> Vec<Input> {
        let Some((session, attempt)) = pick(self.rig.flights.calls.iter(), nth) else { return Vec::new() };
        let calls = (10..).zip(tools).flat_map(|(block, tool)| call(block, *tool));
        let events = calls.chain([ModelEvent::Finished(finish(reason))]);
        let said = |event| words::to(session, session::Input::Model { attempt: *attempt, event });
        events.map(said).collect()
    }

    fn input(&mut self, act: &Act) -> Option<Input> {
        self.census.act(&self.rig, act);
        match act {
            Act::Submit { session: to, prompt, own_run, yolo, stays } => {
                let mut prompt = self.prompt(*prompt, *own_run, *yolo);
                prompt.terms.stays = *stays;
                prompt.terms.title = !*stays;
                Some(self.rig.request(words::submit(&session(*to), prompt)).1)
            }
            Act::Cancel { session: of } => self.cancel(*of, CancelScope::Session),
            Act::CancelRun { session: of, prompt, own_run } => {
                let run = if *own_run { format!("run-p{prompt}") } else { format!("p{prompt}") };
                self.cancel(*of, CancelScope::Run(RunId::new(run)))
            }
            Act::ClearQueue { session: of } => {
                Some(self.rig.request(Command::ClearQueue { session: session(*of) }).1)
            }
            Act::Fork { session: of } => {
                self.forks += 1;
                let fork = SessionId::new(format!("fork-{}", self.forks));
                Some(self.rig.request(Command::Fork { from: session(*of), session: fork }).1)
            }
            Act::Held { session: of } => {
                let holder = Holder { pid: 1, since: self.rig.now };
                Some(Input::SessionHeld { session: session(*of), holder })
            }
            Act::Open { nth, fails } => self.open(*nth, *fails),
            Act::Permit { nth, how } => self.permit(*nth, *how),
            _ => self.outcome(act),
        }
    }

    fn cancel(&mut self, of: u8, scope: CancelScope) -> Option<Input> {
        Some(self.rig.request(words::cancel(&session(of), scope)).1)
    }

    /// A person answers, if anybody was asked for anything.
    fn permit(&mut self, nth: u8, how: u8) -> Option<Input> {
        let asked = |session: &SessionId| {
            let durable = self.rig.is_open(session).then(|| self.rig.durable(session))?;
            Some((session.clone(), pick(durable.asks.iter(), nth)?.id.clone()))
        };
        let (session, ask) = [session(nth), session(nth ^ 1)].iter().find_map(asked)?;
        let answer = [
            Answer::Once,
            Answer::Session(Breadth::Exact),
            Answer::Always(Breadth::Directory),
            Answer::Once,
            Answer::Deny,
        ][usize::from(how) % 5];
        let client = ClientId::new(format!("client {}", how % 2));
        Some(self.rig.request(Command::Answer { session, ask, answer, client }).1)
    }

    /// A lock comes, once for each time that it was asked for.
    fn open(&mut self, nth: u8, fails: bool) -> Option<Input> {
        let session = pick(self.rig.flights.opens.iter(), nth)?.clone();
        self.rig.flights.opens.remove(&session);
        if fails {
            return Some(Input::SessionOpened {
                session,
                opened: Opened::Failed("no".into()),
                children: Vec::new(),
                taken: Vec::new(),
            });
        }
        Some(self.rig.opening(&session))
    }

    fn prompt(&self, number: u8, own_run: bool, yolo: bool) -> Prompt {
        let (id, text) = (format!("p{number}"), format!("prompt {number}."));
        let mut base = if yolo { words::prompt(&id, &text) } else { words::headless(&id, &text) };
        if !yolo && !number.is_multiple_of(3) {
            base.terms.permission = PermissionMode::Interactive;
        }
        base.terms.answer_schema = (own_run && number.is_multiple_of(2)).then(|| "{}".to_owned());
        Prompt { run: own_run.then(|| RunId::new(format!("run-{id}"))), ..base }
    }

    /// What comes of something that is under way, if anything is.
    fn outcome(&self, act: &Act) -> Option<Input> {
        let flights = &self.rig.flights;
        match act {
            Act::Prepared { nth, fails, small } => {
                let (session, prompt) = pick(flights.prepares.iter(), *nth)?.clone();
                let failed = ErrorInfo::new(ErrorClass::NoProvider, "there is none");
                let ready = Preparation { context_window: small.then_some(WINDOW), ..words::preparation() };
                let result = Box::new(if *fails { Err(failed) } else { Ok(ready) });
                Some(words::to(&session, session::Input::Prepared { prompt, result }))
            }
            Act::Model { nth, says } => {
                let (session, attempt) = pick(flights.calls.iter(), *nth)?.clone();
                Some(words::to(&session, session::Input::Model { attempt, event: event(says) }))
            }
            Act::Inspected { nth, inside } => {
                let (session, call) = pick(flights.inspections.keys(), *nth)?.clone();
                Some(words::to(&session, session::Input::Inspected { call, intent: words::reading(*inside) }))
            }
            Act::Checked { nth, how } => {
                let (session, step) = pick(flights.checks.iter(), *nth)?.clone();
                let verdict = match how % 8 {
                    0 | 1 => Verdict::Satisfied,
                    2 => Verdict::Undecided("It cannot be told.".into()),
                    _ => Verdict::Violated("It is wrong.".into()),
                };
                Some(words::to(&session, session::Input::Checked { step, verdict }))
            }
            Act::ToolOutput { nth } => {
                let (session, call) = pick(flights.tools.keys(), *nth)?.clone();
                Some(words::to(&session, session::Input::ToolOutput { call, text: "out".into() }))
            }
            Act::ToolFinished { nth, status } => {
                let (session, call) = pick(flights.tools.keys(), *nth)?.clone();
                let (status, text) = ended(*status);
                let outcome = words::outcome(status, text);
                Some(words::to(&session, session::Input::ToolFinished { call, outcome }))
            }
            Act::Stray { session: of, nth, what } => {
                let session = session(*of);
                Some(words::to(&session, self.stray(&session, *nth, *what)?))
            }
            Act::Submit { .. } | Act::Cancel { .. } | Act::CancelRun { .. } => None,
            Act::ClearQueue { .. } | Act::Fork { .. } | Act::Held { .. } | Act::Open { .. } => None,
            Act::Title { nth, how } => {
                let session = pick(flights.titles.iter(), *nth)?.clone();
                let event = match how % 4 {
                    0 => words::text(0, "a name"),
                    1 => words::used(7, 1),
                    2 => words::stop(),
                    _ => ModelEvent::Failed(failure(*how, None)),
                };
                Some(words::to(&session, session::Input::Title { event }))
            }
            Act::Answer { .. } | Act::GoOn { .. } | Act::Permit { .. } => None,
        }
    }

    /// Something that nobody is waiting for any more.
    fn stray(&self, session: &SessionId, nth: u8, what: u8) -> Option<session::Input> {
        match what % 6 {
            0 => Some(session::Input::ToolOutput {
                call: self.ended_call(session, nth)?,
                text: "stray".into(),
            }),
            1 => {
                let call = self.ended_call(session, nth)?;
                Some(session::Input::Inspected { call, intent: words::reading(true) })
            }
            2 => {
                let attempt = self.ended_attempt(session, nth)?;
                Some(session::Input::Model { attempt, event: words::text(0, "stray") })
            }
            3 => {
                let attempt = self.ended_attempt(session, nth)?;
                Some(session::Input::Model { attempt, event: words::stop() })
            }
            4 => {
                // Of the step that came last it may still be asked.
                let step = self.ended_attempt(session, nth)?.step;
                let last = self.rig.durable(session).turn.as_ref().map(|turn| turn.step_id());
                let stray = session::Input::Checked { step, verdict: Verdict::Satisfied };
                (last != Some(step)).then_some(stray)
            }
            _ => Some(session::Input::Tick),
        }
    }

    fn ended_attempt(&self, session: &SessionId, nth: u8) -> Option<AttemptId> {
        let awaited = |attempt| self.rig.flights.calls.contains(&(session.clone(), attempt));
        let ended = self.rig.log.iter().filter_map(|entry| match entry.record {
            Record::AttemptStarted { attempt } if entry.session == *session => Some(attempt),
            _ => None,
        });
        pick(ended.filter(|attempt| !awaited(*attempt)).collect::<Vec<_>>().into_iter(), nth)
    }

    fn ended_call(&self, session: &SessionId, nth: u8) -> Option<CallId> {
        let ended = self.rig.log.iter().filter_map(|entry| match entry.record {
            Record::ToolCallFinished { call, .. } if entry.session == *session => Some(call),
            _ => None,
        });
        pick(ended.collect::<Vec<_>>().into_iter(), nth)
    }
}

/// One of some things.
fn pick<T>(all: impl ExactSizeIterator<Item = T>, nth: u8) -> Option<T> {
    let count = all.len();
    let mut all = all;
    if count == 0 { None } else { all.nth(usize::from(nth) % count) }
}

fn ended(number: u8) -> (ToolStatus, &'static str) {
    [
        (ToolStatus::Ok, "done"),
        (ToolStatus::Error, "no"),
        (ToolStatus::Ok, ""),
        (ToolStatus::Cancelled, "cut"),
    ][usize::from(number) % 4]
}

fn event(says: &Says) -> ModelEvent {
    match says {
        Says::Connected => ModelEvent::Connected,
        Says::Text { block, text } => words::text(u32::from(*block), text),
        Says::Reasoning { block } => ModelEvent::Reasoning { block: u32::from(*block), text: "hm".into() },
        Says::Call { block, tool } => call(u32::from(*block), *tool)[usize::from(*tool) % 2].clone(),
        Says::Opaque { block } => ModelEvent::Opaque { block: u32::from(*block), data: "\"seal\"".into() },
        Says::Usage { much } => {
            let input = if *much { WINDOW } else { 7 };
            ModelEvent::Usage(Usage { input, output: 1, ..Usage::default() })
        }
        Says::Finished { reason } => ModelEvent::Finished(finish(*reason)),
        Says::Failed { kind, retry_after } => ModelEvent::Failed(failure(*kind, *retry_after)),
    }
}

/// A tool call, by a name that its provider may have used before.
fn call(block: u32, tool: u8) -> [ModelEvent; 2] {
    let (name, input) = TOOLS[usize::from(tool) % TOOLS.len()];
    let id = ["", "a", "call_t1_s1_c2"][usize::from(tool) % 3];
    let begins = ModelEvent::Call { block, id: id.into(), name: name.into() };
    [begins, ModelEvent::Input { block, text: input.into() }]
}

fn finish(number: u8) -> FinishReason {
    match number {
        0..=3 => FinishReason::ToolCalls,
        4 | 5 => FinishReason::Stop,
        6 => FinishReason::Length,
        _ => FinishReason::ContentFilter,
    }
}

fn failure(kind: u8, retry_after: Option<u16>) -> CallError {
    let status = |status, code: &str| CallErrorKind::Status { status, code: code.into() };
    let kind = match kind % 6 {
        0 => CallErrorKind::Transport,
        1 => status(429, ""),
        2 => status(400, ""),
        3 => status(400, "context_length_exceeded"),
        4 => status(400, "invalid_signature"),
        _ => CallErrorKind::Truncated,
    };
    CallError { retry_after: retry_after.map(u64::from), ..words::broken(kind) }
}
