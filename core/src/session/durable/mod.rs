//! The durable state of a session: a fold over its records, and nothing else.
//!
//! [`Durable::evolve`] in `fold` is the only code that changes it, live and at recovery alike, and it decides nothing. What
//! the numbers in it mean for the next step is decided in the modules beside.

mod fold;
mod length;
mod turn;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::{AssistantMessage, Message, MessageBody};
use crate::ids::{MessageId, PromptId, RunId, SessionId, TurnId};
use crate::model::Preparation;
use crate::prompt::Prompt;
use crate::protocol::AskId;
use crate::record::{Parent, Reason, RunStatus, TitleSource, Totals};
use crate::time::Timestamp;
use crate::todos::Todo;
use crate::tools::{Ask, Rule};

pub use length::Length;
pub(super) use length::prompt_bytes;
pub use turn::{Purpose, Turn};

/// The version of the fold. A snapshot of another version is not used; the log is folded anew.
pub const FOLD_VERSION: u32 = 6;

/// How many bytes a session's log may grow before a snapshot of it is worth its while.
const TAIL_BYTES: u64 = 1 << 20;

/// Whether a snapshot is to be taken at a turn's end, from the bytes of the log since the last one and the size of
/// that one: so the cost of snapshots stays in proportion to what is written anyway.
pub fn snapshot_is_due(tail: u64, last: u64) -> bool {
    tail > TAIL_BYTES.max(last)
}

/// What a session's log amounts to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Durable {
    /// The session.
    pub id: SessionId,
    /// Whether its log has begun.
    pub created: bool,
    /// What people call it.
    pub title: String,
    /// Who says so; none while it is the beginning of its first prompt.
    pub titled_by: Option<TitleSource>,
    /// The call that opened it, for a sub-agent's session.
    pub parent: Option<Parent>,
    /// The sequence that was given last.
    pub sequence: u64,
    /// The number of the message that came last.
    pub last_message: MessageId,
    /// The number of the turn that came last.
    pub last_turn: TurnId,
    /// What requests are made of besides the conversation.
    pub preparation: Option<Preparation>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Prompts without an end, by their sequence.
    pub open: BTreeMap<u64, OpenPrompt>,
    /// Prompts that have ended.
    pub closed: BTreeMap<PromptId, ClosedPrompt>,
    /// The runs of prompts that have ended, if they are called otherwise than their prompts.
    pub runs: BTreeSet<RunId>,
    /// The turn that is under way.
    pub turn: Option<Turn>,
    /// What all finished runs used.
    pub totals: Totals,
    /// How long the conversation is.
    pub length: Length,
    /// Answers up to this message are shown without their providers' seals, which were refused.
    pub unsealed: MessageId,
    /// What is to be done, as the model has written it down.
    pub todos: Vec<Todo>,
    /// What waits for a person's permission, in the order in which it was asked for.
    pub asks: Vec<Asked>,
    /// What people have permitted for as long as the session lasts.
    pub grants: Vec<Rule>,
}

/// Something that waits for a person's permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The call.
    pub id: AskId,
    /// Since when it waits.
    pub at: Timestamp,
    /// What needs permission.
    pub what: Ask,
}

/// A prompt without an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPrompt {
    /// The prompt.
    pub prompt: Prompt,
    /// When it was accepted.
    pub accepted: Timestamp,
    /// How far it has come.
    pub phase: Phase,
}

/// How far a prompt without an end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It is accepted, and its run is being prepared.
    Preparing,
    /// It waits behind a turn.
    Queued,
    /// It is part of the turn that is under way.
    InTurn,
}

/// What is kept of a prompt that has ended, to recognise it when it is submitted again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPrompt {
    /// Its sequence.
    pub sequence: u64,
    /// Its run.
    pub run: RunId,
    /// The digest of its text.
    pub digest: String,
    /// How it ended.
    pub status: RunStatus,
    /// Why it ended so.
    pub reason: Reason,
}

impl Durable {
    /// A session whose log is empty.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            created: false,
            title: String::new(),
            titled_by: None,
            parent: None,
            sequence: 0,
            last_message: MessageId(0),
            last_turn: TurnId(0),
            preparation: None,
            messages: Vec::new(),
            open: BTreeMap::new(),
            closed: BTreeMap::new(),
            runs: BTreeSet::new(),
            turn: None,
            totals: Totals::default(),
            length: Length::default(),
            todos: Vec::new(),
            asks: Vec::new(),
            grants: Vec::new(),
            unsealed: MessageId(0),
        }
    }

    /// Whether nothing is under way and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none() && self.open.is_empty()
    }

    /// Whether one of its prompts has that run, or had it. Takes as long however many prompts there were.
    pub fn has_run(&self, run: &RunId) -> bool {
        let own = || self.closed.get(&PromptId::new(run.as_str())).is_some_and(|closed| closed.run == *run);
        self.open.values().any(|open| open.prompt.run_id() == *run) || self.runs.contains(run) || own()
    }

    /// The open prompt with that id, and its sequence.
    pub fn find_open(&self, prompt: &PromptId) -> Option<(u64, &OpenPrompt)> {
        self.open.iter().find(|(_, open)| open.prompt.id == *prompt).map(|(sequence, open)| (*sequence, open))
    }

    /// The message with that number.
    pub fn message(&self, id: MessageId) -> Option<&Message> {
        let at = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        self.messages.get(at)
    }

    /// The answer with that number.
    pub fn answer(&self, id: MessageId) -> Option<&AssistantMessage> {
        match &self.message(id)?.body {
            MessageBody::Assistant(answer) => Some(answer),
            MessageBody::User(_) | MessageBody::Summary(_) => None,
        }
    }

    /// The answer of the step that is under way.
    pub fn current(&self) -> Option<(MessageId, &AssistantMessage)> {
        let id = self.turn.as_ref()?.message?;
        Some((id, self.answer(id)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_due_when_more_was_written_than_it_costs() {
        let mebibyte = 1024 * 1024;
        assert!(!snapshot_is_due(mebibyte, 0) && snapshot_is_due(mebibyte + 1, 0));
        assert!(
            !snapshot_is_due(3 * mebibyte, 3 * mebibyte) && snapshot_is_due(3 * mebibyte + 1, 3 * mebibyte)
        );
    }
}
