//! The conversation as a model is shown it: a projection of the messages that every provider accepts.
//!
//! Roles alternate, nothing is empty, each call has exactly one result directly behind its answer, and a turn that
//! ended without an answer is closed by a note, so that nothing of it is taken up again. [`check`] says whether a
//! request keeps these rules; it is the oracle of tests and simulation.

mod summary;
mod title;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use summary::{summary_request, summary_tokens};
pub use title::title_request;

use crate::content::{
    AssistantMessage, Attachment, Block, Finish, Message, MessageBody, ToolCall, ToolOutcome,
};
use crate::content::{ToolStatus, UserMessage};
use crate::ids::{MessageId, TurnId};
use crate::instructions;
use crate::model::{CallResult, Item, ModelRef, ModelRequest, Preparation};

/// The request that asks for the next answer of that conversation. Answers up to the message `unsealed` are shown without
/// their providers' seals.
pub fn request(preparation: &Preparation, messages: &[Message], unsealed: MessageId) -> ModelRequest {
    ModelRequest {
        model: preparation.model.clone(),
        system: system(preparation),
        tools: preparation.tools.clone(),
        items: project(&preparation.model, messages, unsealed),
    }
}

/// Stands for an answer without words.
const NO_WORDS: &str = "[This answer had no text.]";

fn system(preparation: &Preparation) -> String {
    match &preparation.answer_schema {
        Some(schema) => instructions::with_schema(&preparation.system, schema),
        None => preparation.system.clone(),
    }
}

/// What goes before a summary, so that it is read as what it is.
const SUMMARY_INTRODUCTION: &str = "[What follows is a record of the conversation so far, summed up to save room. It is not an instruction.]";

/// The conversation as that model is shown it.
pub fn items(model: &ModelRef, messages: &[Message]) -> Vec<Item> {
    project(model, messages, MessageId(0))
}

fn project(model: &ModelRef, messages: &[Message], unsealed: MessageId) -> Vec<Item> {
    let mut projection = Projection { model, items: Vec::new(), used: BTreeSet::new(), turn: None };
    for message in messages {
        match &message.body {
            MessageBody::User(user) => projection.user(user),
            MessageBody::Assistant(answer) => projection.assistant(answer, message.id > unsealed),
            MessageBody::Summary(text) => projection.summary(text),
        }
    }
    projection.items
}

struct Projection<'a> {
    model: &'a ModelRef,
    items: Vec<Item>,
    /// Names by which results have been referred to.
    used: BTreeSet<String>,
    /// The turn that the last message belongs to, and how its last answer ended.
    turn: Option<(TurnId, Option<Finish>)>,
}

impl Projection<'_> {
    fn summary(&mut self, text: &str) {
        let text = format!("{SUMMARY_INTRODUCTION}\n\n{}", text.trim());
        self.items.push(Item::User { text, media: Vec::new() });
    }

    fn user(&mut self, user: &UserMessage) {
        if self.turn.as_ref().is_some_and(|(turn, _)| *turn != user.turn) {
            self.close_turn();
        }
        match &self.turn {
            // An answer without words was refused: what asks again is no part of what was asked before.
            Some((turn, Some(Finish::EndTurn | Finish::Unknown)))
                if *turn == user.turn && !matches!(self.items.last(), Some(Item::Assistant { .. })) =>
            {
                self.say(Block::Text(NO_WORDS.to_owned()));
            }
            Some(_) | None => {}
        }
        self.turn = Some((user.turn, None));
        let (text, media) = spoken(user);
        match self.items.last_mut() {
            Some(Item::User { text: before, media: beside }) => {
                before.push_str("\n\n");
                before.push_str(&text);
                beside.extend(media);
            }
            Some(Item::Assistant { .. } | Item::Results(_)) | None => {
                self.items.push(Item::User { text, media })
            }
        }
    }

    /// A turn that did not end with words of the model gets a last word.
    fn close_turn(&mut self) {
        let finish = self.turn.as_ref().and_then(|(_, finish)| finish.as_ref());
        let note = match (self.items.last(), finish) {
            (Some(Item::Assistant { .. }), Some(Finish::EndTurn)) => return,
            (_, Some(Finish::Cancelled)) => "[The user cancelled this turn.]",
            (_, Some(Finish::Interrupted)) => "[The program stopped during this turn.]",
            (_, Some(Finish::Error(_))) => "[This turn failed.]",
            (_, Some(Finish::MaxTokens)) => "[The answer was cut here by the output limit.]",
            (_, Some(Finish::ContentFilter)) => "[The answer was withheld.]",
            (Some(Item::Assistant { .. }), Some(Finish::Unknown | Finish::ToolUse)) => return,
            _ => "[This turn ended without an answer.]",
        };
        self.say(Block::Text(note.to_owned()));
    }

    /// Lets the model have said something.
    fn say(&mut self, block: Block) {
        match self.items.last_mut() {
            Some(Item::Assistant { blocks, .. }) => blocks.push(block),
            Some(Item::User { .. } | Item::Results(_)) | None => {
                let item = Item::Assistant { model: self.model.clone(), blocks: alloc::vec![block] };
                self.items.push(item);
            }
        }
    }

    fn assistant(&mut self, answer: &AssistantMessage, sealed: bool) {
        self.turn = Some((answer.step.turn, answer.finish.clone()));
        let others =
            matches!(self.items.last(), Some(Item::Assistant { model, .. }) if *model != answer.model);
        let sealed = sealed && !others;
        let shown = |block: &Block| if sealed { block.clone() } else { block.unsealed() };
        let mut blocks: Vec<Block> = answer.blocks.iter().map(shown).filter(says_something).collect();
        let speaks = blocks.iter().any(|block| !matches!(block, Block::Reasoning(_)));
        // Reasoning alone is no answer to anybody.
        if !speaks {
            return;
        }
        match self.items.last_mut() {
            Some(Item::Assistant { blocks: before, .. }) => before.append(&mut blocks),
            Some(Item::User { .. } | Item::Results(_)) | None => {
                self.items.push(Item::Assistant { model: answer.model.clone(), blocks });
            }
        }
        let results: Vec<CallResult> = answer.calls().map(|call| self.result(call)).collect();
        if !results.is_empty() {
            self.items.push(Item::Results(results));
        }
    }

    fn result(&mut self, call: &ToolCall) -> CallResult {
        let interrupted = || ToolOutcome::text(ToolStatus::Interrupted, "This has no result.");
        let outcome = call.outcome.clone().unwrap_or_else(interrupted);
        CallResult { call: call.id, wire_id: self.wire_id(call), name: call.name.clone(), outcome }
    }

    /// The provider's name for a call where it is unique, else one of ours: providers reuse theirs.
    fn wire_id(&mut self, call: &ToolCall) -> String {
        let own = call.provider_id.clone();
        if !own.is_empty() && self.used.insert(own.clone()) {
            return own;
        }
        let mut ours = format!("call_{}", call.id).replace('.', "_");
        while !self.used.insert(ours.clone()) {
            ours.push('_');
        }
        ours
    }
}

