//! Names of things. Some come from outside (sessions, prompts, runs, clients), the rest are derived from them.
//!
//! A derived id says what it belongs to: the second call of the first step of turn 3 is `t3.s1.c2`. A provider's own
//! call id is data and never one of these, because providers reuse theirs.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id with that text.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Its text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// A session. A root session's id is random and comes from outside; a child's is [`SessionId::child`].
    SessionId
}
text_id! {
    /// A prompt, named by whoever submits it, so that submitting it twice is harmless.
    PromptId
}
text_id! {
    /// A run: the life of a prompt until its one terminal record. The caller's own, else the prompt's id.
    RunId
}
text_id! {
    /// A client of a workspace: a terminal, a `hostler run`, a connection.
    ClientId
}

impl SessionId {
    /// The session that a call of the `agent` tool opens: `{parent}.{message}$${call}`.
    pub fn child(parent: &SessionId, message: MessageId, call: CallId) -> Self {
        Self(alloc::format!("{parent}.{message}$${call}"))
    }

    /// The session without a parent that it belongs to: itself, unless a tool call opened it.
    pub fn root(&self) -> SessionId {
        let parent = self.0.split_once("$$").map(|(parent, _)| parent);
        let root = parent.and_then(|parent| parent.rsplit_once('.')).map(|(root, _)| root);
        Self(root.unwrap_or(&self.0).to_string())
    }

    /// Whether it was opened by a tool call of another session.
    pub fn is_child(&self) -> bool {
        self.0.contains("$$")
    }
}

impl From<&PromptId> for RunId {
    fn from(prompt: &PromptId) -> Self {
        Self(prompt.0.clone())
    }
}

/// A request at the door, numbered by the door, so that its answer finds the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// A message of a session, in the order in which they came, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// A turn of a session, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(pub u32);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// A step of a turn, from 1: one model answer with its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId {
    /// The turn.
    pub turn: TurnId,
    /// Its how-manieth step.
    pub step: u32,
}

/// An attempt of a step, from 1: one request for its model answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The step.
    pub step: StepId,
    /// Its how-manieth attempt.
    pub attempt: u32,
}

/// A tool call of a step, from 1, in the order of the model's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The step.
    pub step: StepId,
    /// Its how-manieth call.
    pub call: u32,
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.s{}", self.turn, self.step)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.a{}", self.step, self.attempt)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.c{}", self.step, self.call)
    }
}

/// The text is not a derived id of the kind that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not an id of this kind", crate::quote::quoted(.0))]
pub struct BadId(String);

fn numbered(part: Option<&str>, letter: char) -> Option<u32> {
    part?.strip_prefix(letter)?.parse().ok()
}

fn step_from<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<StepId> {
    let turn = TurnId(numbered(parts.next(), 't')?);
    Some(StepId { turn, step: numbered(parts.next(), 's')? })
}

fn whole<'a, T>(text: &str, mut rest: impl Iterator<Item = &'a str>, id: Option<T>) -> Result<T, BadId> {
    id.filter(|_| rest.next().is_none()).ok_or_else(|| BadId(text.to_string()))
}

impl FromStr for StepId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut parts = text.split('.');
        let id = step_from(&mut parts);
        whole(text, parts, id)
    }
}

impl FromStr for AttemptId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut parts = text.split('.');
        let id =
            step_from(&mut parts).and_then(|step| Some(Self { step, attempt: numbered(parts.next(), 'a')? }));
        whole(text, parts, id)
    }
}

impl FromStr for CallId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut parts = text.split('.');
        let id =
            step_from(&mut parts).and_then(|step| Some(Self { step, call: numbered(parts.next(), 'c')? }));
        whole(text, parts, id)
    }
}

macro_rules! as_text {
    ($($name:ident),*) => { $(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )* };
}
as_text!(StepId, AttemptId, CallId);

/// The name of an effect that can complete; its outcome comes back as an input with the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EffectId {
    /// Taking a session's lock and loading it.
    Open(SessionId),
    /// Preparing a prompt's run.
    Prepare(SessionId, PromptId),
    /// Asking the model.
    Attempt(SessionId, AttemptId),
    /// Looking at a tool call, or running it.
    Call(SessionId, CallId),
    /// Renewing the credentials of an attempt.
    Refresh(SessionId, AttemptId),
    /// Asking a model for a title.
    Title(SessionId),
    /// Holding an answer against its run's schema.
    Check(SessionId, StepId),
    /// Answering a request at the door.
    Reply(RequestId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_read_back_as_they_are_written() {
        let step = StepId { turn: TurnId(3), step: 1 };
        let call = CallId { step, call: 2 };
        let attempt = AttemptId { step, attempt: 4 };
        assert_eq!(call.to_string(), "t3.s1.c2");
        assert_eq!(call.to_string().parse(), Ok(call));
        assert_eq!(attempt.to_string().parse(), Ok(attempt));
        assert_eq!(step.to_string().parse(), Ok(step));
    }

    #[test]
    fn what_is_not_an_id_is_refused() {
        for text in ["", "t1", "t1.s", "t1.s1.c", "t1.s1.c1.x", "t1.s1.a1", "s1.t1.c1", "t-1.s1.c1"] {
            assert!(text.parse::<CallId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_child_session_is_named_by_the_call_that_opened_it() {
        let step = StepId { turn: TurnId(1), step: 1 };
        let root = SessionId::new("r");
        let child = SessionId::child(&root, MessageId(2), CallId { step, call: 1 });
        assert_eq!(child.as_str(), "r.2$$t1.s1.c1");
        assert!(child.is_child() && !root.is_child());
        assert_eq!((child.root(), root.root()), (root.clone(), root));
    }
}
