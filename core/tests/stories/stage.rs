//! Tells a story to a rig.

use hostler_core::content::{ErrorClass, ErrorInfo, ToolStatus, Usage};
use hostler_core::flight;
use hostler_core::ids::{AttemptId, CallId, RunId, SessionId};
use hostler_core::model::{CallError, CallErrorKind, FinishReason, ModelEvent};
use hostler_core::prompt::Prompt;
use hostler_core::protocol::{Command, Holder};
use hostler_core::record::{CancelScope, Record};
use hostler_core::session::{self, Settings};
use hostler_core::workspace::{Input, Opened};

use super::{Act, End, Says, Scene, Story, Wait};
use crate::rig::{Rig, words};

const TOOLS: [(&str, &str); 7] = [
    ("ls", "{}"),
    ("view", r#"{"file_path":"a"}"#),
    ("bash", r#"{"command":"make"}"#),
    ("edit", "{"),
    ("rm", "{}"),
    ("glob", r#"{"pattern":"*"}"#),
    ("write", r#"{"file_path":"a","content":""}"#),
];

/// A rig on which a story is played.
pub(crate) struct Stage {
    pub(super) rig: Rig,
}

/// One of the sessions of all stories.
pub(super) fn session(number: u8) -> SessionId {
    SessionId::new(["s", "other"][usize::from(number) % 2])
}

impl Stage {
    pub(crate) fn new(serving: bool) -> Self {
        let settings = Settings { serving, answer_bytes: 200, attempts: 3, ..Settings::default() };
        Self { rig: Rig::with(settings) }
    }

    /// Plays the story and brings everything in it to its end.
    pub(crate) fn play(&mut self, story: &Story) {
        for scene in &story.0 {
            self.scene(scene);
        }
        self.close();
    }

    /// Plays the story, and replays what is left of its flight record with its texts hidden.
    pub(crate) fn play_for_others(&mut self, story: &Story) {
        self.play(story);
        let text = self.rig.flight();
        let redacted = flight::redact(&text).unwrap_or_else(|error| panic!("{error}"));
        let (before, after) = (flight::replay(&text), flight::replay(&redacted.text));
        assert_eq!(before.as_ref().map(|report| &report.differs), Ok(&None));
        assert_eq!(before, after);
        assert_eq!(redacted.text.len(), text.len(), "every text has a placeholder of its length");
        assert!(!redacted.text.contains("prompt "), "a prompt is still there: {}", redacted.text);
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
            End::Uncommitted => self.rig.crash_uncommitted(inputs),
            End::Unstarted => self.rig.crash_unstarted(inputs),
        }
    }

    fn inputs(&mut self, act: &Act) -> Vec<Input> {
        match act {
            Act::Answer { nth, tools, reason } => self.answer(*nth, tools, *reason),
            _ => self.input(act).into_iter().collect(),
        }
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
        match act {
            Act::Submit { session: to, prompt, own_run, yolo } => {
                let prompt = self.prompt(*prompt, *own_run, *yolo);
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
            Act::Held { session: of } => {
                let holder = Holder { pid: 1, since: self.rig.now };
                Some(Input::SessionHeld { session: session(*of), holder })
            }
            Act::Open { nth, fails } => self.open(*nth, *fails),
            _ => self.outcome(act),
        }
    }

    fn cancel(&mut self, of: u8, scope: CancelScope) -> Option<Input> {
        Some(self.rig.request(words::cancel(&session(of), scope)).1)
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
            });
        }
        Some(self.rig.opening(&session))
    }

    fn prompt(&self, number: u8, own_run: bool, yolo: bool) -> Prompt {
        let (id, text) = (format!("p{number}"), format!("prompt {number}."));
        let base = if yolo { words::prompt(&id, &text) } else { words::headless(&id, &text) };
        Prompt { run: own_run.then(|| RunId::new(format!("run-{id}"))), ..base }
    }

    /// What comes of something that is under way, if anything is.
    fn outcome(&self, act: &Act) -> Option<Input> {
        let flights = &self.rig.flights;
        match act {
            Act::Prepared { nth, fails } => {
                let (session, prompt) = pick(flights.prepares.iter(), *nth)?.clone();
                let failed = ErrorInfo::new(ErrorClass::NoProvider, "there is none");
                let result = Box::new(if *fails { Err(failed) } else { Ok(words::preparation()) });
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
            Act::ClearQueue { .. } | Act::Held { .. } | Act::Answer { .. } | Act::Open { .. } => None,
        }
    }

    /// Something that nobody is waiting for any more.
    fn stray(&self, session: &SessionId, nth: u8, what: u8) -> Option<session::Input> {
        match what % 5 {
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
        Says::Usage => ModelEvent::Usage(Usage { input: 7, output: 1, ..Usage::default() }),
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
    let kind = match kind % 4 {
        0 => CallErrorKind::Transport,
        1 => CallErrorKind::Status { status: 429, code: String::new() },
        2 => CallErrorKind::Status { status: 400, code: String::new() },
        _ => CallErrorKind::Truncated,
    };
    CallError { retry_after: retry_after.map(u64::from), ..words::broken(kind) }
}
