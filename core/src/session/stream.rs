//! Puts a streamed answer together and says what of it is due to be recorded.
//!
//! It keeps the order in which blocks appeared and everything a provider wants back word for word. It knows nothing of
//! turns, retries or cancels.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::{Block, Reasoning, ToolCall, Usage};
use crate::ids::{CallId, MessageId, StepId};
use crate::model::ModelEvent;
use crate::record::Record;

/// An answer while it is being streamed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Assembly {
    blocks: BTreeMap<u32, Part>,
    bytes: usize,
    /// What the attempt has used so far.
    pub(super) usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Text { text: String, recorded: usize },
    Reasoning { text: String, recorded: usize, opaque: Option<String> },
    Call { id: String, name: String, input: String, opaque: Option<String> },
}

impl Assembly {
    /// Takes in an event of the stream. What concerns no block changes nothing here.
    pub(super) fn push(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text { block, text } => self.text(*block, text),
            ModelEvent::Reasoning { block, text } => self.reasoning(*block, text),
            ModelEvent::Opaque { block, data } => self.opaque(*block, data),
            ModelEvent::Call { block, id, name } => self.call(*block, id, name),
            ModelEvent::Input { block, text } => self.input(*block, text),
            ModelEvent::Usage(usage) => self.usage = *usage,
            ModelEvent::Connected
            | ModelEvent::Ending(_)
            | ModelEvent::Finished(_)
            | ModelEvent::Failed(_) => {}
        }
    }

    /// How many bytes have been streamed.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is text or reasoning that is not recorded.
    pub(super) fn is_pending(&self) -> bool {
        self.blocks.values().any(|part| match part {
            Part::Text { text, recorded } | Part::Reasoning { text, recorded, .. } => *recorded < text.len(),
            Part::Call { .. } => false,
        })
    }

    /// The records of what is not recorded, in order; it counts as recorded from here on.
    pub(super) fn take_pending(&mut self, message: MessageId) -> Vec<Record> {
        let mut records = Vec::new();
        for (block, part) in &mut self.blocks {
            match part {
                Part::Text { text, recorded } if *recorded < text.len() => {
                    let text = rest(text, recorded);
                    records.push(Record::TextAppended { message, block: *block, text });
                }
                Part::Reasoning { text, recorded, .. } if *recorded < text.len() => {
                    let text = rest(text, recorded);
                    records.push(Record::ReasoningAppended { message, block: *block, text });
                }
                Part::Text { .. } | Part::Reasoning { .. } | Part::Call { .. } => {}
            }
        }
        records
    }

    /// Puts in the place of each text what is made of it in the original; says of each whether it is JSON.
    pub(super) fn replace(&mut self, original: &Self, mut replace: impl FnMut(u32, bool, &mut String)) {
        for (block, part) in &mut self.blocks {
            match (part, original.blocks.get(block)) {
                (Part::Text { text, .. }, Some(Part::Text { text: before, .. }))
                | (Part::Reasoning { text, .. }, Some(Part::Reasoning { text: before, .. })) => {
                    text.clone_from(before);
                    replace(*block, false, text);
                }
                (Part::Call { input, .. }, Some(Part::Call { input: before, .. })) => {
                    input.clone_from(before);
                    replace(*block, true, input);
                }
                (Part::Text { .. } | Part::Reasoning { .. } | Part::Call { .. }, _) => {}
            }
        }
    }

    /// The whole answer; its calls are numbered in order.
    pub(super) fn finish(self, step: StepId) -> Vec<Block> {
        let mut calls = 0;
        let parts = self.blocks.into_values();
        parts.filter_map(|part| part.into_block(step, &mut calls)).collect()
    }
}

impl Assembly {
    fn text(&mut self, block: u32, more: &str) {
        self.bytes += more.len();
        let empty = Part::Text { text: String::new(), recorded: 0 };
        if let Part::Text { text, .. } = self.blocks.entry(block).or_insert(empty) {
            text.push_str(more);
        }
    }

