//! One directory: its sessions, opened on first use and let go when idle.
//!
//! A session has one writer, the process that holds its lock. So a request for a session that is not open asks for the
//! lock first, and what is asked for in the meantime waits, not yet accepted. What happens inside a session is decided
//! in `session`; this machine passes inputs and effects between it and the shell.

mod admission;
mod errands;
mod family;
mod interface;
mod opening;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{AttemptId, RequestId, RunId, SessionId};
use crate::machine::{Effects, Machine};
use crate::model::ModelRequest;
use crate::protocol::{Command, Refusal, RefusalKind, Reply};
use crate::session::{self, Decisions, Durable, Owned, Session, Settings, push_effect};
use crate::time::{Deadline, Timestamp, earliest};

pub use interface::{Effect, Input, Opened, RunOwner, TakenRun};

use opening::Opening;

/// The state of one directory, and its decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    settings: Settings,
    sessions: BTreeMap<SessionId, Slot>,
}

/// A session that is in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Slot {
    /// Its lock is asked for.
    Opening(Opening),
    /// It is open.
    Open(Box<Session>),
    /// It is being forgotten, for those who want that.
    Deleting(Vec<RequestId>),
}

impl Machine for Workspace {
    type Input = Input;
    type Effect = Effect;

    fn handle(&mut self, now: Timestamp, input: Input, out: &mut Effects<Effect>) {
        match input {
            Input::Request { id, command, taken, source } => {
                self.request(now, id, command, (taken, source), out);
            }
            Input::SessionDeleted { session, error } => self.deleted(session, error, out),
            Input::SessionHeld { session, holder } => self.held(&session, &holder, out),
            Input::SessionOpened { session, opened, children, taken } => {
                self.opened(now, session, (opened, children, taken), out);
            }
            Input::Session { session, input } => self.feed(now, &session, input, out),
            Input::Tick => self.tick(now, out),
        }
    }

    fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        self.open_sessions().fold(None, |first, session| earliest(first, session.deadline()))
    }
}

impl Workspace {
    /// A workspace in which nothing is open.
    pub fn new(settings: Settings) -> Self {
        Self { settings, sessions: BTreeMap::new() }
    }

    /// What an open session's log amounts to.
    pub fn durable(&self, session: &SessionId) -> Option<&Durable> {
        self.open(session).map(Session::durable)
    }

    /// The earliest time at which a tick would do something in that session, and what for.
    pub fn deadline_of(&self, session: &SessionId) -> Option<(Timestamp, Deadline)> {
        self.open(session)?.deadline()
    }

    /// The request that asks the model for the answer of the step that is under way in that session.
    pub fn model_request(&self, session: &SessionId) -> Option<ModelRequest> {
        self.open(session)?.request()
    }

    /// The request that asks for a title of that session.
    pub fn title_request(&self, session: &SessionId) -> Option<ModelRequest> {
        self.open(session)?.title_request()
    }

    /// The schema and the answer of that session that is to be held against it.
    pub fn answer_to_check(&self, session: &SessionId) -> Option<(String, String)> {
        self.open(session)?.answer_to_check()
    }

    /// The runs that wait for a session to be opened and have ids that were chosen for them.
    pub fn waiting_runs(&self, session: &SessionId) -> Vec<RunId> {
        match self.sessions.get(session) {
            Some(Slot::Opening(opening)) => opening.runs().cloned().collect(),
            Some(Slot::Open(_) | Slot::Deleting(_)) | None => Vec::new(),
        }
    }

    /// Whether no session is in use.
    pub fn is_idle(&self) -> bool {
        self.sessions.is_empty()
    }

    /// What the logs of all open sessions amount to.
    pub(crate) fn durables(&self) -> impl Iterator<Item = &Durable> {
        self.open_sessions().map(Session::durable)
    }

    /// Lets the texts of answers that are under way be replaced, each by what is made of it in the original.
    pub(crate) fn replace_streamed(
        &mut self,
        original: &Self,
        mut replace: impl FnMut((SessionId, AttemptId, u32), bool, &mut String),
    ) {
        for (id, slot) in &mut self.sessions {
            if let (Slot::Open(session), Some(Slot::Open(before))) = (slot, original.sessions.get(id)) {
                session.replace_streamed(before, |attempt, block, is_json, text| {
                    replace((id.clone(), attempt, block), is_json, text);
                });
            }
        }
    }

    fn open(&self, session: &SessionId) -> Option<&Session> {
        match self.sessions.get(session)? {
            Slot::Open(session) => Some(session),
            Slot::Opening(_) | Slot::Deleting(_) => None,
        }
    }

