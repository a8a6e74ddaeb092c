//! An answer while it is being read: which blocks it has so far, and whether it is over.
//!
//! Every protocol says its events through this, so that all of them number blocks from 0 as they appear, say nothing
//! that is empty, and end exactly once. What a stream means is decided by the protocols.

use alloc::string::String;
use alloc::vec::Vec;

use super::refusal::Report;
use crate::content::Usage;
use crate::model::{CallError, CallErrorKind, FinishReason, ModelEvent};

/// What a model says aloud, and what it thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Said to the user.
    Text,
    /// Thought.
    Reasoning,
}

/// An answer while it is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// How many blocks have begun.
    blocks: u32,
    /// The block of text or reasoning that goes on if more of its kind comes.
    open: Option<(Voice, u32)>,
    calls: bool,
    usage: Option<Usage>,
    ending: Option<FinishReason>,
    over: bool,
    said: Vec<ModelEvent>,
}

impl Answer {
    /// Whether its end has been said; nothing is said after that.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// What has been said since this was last asked.
    pub(super) fn take(&mut self, out: &mut Vec<ModelEvent>) {
        out.append(&mut self.said);
    }

    /// Begins a block, about which nothing has been said yet.
    pub(super) fn begin(&mut self) -> u32 {
        let block = self.blocks;
        self.blocks += 1;
        self.open = None;
        block
    }

    /// More of the block that is open, if it has that voice, else of a new one. Tells which one that is, unless nothing is
    /// said.
    pub(super) fn say(&mut self, voice: Voice, text: String) -> Option<u32> {
        if text.is_empty() {
            return None;
        }
        let block = match self.open {
            Some((open, block)) if open == voice => block,
            _ => self.begin(),
        };
        self.open = Some((voice, block));
        self.speak(block, voice, text);
        Some(block)
    }

    /// Whether it calls anything.
    pub(super) fn calls(&self) -> bool {
        self.calls
    }

    /// More of that block.
    pub(super) fn speak(&mut self, block: u32, voice: Voice, text: String) {
        if text.is_empty() {
            return;
        }
        self.push(match voice {
            Voice::Text => ModelEvent::Text { block, text },
            Voice::Reasoning => ModelEvent::Reasoning { block, text },
        });
    }

    /// Begins a call, and tells its block.
    pub(super) fn call(&mut self, id: String, name: String) -> u32 {
        let block = self.begin();
        self.calls = true;
        self.push(ModelEvent::Call { block, id, name });
        block
    }

    /// More of a call's arguments.
    pub(super) fn input(&mut self, block: u32, text: String) {
        if !text.is_empty() {
            self.push(ModelEvent::Input { block, text });
        }
    }

    /// What the provider wants back with that block, as JSON text.
    pub(super) fn seal(&mut self, block: u32, data: &str) {
        self.push(ModelEvent::Opaque { block, data: data.into() });
    }

    /// What has been used so far, if that is news.
    pub(super) fn usage(&mut self, usage: Usage) {
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            self.push(ModelEvent::Usage(usage));
        }
    }

    /// The model is done, for the reason that it is given; the stream goes on.
    pub(super) fn ending(&mut self, reason: FinishReason) {
        if self.ending != Some(reason) {
            self.ending = Some(reason);
            self.push(ModelEvent::Ending(self.reason(Some(reason))));
        }
    }

    /// The answer is complete. The mark that ends a stream, and nothing else, is no answer.
    pub(super) fn finish(&mut self, reason: Option<FinishReason>) {
        if reason.is_none() && self.blocks == 0 {
            return self.cut();
        }
        self.push(ModelEvent::Finished(self.reason(reason)));
        self.over = true;
    }

    /// Several servers say of an answer that calls tools that it just stopped, or nothing.
    fn reason(&self, reason: Option<FinishReason>) -> FinishReason {
        match reason {
            None | Some(FinishReason::Stop) if self.calls => FinishReason::ToolCalls,
            None => FinishReason::Unknown,
            Some(reason) => reason,
        }
    }

    /// The provider says that something went wrong.
    pub(super) fn report(&mut self, report: Report) {
        let silent = report.message.is_empty();
        let message =
            if silent { "The provider reported an error without a message.".into() } else { report.message };
        self.fail(CallErrorKind::Stream { code: report.code }, message);
    }

    /// The attempt failed.
    pub(super) fn fail(&mut self, kind: CallErrorKind, message: String) {
        self.abort(CallError { kind, message, retry_after: None, should_retry: None });
    }

    /// The stream is over and the answer is not.
    pub(super) fn cut(&mut self) {
        self.fail(CallErrorKind::Truncated, "The stream ended before the answer did.".into());
    }

    /// The attempt failed with that error.
    pub(super) fn abort(&mut self, error: CallError) {
        self.push(ModelEvent::Failed(error));
        self.over = true;
    }

    fn push(&mut self, event: ModelEvent) {
        if !self.over {
            self.said.push(event);
        }
    }
}
