//! What crosses the door between a client (terminal, `hostler run`, a connection) and a workspace: requests, replies
//! and events, with their JSON shapes.
//!
//! A [`Command`] changes something and is decided by the workspace's machine. A [`Query`] only reads what is committed.
//! An [`Event`] is a record of the log with its place in it, or a notice that is not history.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::content::Message;
use crate::ids::{CallId, ClientId, MessageId, PromptId, RunId, SessionId};
use crate::machine::Entry;
use crate::model::ModelRef;
use crate::prompt::Prompt;
use crate::record::{CancelScope, Parent, Reason, RunFinished, RunStatus, Totals};
use crate::session::{Asked, ClosedPrompt};
use crate::time::Timestamp;

/// What a client asks for.
#[allow(clippy::large_enum_variant, reason = "a request lives for a moment, and few are made")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// To change something.
    Command(Command),
    /// To read something.
    Query(Query),
}

/// A request that the workspace's machine decides.
#[allow(clippy::large_enum_variant, reason = "a request lives for a moment, and few are made")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Run a prompt.
    Submit {
        /// In which session.
        session: SessionChoice,
        /// The prompt.
        prompt: Prompt,
    },
    /// Stop what a session is doing, or one run.
    Cancel {
        /// The session.
        session: SessionId,
        /// How much of it.
        scope: CancelScope,
        /// Why, for the terminal records.
        reason: Reason,
    },
    /// Say what a session is called.
    Rename {
        /// The session.
        session: SessionId,
        /// The title.
        title: String,
    },
    /// Make a session that goes on from what another one has come to.
    Fork {
        /// The other session.
        from: SessionId,
        /// The id of the new one, random.
        session: SessionId,
    },
    /// Forget a session and its sub-agents. Refused while something is under way in it.
    Delete {
        /// The session.
        session: SessionId,
    },
    /// Answer something that needs permission.
    Answer {
        /// The session that asks.
        session: SessionId,
        /// What it is about.
        ask: AskId,
        /// The answer.
        answer: Answer,
        /// Who gives it.
        client: ClientId,
    },
    /// Give back the prompts that wait in a session.
    ClearQueue {
        /// The session.
        session: SessionId,
    },
}

/// A call that needs permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskId {
    /// The session whose call it is: the one that asks, or one of its sub-agents.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
}

/// A person's answer to a call that needs permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It may run.
    Once,
    /// It may run, and so may the like of it as long as the session lasts.
    Session(Breadth),
    /// It may run, and so may the like of it from now on in this workspace.
    Always(Breadth),
    /// It may not, and the turn ends.
    Deny,
}

/// How much is granted with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breadth {
    /// What the call needs.
    Exact,
    /// The same for all that is in the directories of its paths.
    Directory,
}

/// The session that a prompt is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionChoice {
    /// One that is made for it.
    New {
        /// Its id, random.
        id: SessionId,
    },
    /// One that exists.
    Existing {
        /// Its id.
        id: SessionId,
    },
}

impl SessionChoice {
    /// The id, whichever it is.
    pub fn id(&self) -> &SessionId {
        match self {
            SessionChoice::New { id } | SessionChoice::Existing { id } => id,
        }
    }
}

/// A request that is answered from what is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Query {
    /// The root sessions, the one that changed last first.
    Sessions {
        /// At most so many.
        limit: u32,
    },
    /// The root session that changed last.
    LatestSession,
    /// The one session whose id begins so; a root session unless the whole id is given.
    FindSession {
        /// The beginning of its id.
        prefix: String,
    },
    /// A session with its messages.
    Session {
        /// The session.
        session: SessionId,
    },
    /// The runs of a session, the first one first.
    Runs {
        /// The session.
        session: SessionId,
    },
    /// The runs of all root sessions, the one that was accepted last first.
    LatestRuns {
        /// At most so many.
        limit: u32,
    },
    /// What waits for a person's permission in a session, what was asked first first.
    Asks {
        /// The session.
        session: SessionId,
    },
    /// The one run whose id begins so.
    FindRun {
        /// The beginning of its id.
        prefix: String,
    },
}

/// What a client is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The prompt is on disk and has exactly one fate from here on.
    Accepted {
        /// Its session.
        session: SessionId,
        /// The prompt.
        prompt: PromptId,
        /// Its run.
        run: RunId,
        /// Its place in the order of acceptance.
        sequence: u64,
        /// How its run has ended, if it was submitted before and is over: no event of it is to be waited for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<Ended>,
    },
    /// The cancel was decided; these runs it covers.
    Cancelled {
        /// The runs that it ends.
        runs: Vec<RunId>,
    },
    /// The queue was cleared; these prompts went back.
    Cleared {
        /// The prompts.
        prompts: Vec<PromptId>,
    },
    /// The session is called so.
    Renamed,
    /// The session was made.
    Forked {
        /// Its id.
        session: SessionId,
    },
    /// The session is forgotten.
    Deleted,
    /// Whether the answer was the first one, and so the one that counts.
    Answered {
        /// Whether it was.
        resolved: bool,
    },
    /// What waits for a person's permission.
    Asks(Vec<Asked>),
    /// Sessions.
    Sessions(Vec<SessionInfo>),
    /// One session.
    Session(SessionInfo),
    /// One session with its messages.
    Transcript(Transcript),
    /// Runs.
    Runs(Vec<RunInfo>),
    /// Nothing was done.
    Refused(Refusal),
}