    fn open_sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter_map(|slot| match slot {
            Slot::Open(session) => Some(&**session),
            Slot::Opening(_) | Slot::Deleting(_) => None,
        })
    }

    fn tick(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        let due = |session: &&Session| session.deadline().is_some_and(|(at, _)| at <= now);
        let mut sessions: Vec<_> =
            self.open_sessions().filter(due).map(|session| session.durable().id.clone()).collect();
        // Sub-agents first: what comes of them may be what the session that opened them still waits for.
        sessions.sort_by_key(|session| !session.is_child());
        for session in sessions {
            self.feed(now, &session, session::Input::Tick, out);
        }
    }

    fn request(
        &mut self,
        now: Timestamp,
        id: RequestId,
        command: Command,
        (taken, source): (Option<Box<RunOwner>>, Option<Box<Durable>>),
        out: &mut Effects<Effect>,
    ) {
        match command {
            Command::Submit { session, prompt } => {
                match self.run_conflict(&session, &prompt, taken.as_deref()) {
                    Some(text) => refuse(id, RefusalKind::Conflict, text, out),
                    None => self.submit(now, id, session, Box::new(prompt), out),
                }
            }
            Command::Cancel { session, scope, reason } => match self.sessions.get_mut(&session) {
                Some(Slot::Opening(opening)) => {
                    opening.cancel(id, &scope, out);
                    self.forget_if_empty(&session, out);
                }
                Some(Slot::Open(_)) => {
                    self.feed(now, &session, session::Input::Cancel { to: id, scope, reason }, out);
                }
                Some(Slot::Deleting(_)) | None => {
                    out.push(reply(id, Reply::Cancelled { runs: alloc::vec![] }));
                }
            },
            Command::Rename { session, title } => self.rename(now, id, session, title, out),
            Command::Fork { from, session } => self.fork(id, &from, session, source, out),
            Command::Delete { session } => self.delete(id, session, out),
            Command::Answer { session, ask, answer, client } => match self.sessions.get(&session) {
                Some(Slot::Open(_)) => {
                    let input = session::Input::Answer { to: id, ask, answer, client };
                    self.feed(now, &session, input, out);
                }
                Some(Slot::Opening(_) | Slot::Deleting(_)) | None => {
                    out.push(reply(id, Reply::Answered { resolved: false }));
                }
            },
            Command::ClearQueue { session } => match self.sessions.get(&session) {
                Some(Slot::Open(_)) => self.feed(now, &session, session::Input::ClearQueue { to: id }, out),
                Some(Slot::Opening(_) | Slot::Deleting(_)) | None => {
                    out.push(reply(id, Reply::Cleared { prompts: alloc::vec![] }));
                }
            },
        }
    }

    fn feed(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        input: session::Input,
        out: &mut Effects<Effect>,
    ) {
        let opening = matches!(input, session::Input::Opened);
        self.with(session, |open, decisions| open.decide(now, input, decisions), now, out);
        if !opening {
            self.let_go(session, out);
            // The end of a sub-agent may have been the end of what the session that opened it was doing.
            if session.is_child() {
                self.let_go(&session.root(), out);
            }
        }
    }

    /// Lets an open session decide, and passes on what it decides: to the log, to the shell, and to its relatives.
    fn with(
        &mut self,
        session: &SessionId,
        decide: impl FnOnce(&mut Session, &mut Decisions),
        now: Timestamp,
        out: &mut Effects<Effect>,
    ) {
        let Some(Slot::Open(open)) = self.sessions.get_mut(session) else { return };
        let mut decisions = Decisions::default();
        decide(open, &mut decisions);
        let crossings = core::mem::take(&mut decisions.crossings);
        pass_on(session, decisions, out);
        for crossing in crossings {
            self.cross(now, crossing, out);
        }
    }

    fn insert(&mut self, durable: Durable) {
        let session = durable.id.clone();
        let open = Session::new(durable, self.settings.clone());
        self.sessions.insert(session, Slot::Open(Box::new(open)));
    }

    /// Gives a session's lock back once nothing is under way in it. A sub-agent's session has none of its own.
    fn let_go(&mut self, session: &SessionId, out: &mut Effects<Effect>) {
        if self.open(session).is_some_and(Session::is_idle) {
            self.sessions.remove(session);
            if !session.is_child() {
                out.push(Effect::CloseSession { session: session.clone() });
            }
        }
    }
}

fn pass_on(session: &SessionId, decisions: Decisions, out: &mut Effects<Effect>) {
    decisions.records.into_iter().for_each(|entry| out.record(entry));
    for effect in decisions.effects {
        match effect {
            session::Effect::Reply { to, reply } => out.push(Effect::Reply { to, reply }),
            effect @ (session::Effect::Prepare { .. }
            | session::Effect::CancelPrepare { .. }
            | session::Effect::CallModel { .. }
            | session::Effect::CancelCall { .. }
            | session::Effect::InspectCall { .. }
            | session::Effect::RunTool { .. }
            | session::Effect::MakeTitle { .. }
            | session::Effect::CancelTitle
            | session::Effect::CheckAnswer { .. }
            | session::Effect::CancelCheck { .. }
            | session::Effect::KeepRules { .. }
            | session::Effect::CancelTool { .. }) => {
                push_effect(Owned { session: session.clone(), effect }, out, Effect::Session)
            }
        }
    }
}

const BEING_DELETED: &str = "The session is being deleted; begin a new one.";

fn already(session: &SessionId) -> String {
    alloc::format!("There is a session {session} already; use another id.")
}

fn no_session(session: &SessionId) -> String {
    alloc::format!("There is no session {session}; `hostler sessions list` shows them.")
}

fn refuse(to: RequestId, kind: RefusalKind, message: impl Into<String>, out: &mut Effects<Effect>) {
    out.push(reply(to, Reply::Refused(Refusal::new(kind, message))));
}

fn reply(to: RequestId, reply: Reply) -> Effect {
    Effect::Reply { to, reply: Box::new(reply) }
}

fn used(run: &RunId) -> String {
    alloc::format!("There is a run {run} already; use a new run id.")
}

#[cfg(test)]
mod tests;
