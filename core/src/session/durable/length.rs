//! How long a conversation is, as far as that is known.

use serde::{Deserialize, Serialize};

use crate::content::{Attachment, Block, MessageBody, ToolOutcome};

/// How long the conversation is: what was measured last, and what came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Tokens after the last step that a provider counted; 0 if none has.
    pub measured: u64,
    /// Bytes that came since.
    pub since: u64,
}

impl Length {
    /// About how many tokens that is, at four bytes a token.
    pub fn tokens(&self) -> u64 {
        self.measured.saturating_add(self.since.div_ceil(4))
    }
}

/// How many bytes a piece of an answer adds.
pub(super) fn block_bytes(block: &Block) -> u64 {
    let bytes = match block {
        Block::Text(text) => text.len(),
        Block::Reasoning(reasoning) => reasoning.text.len(),
        Block::Call(call) => call.name.len() + call.input.len(),
    };
    bytes as u64
}

/// How many bytes of text a picture counts for: what providers count is what it shows, whatever its file weighs.
const MEDIA_BYTES: usize = 6_400;

fn attachment_bytes(attachment: &Attachment) -> usize {
    let bytes = attachment.data.len();
    if attachment.media_type.starts_with("text/") { bytes } else { bytes.min(MEDIA_BYTES) }
}

fn attached_bytes(attachments: &[Attachment]) -> usize {
    attachments.iter().map(attachment_bytes).sum()
}

/// How many bytes a prompt adds.
pub(in super::super) fn prompt_bytes(text: &str, attachments: &[Attachment]) -> u64 {
    (text.len() + attached_bytes(attachments)) as u64
}

/// How many bytes the outcome of a call adds.
pub(super) fn outcome_bytes(outcome: &ToolOutcome) -> u64 {
    (outcome.text.len() + attached_bytes(&outcome.media)) as u64
}

/// How many bytes a message adds; an answer's are counted when it is finished.
pub(super) fn bytes_of(body: &MessageBody) -> u64 {
    match body {
        MessageBody::User(user) => prompt_bytes(&user.text, &user.attachments),
        MessageBody::Summary(text) => text.len() as u64,
        MessageBody::Assistant(_) => 0,
    }
}

/// How many bytes an answer adds that is taken over from another session, with what came of its calls.
pub(super) fn copied_bytes(body: &MessageBody) -> u64 {
    match body {
        MessageBody::User(_) | MessageBody::Summary(_) => 0,
        MessageBody::Assistant(answer) => {
            let outcomes = answer.calls().filter_map(|call| call.outcome.as_ref());
            answer.blocks.iter().map(block_bytes).sum::<u64>() + outcomes.map(outcome_bytes).sum::<u64>()
        }
    }
}
