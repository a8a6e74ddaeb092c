//! What was streamed of an answer is the beginning of what it says in the end, block by block; only a new attempt begins
//! anew. A finished answer stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::Block;
use hostler_core::ids::{MessageId, SessionId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// What was streamed of the current answer, by block; reasoning is marked.
    streamed: BTreeMap<u32, (bool, String)>,
    finished: BTreeSet<MessageId>,
}

/// The answers that are being streamed.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(BTreeMap<SessionId, Session>);

impl Session {
    fn append(&mut self, block: u32, reasoning: bool, text: &str) -> Result<(), String> {
        let (kind, all) = self.streamed.entry(block).or_insert((reasoning, String::new()));
        if *kind != reasoning || text.is_empty() {
            return Err(format!("block {block} gets {text:?} of another kind, or nothing"));
        }
        all.push_str(text);
        Ok(())
    }

    fn finish(&mut self, message: MessageId, blocks: &[Block]) -> Result<(), String> {
        if !self.finished.insert(message) {
            return Err(format!("message {message} is finished twice"));
        }
        let said = |reasoning: bool| {
            blocks.iter().filter_map(move |block| match block {
                Block::Text(text) if !reasoning => Some(text),
                Block::Reasoning(thought) if reasoning => Some(&thought.text),
                _ => None,
            })
        };
        for (reasoning, streamed) in std::mem::take(&mut self.streamed).into_values() {
            if !said(reasoning).any(|text| *text == streamed) {
                return Err(format!("message {message} does not say what was streamed: {streamed:?}"));
            }
        }
        Ok(())
    }
}

impl Oracle for Streams {
    fn name(&self) -> &'static str {
        "streams"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { entry, .. } = seen else { return Ok(()) };
        let session = self.0.entry(entry.session.clone()).or_default();
        match &entry.record {
            Record::TextAppended { block, text, .. } => session.append(*block, false, text),
            Record::ReasoningAppended { block, text, .. } => session.append(*block, true, text),
            Record::AttemptFailed { retry_after: Some(_), .. } => {
                session.streamed.clear();
                Ok(())
            }
            Record::MessageFinished { message, blocks, .. } => session.finish(*message, blocks),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{answered, shown};
    use super::*;

    fn text(text: &str) -> Record {
        Record::TextAppended { message: MessageId(11), block: 0, text: text.to_owned() }
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Streams::default(), log, &[])
    }

    #[test]
    fn an_answer_that_differs_from_its_stream_is_noticed() {
        let said = |words: &str| answered(vec![Block::Text(words.to_owned())]);
        assert_eq!(check(&[text("a"), text("b"), said("ab")]), Ok(()));
        assert!(check(&[text("a"), text("b"), said("a")]).is_err());
        assert!(check(&[text("a"), said("b")]).is_err());
        assert!(check(&[said("a"), said("a")]).is_err());
        assert!(check(&[text("")]).is_err());
    }
}
