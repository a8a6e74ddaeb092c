//! What comes in is recorded: words of a model at once or as soon as they may be gathered for no longer, the beginning of what
//! a running tool says, and the end of an answer for the reason that its provider gave.

use std::collections::BTreeMap;

use hostler_core::content::{Block, Finish};
use hostler_core::ids::{AttemptId, CallId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::{FinishReason, ModelEvent};
use hostler_core::record::Record;
use hostler_core::session::{Input as SessionInput, Settings};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Input, Workspace};

use super::{Oracle, Seen};

/// How many bytes of what a tool says are enough.
const ENOUGH: usize = 65_536;

#[derive(Clone, Debug, Default)]
struct Session {
    attempt: Option<AttemptId>,
    /// The kinds of the blocks of the answer: whether it is text or thought, or a call.
    blocks: BTreeMap<u32, Kind>,
    /// How many bytes have come and are not recorded.
    pending: usize,
    /// When something was recorded last.
    last: Option<Timestamp>,
    /// How the answer is said to end.
    ending: Option<FinishReason>,
    /// How much each running tool has said that is recorded.
    tools: BTreeMap<CallId, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
    Call,
}

/// What has come in in each session of each process.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    gather: u64,
    sessions: BTreeMap<(usize, SessionId), Session>,
}

impl Recorded {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { gather: settings.gather, sessions: BTreeMap::new() }
    }

    fn handled(
        &mut self,
        (process, at): (usize, Timestamp),
        input: &Input,
        entries: &[Entry],
        machine: &Workspace,
    ) -> Result<(), String> {
        let heard = match input {
            Input::Session { session, input } => Some((session, input)),
            _ => None,
        };
        if let Some((session, input)) = heard {
            let known = self.sessions.entry((process, session.clone())).or_default();
            known.hear(input, entries).map_err(|what| format!("{session}: {what}"))?;
        }
        for entry in entries {
            let known = self.sessions.entry((process, entry.session.clone())).or_default();
            known.record(at, &entry.record).map_err(|what| format!("{}: {what}", entry.session))?;
        }
        let Some((session, _)) = heard else { return Ok(()) };
        let Some(known) = self.sessions.get(&(process, session.clone())) else { return Ok(()) };
        if known.pending == 0 || machine.durable(session).is_none_or(|durable| durable.turn.is_none()) {
            return Ok(());
        }
        let due = known.last.map_or(at, |last| last.plus(self.gather));
        let planned = machine.deadline_of(session).is_some_and(|(when, _)| when <= due);
        if due <= at || !planned {
            return Err(format!(
                "{session}: {} bytes are due at {due:?} and not recorded at {at:?}",
                known.pending
            ));
        }
        Ok(())
    }
}