/// How a run has ended, in short; [`Query::FindRun`] tells all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    pub status: RunStatus,
    /// Why.
    pub reason: Reason,
}

impl Ended {
    /// The end of a prompt that has ended.
    pub fn of(closed: &ClosedPrompt) -> Self {
        Self { status: closed.status, reason: closed.reason }
    }
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The kind, for programs.
    pub kind: RefusalKind,
    /// One sentence that says what happened and what to do.
    pub message: String,
}

impl Refusal {
    /// A refusal of that kind.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The request makes no sense.
    Invalid,
    /// There is no such session, run or the like.
    NotFound,
    /// More than one fits.
    Ambiguous,
    /// It contradicts what is there already.
    Conflict,
    /// The log cannot be written or read.
    Storage,
    /// It was cancelled before it was accepted.
    Cancelled,
    /// The workspace is closing.
    Closing,
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// What people call it.
    pub title: String,
    /// The call that opened it, for a sub-agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// When it was made.
    pub created: Timestamp,
    /// When it changed last.
    pub updated: Timestamp,
    /// How many messages it has.
    pub messages: u64,
    /// How many runs it has.
    pub runs: u64,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What all its runs used.
    pub totals: Totals,
    /// What it is doing.
    pub activity: Activity,
}

/// What a session is doing, as seen by a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Nothing.
    Idle,
    /// A process has it.
    Running(Holder),
    /// A run has no end and no process has it: its process died.
    Interrupted,
}

/// The process that has a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id; 0 if it is not known.
    pub pid: u32,
    /// Since when it has it.
    pub since: Timestamp,
}

/// A session with its messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The session.
    pub session: SessionInfo,
    /// Its messages, in order.
    pub messages: Vec<TranscriptMessage>,
}

/// A message and when it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptMessage {
    /// When.
    pub at: Timestamp,
    /// The message.
    pub message: Message,
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Its id.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// Its prompt.
    pub prompt: PromptId,
    /// The prompt's text.
    pub text: String,
    /// When the prompt was accepted.
    pub accepted: Timestamp,
    /// The message that the prompt became, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// How it ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<RunFinished>,
    /// What its session is doing; a run without an end under an interrupted session is interrupted.
    pub activity: Activity,
}

/// A place in a log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    /// The log: another one after it was made anew or restored.
    pub log: String,
    /// The place: it only rises, and not always by one.
    pub seq: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.log, self.seq)
    }
}

/// The text is not an event id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not an event id; it looks like LOG-NUMBER", crate::quote::quoted(.0))]
pub struct BadEventId(String);

impl FromStr for EventId {
    type Err = BadEventId;
    fn from_str(text: &str) -> Result<Self, BadEventId> {
        let bad = || BadEventId(text.to_string());
        let (log, seq) = text.rsplit_once('-').ok_or_else(bad)?;
        let seq = seq.parse().map_err(|_| bad())?;
        if log.is_empty() { Err(bad()) } else { Ok(Self { log: log.to_string(), seq }) }
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a subscriber is told.
#[allow(clippy::large_enum_variant, reason = "nearly every event is a record")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A record, and its place in the log.
    Record {
        /// Its place.
        id: EventId,
        /// The record.
        entry: Entry,
    },
    /// Something that is not history.
    Notice(Notice),
    /// What was asked for cannot be followed from there; the state is to be read anew.
    Resync {
        /// The place from which the stream goes on.
        head: EventId,
        /// The root sessions as they are there; left out where a client shows none.
        sessions: Vec<SessionInfo>,
    },
}

/// Something that subscribers should know and that is not history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// A prompt waits, not yet accepted, because another process has its session.
    SessionBusy {
        /// The session.
        session: SessionId,
        /// The prompt.
        prompt: PromptId,
        /// Who has it.
        holder: Holder,
    },
    /// What a person granted for always could not be kept; it holds for the session.
    RulesNotKept {
        /// One sentence that says what happened and what to do.
        message: String,
    },
    /// The log cannot be written; what was under way is over.
    StorageFailed {
        /// One sentence that says what happened and what to do.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_reads_back_as_it_is_written() {
        let id = EventId { log: "a-b".to_string(), seq: 7 };
        assert_eq!(id.to_string(), "a-b-7");
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "7", "-7", "a-", "a-x", "a--1"] {
            assert!(text.parse::<EventId>().is_err() || text == "a--1", "{text:?}");
        }
    }
}
