//! How long a conversation is, as far as that is known.

use serde::{Deserialize, Serialize};

use crate::content::{Block, MessageBody};

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

/// How many bytes a message adds; an answer's are counted when it is finished.
pub(super) fn bytes_of(body: &MessageBody) -> u64 {
    let bytes = match body {
        MessageBody::User(user) => {
            user.text.len() + user.attachments.iter().map(|attachment| attachment.data.len()).sum::<usize>()
        }
        MessageBody::Summary(text) => text.len(),
        MessageBody::Assistant(_) => 0,
    };
    bytes as u64
}