impl Session {
    fn hear(&mut self, input: &SessionInput, entries: &[Entry]) -> Result<(), String> {
        match input {
            SessionInput::Model { attempt, event } if self.attempt == Some(*attempt) => self.said(event),
            SessionInput::ToolOutput { call, text } => {
                let room = self.tools.get(call).is_some_and(|said| *said < ENOUGH) && !text.is_empty();
                let appends = |entry: &Entry| matches!(&entry.record, Record::ToolOutputAppended { call: of, text: said } if of == call && said == text);
                if room != entries.iter().any(appends) {
                    return Err(format!("{call} says {} bytes, and recorded is {}", text.len(), !room));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn said(&mut self, event: &ModelEvent) {
        let (block, kind, bytes) = match event {
            ModelEvent::Text { block, text } => (*block, Kind::Text, text.len()),
            ModelEvent::Reasoning { block, text } => (*block, Kind::Thought, text.len()),
            ModelEvent::Opaque { block, .. } => (*block, Kind::Thought, 0),
            ModelEvent::Call { block, .. } => (*block, Kind::Call, 0),
            ModelEvent::Ending(reason) | ModelEvent::Finished(reason) => {
                self.ending = Some(*reason);
                return;
            }
            ModelEvent::Connected
            | ModelEvent::Input { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Failed(_) => return,
        };
        if *self.blocks.entry(block).or_insert(kind) == kind {
            self.pending += bytes;
        }
    }

    fn record(&mut self, at: Timestamp, record: &Record) -> Result<(), String> {
        match record {
            Record::AttemptStarted { attempt } => {
                let tools = std::mem::take(&mut self.tools);
                *self = Self { attempt: Some(*attempt), tools, ..Self::default() };
            }
            Record::AttemptFailed { .. } => {
                (self.attempt, self.pending) = (None, 0);
            }
            Record::TextAppended { text, .. } | Record::ReasoningAppended { text, .. } => {
                self.last = Some(at);
                self.pending =
                    self.pending.checked_sub(text.len()).ok_or("more is recorded than has come")?;
            }
            Record::MessageFinished { blocks, finish, .. } => {
                let left = std::mem::take(&mut self.pending);
                self.attempt = None;
                if let Some(reason) = self.ending.take() {
                    return ends(reason, blocks, finish, left);
                }
            }
            Record::ToolCallStarted { call, .. } => drop(self.tools.insert(*call, 0)),
            Record::ToolOutputAppended { call, text } => {
                self.tools.entry(*call).and_modify(|said| *said += text.len());
            }
            Record::ToolCallFinished { call, .. } => drop(self.tools.remove(call)),
            _ => {}
        }
        Ok(())
    }
}

/// Whether an answer ended so whose provider said that it ended for that reason.
fn ends(reason: FinishReason, blocks: &[Block], finish: &Finish, left: usize) -> Result<(), String> {
    // What was broken off all the same says so.
    if matches!(finish, Finish::Cancelled | Finish::Interrupted | Finish::Error(_)) {
        return Ok(());
    }
    let calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
    let fits = match reason {
        FinishReason::Length => *finish == Finish::MaxTokens,
        FinishReason::ContentFilter => *finish == Finish::ContentFilter && !calls,
        _ if calls => *finish == Finish::ToolUse,
        FinishReason::Stop | FinishReason::ToolCalls => *finish == Finish::EndTurn,
        FinishReason::Unknown => *finish == Finish::Unknown,
    };
    let whole = left == 0;
    if fits && whole {
        Ok(())
    } else {
        Err(format!("an answer that ended with {reason:?} ends with {finish:?}, {left} bytes left"))
    }
}

impl Oracle for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Handled { process, at, input, entries, machine } => {
                self.handled((*process, *at), input, entries, machine)
            }
            Seen::Gone { process } => {
                self.sessions.retain(|(owner, _), _| owner != process);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|(_, id), _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log and from what the machines await.
        &()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{
        ATTEMPT, CALL, answered, attempt, call, entry, machine, session, tool_started,
    };
    use super::*;

    fn hears(oracle: &mut Recorded, input: SessionInput, records: &[Record]) -> Result<(), String> {
        let entries: Vec<_> = records.iter().cloned().map(entry).collect();
        let input = Input::Session { session: session(), input };
        let (machine, at) = (machine(), Timestamp::from_millis(1));
        oracle.see(&Seen::Handled { process: 0, at, input: &input, entries: &entries, machine: &machine })
    }

    fn begun() -> Recorded {
        let mut oracle = Recorded::new(&Settings::default());
        assert_eq!(hears(&mut oracle, SessionInput::Tick, &[attempt(1), tool_started()]), Ok(()));
        oracle
    }

    fn model(event: ModelEvent) -> SessionInput {
        SessionInput::Model { attempt: ATTEMPT, event }
    }

    #[test]
    fn what_a_tool_says_is_recorded_as_it_says_it() {
        let says = |text: &str| SessionInput::ToolOutput { call: CALL, text: text.to_owned() };
        let appended = |text: &str| Record::ToolOutputAppended { call: CALL, text: text.to_owned() };
        assert_eq!(hears(&mut begun(), says("a"), &[appended("a")]), Ok(()));
        assert!(hears(&mut begun(), says("a"), &[]).is_err());
        assert!(hears(&mut begun(), says(""), &[appended("")]).is_err());
        let (mut oracle, long) = (begun(), "x".repeat(ENOUGH));
        assert_eq!(hears(&mut oracle, says(&long), &[appended(&long)]), Ok(()));
        assert!(hears(&mut oracle, says("a"), &[appended("a")]).is_err());
    }

    #[test]
    fn more_words_than_have_come_are_not_recorded() {
        let text = |text: &str| Record::TextAppended {
            message: hostler_core::ids::MessageId(11),
            block: 0,
            text: text.to_owned(),
        };
        let said = || model(ModelEvent::Text { block: 0, text: "ab".to_owned() });
        assert_eq!(hears(&mut begun(), said(), &[text("ab")]), Ok(()));
        assert!(hears(&mut begun(), said(), &[text("abc")]).is_err());
    }

    #[test]
    fn an_answer_ends_for_the_reason_that_was_given_and_with_all_that_was_said() {
        let done = || model(ModelEvent::Finished(FinishReason::Stop));
        assert_eq!(hears(&mut begun(), done(), &[answered(vec![])]), Ok(()));
        assert!(hears(&mut begun(), done(), &[answered(vec![call()])]).is_err());
        let cut = || model(ModelEvent::Finished(FinishReason::Length));
        assert!(hears(&mut begun(), cut(), &[answered(vec![])]).is_err());
        let mut oracle = begun();
        drop(hears(&mut oracle, model(ModelEvent::Text { block: 0, text: "ab".to_owned() }), &[]));
        assert!(hears(&mut oracle, done(), &[answered(vec![])]).is_err(), "two bytes are lost");
    }
}