fn says_something(block: &Block) -> bool {
    match block {
        Block::Text(text) => !text.trim().is_empty(),
        Block::Reasoning(reasoning) => !reasoning.text.is_empty() || reasoning.opaque.is_some(),
        Block::Call(_) => true,
    }
}

/// A prompt with its attached texts, and what is attached and is not text.
fn spoken(user: &UserMessage) -> (String, Vec<Attachment>) {
    let (texts, media): (Vec<_>, Vec<_>) =
        user.attachments.iter().cloned().partition(|attachment| attachment.media_type.starts_with("text/"));
    let mut text = user.text.trim().to_string();
    for attachment in texts {
        text.push_str(&format!("\n\n<file path=\"{}\">\n{}\n</file>", attachment.name, attachment.data));
    }
    if text.is_empty() {
        text = "(See what is attached.)".to_string();
    }
    (text, media)
}

/// The first rule that a conversation breaks, if it breaks one.
pub fn check(items: &[Item]) -> Result<(), String> {
    if !matches!(items.first(), Some(Item::User { .. })) {
        return Err("it does not begin with the user".to_string());
    }
    if matches!(items.last(), Some(Item::Assistant { .. })) {
        return Err("it ends with the model".to_string());
    }
    let mut names = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        check_item(before, item, items.get(at + 1), &mut names)
            .map_err(|what| format!("item {at}: {what}"))?;
    }
    Ok(())
}

fn check_item(
    before: Option<&Item>,
    item: &Item,
    after: Option<&Item>,
    names: &mut BTreeSet<String>,
) -> Result<(), String> {
    match (before, item) {
        (Some(Item::User { .. }), Item::User { .. }) => Err("two prompts in a row".to_string()),
        (_, Item::User { text, .. }) if text.trim().is_empty() => Err("an empty prompt".to_string()),
        (_, Item::User { .. }) => Ok(()),
        (Some(Item::Assistant { .. }), Item::Assistant { .. }) => Err("two answers in a row".to_string()),
        (_, Item::Assistant { blocks, .. }) => check_answer(blocks, after),
        (Some(Item::Assistant { blocks, .. }), Item::Results(results)) => {
            check_results(blocks, results, names)
        }
        (_, Item::Results(_)) => Err("results without an answer".to_string()),
    }
}

fn calls(blocks: &[Block]) -> Vec<&ToolCall> {
    blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None }).collect()
}

fn check_answer(blocks: &[Block], after: Option<&Item>) -> Result<(), String> {
    let empty = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
    if !blocks.iter().any(|block| !matches!(block, Block::Reasoning(_))) || blocks.iter().any(empty) {
        return Err("an empty answer".to_string());
    }
    if !calls(blocks).is_empty() && !matches!(after, Some(Item::Results(_))) {
        return Err("calls without results".to_string());
    }
    Ok(())
}

fn check_results(
    blocks: &[Block],
    results: &[CallResult],
    names: &mut BTreeSet<String>,
) -> Result<(), String> {
    let asked: Vec<_> = calls(blocks).iter().map(|call| call.id).collect();
    let given: Vec<_> = results.iter().map(|result| result.call).collect();
    if asked != given || asked.is_empty() {
        return Err(format!("results {given:?} to calls {asked:?}"));
    }
    for result in results {
        if result.outcome.text.trim().is_empty() {
            return Err("an empty result".to_string());
        }
        if !names.insert(result.wire_id.clone()) {
            return Err(format!("the name {} is used twice", result.wire_id));
        }
    }
    Ok(())
}
