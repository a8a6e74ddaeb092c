//! What can happen to a workspace, and what it asks for.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{EffectId, PromptId, RequestId, RunId, SessionId};
use crate::protocol::{Command, Holder, Notice, Reply};
use crate::session::{self, Durable, Owned};

/// What can happen to a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// A client asks for something.
    Request {
        /// Whom to answer.
        id: RequestId,
        /// What is asked for.
        command: Command,
        /// The prompt whose run has the run id that is asked for, if the log has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken: Option<Box<RunOwner>>,
        /// What the log of the session that is to be forked amounts to, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Box<Durable>>,
    },
    /// Forgetting a session has ended.
    SessionDeleted {
        /// The session.
        session: SessionId,
        /// Why it could not be forgotten.
        error: Option<String>,
    },
    /// Another process has a session's lock; it is being waited for.
    SessionHeld {
        /// The session.
        session: SessionId,
        /// Who has it.
        holder: Holder,
    },
    /// Opening a session has ended.
    SessionOpened {
        /// The session.
        session: SessionId,
        /// With what.
        opened: Opened,
        /// The sessions of sub-agents that it had opened and whose runs have no end, as their logs left them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        children: Vec<Durable>,
        /// Of the runs that wait for it, those that the log has by now: another process may have begun them meanwhile.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taken: Vec<TakenRun>,
    },
    /// Something happened to a session.
    Session {
        /// The session.
        session: SessionId,
        /// What.
        input: session::Input,
    },
    /// Time has passed.
    Tick,
}

/// Whose a run id is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOwner {
    /// The session.
    pub session: SessionId,
    /// The prompt.
    pub prompt: PromptId,
}

/// A run that the log has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenRun {
    /// Its id.
    pub run: RunId,
    /// The session.
    pub session: SessionId,
    /// The prompt.
    pub prompt: PromptId,
}

/// What opening a session has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Opened {
    /// The lock is ours, and this is what the log amounts to; nothing if it has none.
    Ready(Option<Box<Durable>>),
    /// The lock could not be taken or the log not be read, and why.
    Failed(String),
}

/// What a workspace asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Take a session's lock, waiting for it if need be, and read its log.
    OpenSession {
        /// The session.
        session: SessionId,
    },
    /// Stop waiting for a session's lock.
    CancelOpen {
        /// The session.
        session: SessionId,
    },
    /// Give a session's lock back.
    CloseSession {
        /// The session.
        session: SessionId,
    },
    /// Delete a session, whose lock is ours, and its sub-agents from the log.
    DeleteSession {
        /// The session.
        session: SessionId,
    },
    /// What a session asks for.
    Session(Owned),
    /// Answer a request at the door.
    Reply {
        /// Whose.
        to: RequestId,
        /// The answer.
        reply: Box<Reply>,
    },
    /// Tell the subscribers something that is not history.
    Notify(Notice),
}

impl crate::machine::Effect for Effect {
    fn id(&self) -> Option<EffectId> {
        match self {
            Effect::OpenSession { session } => Some(EffectId::Open(session.clone())),
            Effect::Session(owned) => owned.effect.id(&owned.session),
            Effect::Reply { to, .. } => Some(EffectId::Reply(*to)),
            Effect::CancelOpen { .. }
            | Effect::CloseSession { .. }
            | Effect::DeleteSession { .. }
            | Effect::Notify(_) => None,
        }
    }
}
