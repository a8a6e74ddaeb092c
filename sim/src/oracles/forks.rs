//! A session that is made from another one begins with all that was said there when that was asked for, but for the turn that
//! was under way.

use std::collections::BTreeMap;

use hostler_core::content::{Block, Message, MessageBody};
use hostler_core::ids::{CallId, MessageId, PromptId, SessionId, TurnId};
use hostler_core::protocol::Command;
use hostler_core::record::Record;

use super::{Oracle, Seen};

/// A message in words, piece by piece; of a call, which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    message: MessageId,
    turn: Option<TurnId>,
    pieces: Vec<(Option<CallId>, String)>,
}

#[derive(Clone, Debug, Default)]
struct Session {
    texts: BTreeMap<PromptId, String>,
    lines: Vec<Line>,
    turn: Option<TurnId>,
    summing: bool,
}

/// What was said in each session, and what others were asked to be made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Forks {
    sessions: BTreeMap<SessionId, Session>,
    asked: Vec<(usize, SessionId, SessionId, Vec<Line>)>,
}

fn pieces(blocks: &[Block]) -> Vec<(Option<CallId>, String)> {
    let one = |block: &Block| match block {
        Block::Text(text) => (None, text.clone()),
        Block::Reasoning(reasoning) => (None, format!("{} {:?}", reasoning.text, reasoning.opaque)),
        Block::Call(call) => {
            let came = call.outcome.as_ref().map_or("", |outcome| outcome.text.as_str());
            (Some(call.id), format!("{} {}{came}", call.name, call.input))
        }
    };
    blocks.iter().map(one).collect()
}

fn line(Message { id, body }: &Message) -> Line {
    let (turn, pieces) = match body {
        MessageBody::User(user) => (Some(user.turn), vec![(None, user.text.clone())]),
        MessageBody::Assistant(answer) => (Some(answer.step.turn), pieces(&answer.blocks)),
        MessageBody::Summary(text) => (None, vec![(None, text.clone())]),
    };
    Line { message: *id, turn, pieces }
}

impl Session {
    fn says(&mut self, message: MessageId, turn: TurnId, text: String) {
        self.turn = Some(turn);
        self.lines.push(Line { message, turn: Some(turn), pieces: vec![(None, text)] });
    }

    fn line(&mut self, message: MessageId) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.message == message)
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                self.texts.insert(prompt.id.clone(), prompt.text.clone());
            }
            Record::TurnStarted { turn, prompt, message, .. }
            | Record::PromptFolded { turn, prompt, message } => {
                self.summing = false;
                let text = self.texts.get(prompt).cloned().unwrap_or_default();
                self.says(*message, *turn, text);
            }
            Record::TurnContinued { turn, message, text, .. }
            | Record::AnswerRefused { turn, message, text, .. } => {
                self.summing = false;
                self.says(*message, *turn, text.clone());
            }
            Record::SummaryStarted { turn, .. } => (self.turn, self.summing) = (Some(*turn), true),
            Record::StepStarted { step, message, .. } => {
                self.lines.push(Line { message: *message, turn: Some(step.turn), pieces: Vec::new() });
            }
            Record::MessageFinished { message, blocks, .. } => {
                let said = pieces(blocks);
                self.line(*message).into_iter().for_each(|line| line.pieces.clone_from(&said));
            }
            Record::ToolCallFinished { message, call, outcome, .. } => {
                let line = self.line(*message).into_iter().flat_map(|line| &mut line.pieces);
                line.filter(|(id, _)| *id == Some(*call)).for_each(|(_, text)| text.push_str(&outcome.text));
            }
            Record::SummaryFinished { message, text, .. } => {
                self.lines = vec![Line { message: *message, turn: None, pieces: vec![(None, text.clone())] }];
            }
            Record::TurnFinished { turn, .. } => {
                // What was said for a summary is no part of the conversation.
                if self.summing {
                    self.lines.retain(|line| line.turn != Some(*turn));
                }
                self.turn = None;
            }
            Record::SessionForked { messages, .. } => self.lines = messages.iter().map(line).collect(),
            _ => {}
        }
    }
}

impl Forks {
    /// Somebody asks for a session to be made from another one.
    fn ask(&mut self, process: usize, from: &SessionId, to: &SessionId) {
        let Some(source) = self.sessions.get(from) else { return };
        let over = |line: &&Line| line.turn.is_none() || line.turn != source.turn;
        let lines = source.lines.iter().filter(over).cloned().collect();
        self.asked.push((process, from.clone(), to.clone(), lines));
    }

    fn forked(&self, session: &SessionId, from: &SessionId, messages: &[Message]) -> Result<(), String> {
        let lines: Vec<_> = messages.iter().map(line).collect();
        let mut asked = self.asked.iter().filter(|(_, _, to, _)| to == session).peekable();
        // Of what was asked before power went nobody knows.
        if asked.peek().is_none() || asked.any(|(_, source, _, known)| source == from && *known == lines) {
            return Ok(());
        }
        Err(format!("{session} begins with something else than {from} had come to: {lines:?}"))
    }
}

impl Oracle for Forks {
    fn name(&self) -> &'static str {
        "forks"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                if let Record::SessionForked { from, messages, .. } = &entry.record {
                    self.forked(&entry.session, from, messages)?;
                    self.asked.retain(|(_, _, to, _)| *to != entry.session);
                }
                self.sessions.entry(entry.session.clone()).or_default().record(&entry.record);
            }
            Seen::Request { process, command: Command::Fork { from, session }, .. } => {
                self.ask(*process, from, session);
            }
            Seen::Gone { process } => self.asked.retain(|(owner, _, _, _)| owner != process),
            _ => {}
        }
        Ok(())
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log and from what waits in the processes.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::UserMessage;
    use hostler_core::ids::RequestId;
    use hostler_core::machine::Entry;

    use super::super::fixture::{accepted, ended, entry, session, shown, started};
    use super::*;

    /// A session is made from one in which the second turn is under way, and begins with so many messages of it.
    fn check(taken: usize) -> Result<(), String> {
        let mut oracle = Forks::default();
        let log = [accepted(1, "a"), started(1, "a"), ended(1), accepted(2, "b"), started(2, "b")];
        shown(&mut oracle, &log, &[])?;
        let new = SessionId::new("n");
        let command = Command::Fork { from: session(), session: new.clone() };
        oracle.see(&Seen::Request { process: 0, id: RequestId(1), command: &command })?;
        let said = |(turn, id): (u32, &str)| {
            let (prompt, text) = (PromptId::new(id), format!("Do {id}."));
            let user = UserMessage { turn: TurnId(turn), prompt, text, attachments: Vec::new() };
            Message { id: MessageId(u64::from(turn) * 10), body: MessageBody::User(user) }
        };
        let messages = [(1, "a"), (2, "b")].into_iter().take(taken).map(said).collect();
        let (from, titled_by, turn, todos) = (session(), None, TurnId(2), Vec::new());
        let record = Record::SessionForked { from, titled_by, messages, turn, todos };
        oracle.see(&Seen::Log { seq: 9, entry: &Entry { session: new, ..entry(record) } })
    }

    #[test]
    fn a_session_takes_over_what_is_over_and_no_more() {
        assert_eq!(check(1), Ok(()));
        assert!(check(0).is_err());
        assert!(check(2).is_err());
    }
}
