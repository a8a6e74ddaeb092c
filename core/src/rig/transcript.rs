//! What a conversation is like: messages and calls in order, each with one end that never changes, and no byte of an
//! answer that was not recorded before the answer was.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::{AssistantMessage, Block, MessageBody};
use hostler_core::ids::{CallId, MessageId};
use hostler_core::model::{Item, ModelRequest};
use hostler_core::record::Record;
use hostler_core::session::Durable;

/// What has been said of a session's messages and calls.
#[derive(Default)]
pub(crate) struct Transcript {
    pub(crate) calls: BTreeSet<CallId>,
    pub(crate) started: BTreeSet<CallId>,
    finished: BTreeSet<CallId>,
    /// What was recorded of the current answer piece by piece.
    pieces: BTreeMap<u32, String>,
}

impl Transcript {
    /// Whether a record may follow.
    pub(crate) fn before(&mut self, durable: &Durable, record: &Record) {
        match record {
            Record::TurnStarted { message, .. } | Record::PromptFolded { message, .. } => {
                assert!(*message > durable.last_message, "messages keep their order");
            }
            Record::StepStarted { message, .. } => {
                assert!(*message > durable.last_message, "messages keep their order");
                all_closed(durable);
                self.pieces.clear();
            }
            Record::TextAppended { block, text, .. } | Record::ReasoningAppended { block, text, .. } => {
                assert!(!text.is_empty(), "an empty piece");
                self.pieces.entry(*block).or_default().push_str(text);
            }
            Record::AttemptFailed { retry_after: Some(_), .. } => self.pieces.clear(),
            Record::MessageFinished { message, blocks, .. } => self.answered(durable, *message, blocks),
            Record::ToolCallStarted { call, .. } => {
                assert!(self.calls.contains(call) && !self.finished.contains(call), "{call} may not start");
                assert!(self.started.insert(*call), "{call} starts twice");
            }
            Record::ToolCallFinished { call, outcome, .. } => {
                assert!(self.calls.contains(call), "{call} ends and never was");
                assert!(self.finished.insert(*call), "{call} ends twice");
                assert!(!outcome.text.trim().is_empty(), "{call} says nothing");
            }
            Record::TurnFinished { .. } => all_closed(durable),
            _ => {}
        }
    }

    fn answered(&mut self, durable: &Durable, message: MessageId, blocks: &[Block]) {
        let answer = durable.answer(message).expect("an answer without its step");
        assert_eq!(answer.finish, None, "an answer ends twice");
        let pieces: Vec<_> = self.pieces.values().filter(|text| !text.is_empty()).cloned().collect();
        let whole: Vec<_> = blocks.iter().filter_map(spoken).collect();
        assert_eq!(whole, pieces, "an answer is not what was recorded of it piece by piece");
        for block in blocks {
            if let Block::Call(call) = block {
                assert_eq!(call.outcome, None, "{} ends before it begins", call.id);
                assert!(self.calls.insert(call.id), "{} is called twice", call.id);
            }
        }
    }
}

fn spoken(block: &Block) -> Option<String> {
    match block {
        Block::Text(text) => Some(text.clone()),
        Block::Reasoning(reasoning) => Some(reasoning.text.clone()).filter(|text| !text.is_empty()),
        Block::Call(_) => None,
    }
}

fn answers(durable: &Durable) -> impl Iterator<Item = &AssistantMessage> {
    durable.messages.iter().filter_map(|message| match &message.body {
        MessageBody::Assistant(answer) => Some(answer),
        MessageBody::User(_) | MessageBody::Summary(_) => None,
    })
}

/// No message is open and no call without outcome.
fn all_closed(durable: &Durable) {
    for answer in answers(durable) {
        assert!(answer.finish.is_some(), "the answer of {} is left open", answer.step);
        let open = answer.calls().find(|call| call.outcome.is_none());
        assert_eq!(open.map(|call| call.id), None, "a call is left without outcome");
    }
}

/// Every prompt of the conversation stands in the request, in order.
pub(crate) fn nothing_is_left_out(durable: &Durable, request: &ModelRequest) {
    let said: Vec<_> = request
        .items
        .iter()
        .filter_map(|item| match item {
            Item::User { text, .. } => Some(text.as_str()),
            Item::Assistant { .. } | Item::Results(_) => None,
        })
        .collect();
    let said = said.join("\n");
    let mut rest = said.as_str();
    for message in &durable.messages {
        let MessageBody::User(user) = &message.body else { continue };
        let at = rest.find(user.text.trim());
        let at = at.unwrap_or_else(|| panic!("{:?} is not in the request", user.text));
        rest = &rest[at + user.text.trim().len()..];
    }
}