    fn reasoning(&mut self, block: u32, more: &str) {
        self.bytes += more.len();
        let empty = Part::Reasoning { text: String::new(), recorded: 0, opaque: None };
        if let Part::Reasoning { text, .. } = self.blocks.entry(block).or_insert(empty) {
            text.push_str(more);
        }
    }

    fn opaque(&mut self, block: u32, data: &str) {
        self.bytes += data.len();
        let empty = Part::Reasoning { text: String::new(), recorded: 0, opaque: None };
        match self.blocks.entry(block).or_insert(empty) {
            Part::Reasoning { opaque, .. } | Part::Call { opaque, .. } => *opaque = Some(String::from(data)),
            Part::Text { .. } => {}
        }
    }

    fn call(&mut self, block: u32, id: &str, name: &str) {
        self.bytes += id.len() + name.len();
        let call = Part::Call { id: id.into(), name: name.into(), input: String::new(), opaque: None };
        self.blocks.entry(block).or_insert(call);
    }

    fn input(&mut self, block: u32, more: &str) {
        self.bytes += more.len();
        if let Some(Part::Call { input, .. }) = self.blocks.get_mut(&block) {
            input.push_str(more);
        }
    }
}

fn rest(text: &str, recorded: &mut usize) -> String {
    let rest = text.get(*recorded..).unwrap_or_default().into();
    *recorded = text.len();
    rest
}

impl Part {
    fn into_block(self, step: StepId, calls: &mut u32) -> Option<Block> {
        match self {
            Part::Text { text, .. } => (!text.is_empty()).then_some(Block::Text(text)),
            Part::Reasoning { text, opaque, .. } => {
                let empty = text.is_empty() && opaque.is_none();
                (!empty).then_some(Block::Reasoning(Reasoning { text, opaque }))
            }
            Part::Call { id, name, input, opaque } => {
                *calls += 1;
                let id_ = CallId { step, call: *calls };
                Some(Block::Call(ToolCall { id: id_, provider_id: id, name, input, opaque, outcome: None }))
            }
        }
    }
}

/// What is kept of an answer that was broken off: what was said, but no call, because none of them was carried out and
/// the last may be half written.
pub(super) fn without_calls(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.retain(|block| !matches!(block, Block::Call(_)));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TurnId;

    const STEP: StepId = StepId { turn: TurnId(1), step: 1 };

    fn text(block: u32, text: &str) -> ModelEvent {
        ModelEvent::Text { block, text: text.into() }
    }

    #[test]
    fn blocks_keep_the_order_in_which_they_appeared() {
        let mut assembly = Assembly::default();
        assembly.push(&ModelEvent::Reasoning { block: 0, text: "hm".into() });
        assembly.push(&text(1, "a"));
        assembly.push(&ModelEvent::Call { block: 2, id: "x".into(), name: "ls".into() });
        assembly.push(&ModelEvent::Input { block: 2, text: "{}".into() });
        assembly.push(&text(3, "b"));
        assembly.push(&text(1, "c"));
        assembly.push(&ModelEvent::Opaque { block: 0, data: "\"sealed\"".into() });
        let blocks = assembly.finish(STEP);
        let call = ToolCall {
            id: CallId { step: STEP, call: 1 },
            provider_id: "x".into(),
            name: "ls".into(),
            input: "{}".into(),
            opaque: None,
            outcome: None,
        };
        let reasoning = Reasoning { text: "hm".into(), opaque: Some("\"sealed\"".into()) };
        let expected = [
            Block::Reasoning(reasoning),
            Block::Text("ac".into()),
            Block::Call(call),
            Block::Text("b".into()),
        ];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn nothing_is_recorded_twice() {
        let mut assembly = Assembly::default();
        assembly.push(&text(0, "one"));
        assert!(assembly.is_pending());
        let message = MessageId(1);
        let first = assembly.take_pending(message);
        assert_eq!(first, [Record::TextAppended { message, block: 0, text: "one".into() }]);
        assert!(assembly.take_pending(message).is_empty());
        assembly.push(&text(0, "two"));
        let second = assembly.take_pending(message);
        assert_eq!(second, [Record::TextAppended { message, block: 0, text: "two".into() }]);
        assert!(!assembly.is_pending());
    }
}
