//! The tables that are derived from the log: sessions, messages, outcomes of tool calls, runs. Each record changes them
//! in the transaction that appends it. Streamed text does not: a message is written when it begins and when it ends.
//!
//! A record that does not fit what is there changes nothing, or is kept with what is known.

use hostler_core::content::{
    AssistantMessage, Block, Finish, Message, MessageBody, ToolOutcome, UserMessage,
};
use hostler_core::ids::{CallId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::model::ModelRef;
use hostler_core::prompt::Prompt;
use hostler_core::record::{Parent, Record, RunFinished, Totals};
use hostler_core::tools::Ask;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::Fault;
use super::int;

/// The totals of a session without runs, as they stand in its row.
pub(super) fn no_totals() -> Result<String, Fault> {
    to_json("totals", &Totals::default())
}

/// Brings the derived tables up to date with an entry that has its place in the log.
pub(super) fn apply(write: &Connection, session: i64, seq: u64, entry: &Entry) -> Result<(), Fault> {
    let row = Row { write, session, seq: int(seq), at: int(entry.at.as_millis()) };
    match &entry.record {
        Record::SessionCreated { title, parent } => row.created(title, parent.as_ref()),
        Record::PromptAccepted { sequence, prompt } => row.accepted(*sequence, prompt),
        Record::PromptFolded { prompt, turn, message } => row.folded(*turn, prompt, *message),
        Record::PromptReturned { prompt, .. } => row.fate(prompt, "returned"),
        Record::TurnStarted { turn, run, prompt, message } => row.turn(*turn, run, prompt, *message),
        Record::SummaryFinished { message, text, .. } => {
            row.insert_message(*message, MessageBody::Summary(text.clone()))
        }
        Record::TurnContinued { turn, prompt, message, text, .. }
        | Record::AnswerRefused { turn, prompt, message, text, .. } => {
            let (prompt, text) = (prompt.clone(), text.clone());
            let user = UserMessage { turn: *turn, prompt, text, attachments: Vec::new() };
            row.insert_message(*message, MessageBody::User(user))
        }
        Record::StepStarted { step, message, model } => row.step(*step, *message, model),
        Record::MessageFinished { message, blocks, finish, .. } => row.finished(*message, blocks, finish),
        Record::ToolCallFinished { message, call, outcome, .. } => row.outcome(*message, *call, outcome),
        Record::RunFinished(finished) => row.run_finished(finished),
        Record::SessionForked { messages, .. } => messages.iter().try_for_each(|message| row.taken(message)),
        Record::TitleChanged { title, usage, cost, .. } => {
            row.retitled(title, &Totals { usage: *usage, cost: *cost, ..Totals::default() })
        }
        Record::PermissionAsked { session, call, ask } => row.asked(session, *call, ask),
        Record::PermissionWithdrawn { session, call } => row.answered(session, *call),
        Record::PermissionDecided { call, session, .. } => {
            row.answered(session.as_ref().unwrap_or(&entry.session), *call)
        }
        Record::PromptQueued { .. }
        | Record::SummaryStarted { .. }
        | Record::Prepared { .. }
        | Record::AttemptStarted { .. }
        | Record::TextAppended { .. }
        | Record::ReasoningAppended { .. }
        | Record::AttemptFailed { .. }
        | Record::ToolCallStarted { .. }
        | Record::ToolOutputAppended { .. }
        | Record::SubAgentFinished { .. }
        | Record::TodosChanged { .. }
        | Record::StepFinished { .. }
        | Record::CancelAccepted { .. } => Ok(()),
        Record::TurnFinished { totals, .. } => totals.iter().try_for_each(|totals| row.add_totals(totals)),
    }
}

/// A record's place, where what follows from it is written.
struct Row<'a> {
    write: &'a Connection,
    session: i64,
    seq: i64,
    at: i64,
}

impl Row<'_> {
    /// How many rows it changed.
    fn run_sql(&self, sql: &str, values: impl rusqlite::Params) -> Result<i64, Fault> {
        let changed = self.write.prepare_cached(sql)?.execute(values)?;
        Ok(i64::try_from(changed).unwrap_or(i64::MAX))
    }

    fn created(&self, title: &str, parent: Option<&Parent>) -> Result<(), Fault> {
        let parent = parent.map(|parent| to_json("parent", parent)).transpose()?;
        self.run_sql(
            "UPDATE sessions SET title = ?2, parent = ?3, created = ?4 WHERE key = ?1",
            params![self.session, title, parent, self.at],
        )?;
        Ok(())
    }

    fn retitled(&self, title: &str, more: &Totals) -> Result<(), Fault> {
        self.run_sql("UPDATE sessions SET title = ?2 WHERE key = ?1", params![self.session, title])?;
        self.add_totals(more)
    }

    fn asked(&self, asker: &SessionId, call: CallId, ask: &Ask) -> Result<(), Fault> {
        self.run_sql(
            "INSERT OR REPLACE INTO asks (session, asker, call, at, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.session, asker.as_str(), call.to_string(), self.at, to_json("ask", ask)?],
        )?;
        Ok(())
    }

    fn answered(&self, asker: &SessionId, call: CallId) -> Result<(), Fault> {
        self.run_sql(
            "DELETE FROM asks WHERE session = ?1 AND asker = ?2 AND call = ?3",
            params![self.session, asker.as_str(), call.to_string()],
        )?;
        Ok(())
    }

    fn accepted(&self, sequence: u64, prompt: &Prompt) -> Result<(), Fault> {
        let attachments = to_json("attachments", &prompt.attachments)?;
        let (run, id, text) = (prompt.run_id(), prompt.id.as_str(), &prompt.text);
        let added = self.run_sql(
            "INSERT INTO runs (session, run, prompt, sequence, text, attachments, accepted)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            params![self.session, run.as_str(), id, int(sequence), text, attachments, self.at],
        )?;
        self.run_sql("UPDATE sessions SET runs = runs + ?2 WHERE key = ?1", params![self.session, added])?;
        Ok(())
    }

    fn folded(&self, turn: TurnId, prompt: &PromptId, message: MessageId) -> Result<(), Fault> {
        self.fate(prompt, "folded")?;
        self.user_message(turn, prompt, message)
    }

    fn fate(&self, prompt: &PromptId, fate: &str) -> Result<(), Fault> {
        self.run_sql(
            "UPDATE runs SET fate = ?3 WHERE session = ?1 AND prompt = ?2",
            params![self.session, prompt.as_str(), fate],
        )?;
        Ok(())
    }

    /// A run may have several turns; the first one is where the run begins.
    fn turn(&self, turn: TurnId, run: &RunId, prompt: &PromptId, message: MessageId) -> Result<(), Fault> {
        self.run_sql(
            "UPDATE sessions SET latest_run = ?2, run_seq = ?3 WHERE key = ?1 AND latest_run IS NOT ?2",
            params![self.session, run.as_str(), self.seq],
        )?;
        self.user_message(turn, prompt, message)
    }

    fn user_message(&self, turn: TurnId, prompt: &PromptId, message: MessageId) -> Result<(), Fault> {
        self.run_sql(
            "UPDATE runs SET message = ?3 WHERE session = ?1 AND prompt = ?2",
            params![self.session, prompt.as_str(), int(message.0)],
        )?;
        let mut find = self
            .write
            .prepare_cached("SELECT text, attachments FROM runs WHERE session = ?1 AND prompt = ?2")?;
        let found: Option<(String, String)> = find
            .query_row(params![self.session, prompt.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (text, attachments) = found.unwrap_or_else(|| (String::new(), "[]".to_string()));
        let attachments = from_json("attachments", &attachments)?;
        self.insert_message(
            message,
            MessageBody::User(UserMessage { turn, prompt: prompt.clone(), text, attachments }),
        )
    }

    fn step(&self, step: StepId, message: MessageId, model: &ModelRef) -> Result<(), Fault> {
        self.run_sql(
            "UPDATE sessions SET model = ?2 WHERE key = ?1",
            params![self.session, to_json("model", model)?],
        )?;
        let answer = AssistantMessage { step, model: model.clone(), blocks: Vec::new(), finish: None };
        self.insert_message(message, MessageBody::Assistant(answer))
    }

    fn insert_message(&self, id: MessageId, body: MessageBody) -> Result<(), Fault> {
        let (role, whole) = match &body {
            MessageBody::User(_) => ("user", true),
            MessageBody::Summary(_) => ("summary", true),
            MessageBody::Assistant(_) => ("assistant", false),
        };
        let body = to_json("message", &Message { id, body })?;
        let added = self.run_sql(
            "INSERT INTO messages (session, number, role, at, start, finished, body)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            params![self.session, int(id.0), role, self.at, self.seq, whole, body],
        )?;
        self.run_sql(
            "UPDATE sessions SET messages = messages + ?2 WHERE key = ?1",
            params![self.session, added],
        )?;
        Ok(())
    }

    /// A message that another session had said.
    fn taken(&self, message: &Message) -> Result<(), Fault> {
        let mut message = message.clone();
        let MessageBody::Assistant(answer) = &mut message.body else {
            return self.insert_message(message.id, message.body);
        };
        // Outcomes of calls have a table of their own.
        let mut outcomes = Vec::new();
        for block in &mut answer.blocks {
            if let Block::Call(call) = block {
                outcomes.extend(call.outcome.take().map(|outcome| (call.id, outcome)));
            }
        }
        let (step, model, blocks) = (answer.step, answer.model.clone(), answer.blocks.clone());
        let finish = answer.finish.clone().unwrap_or(Finish::Interrupted);
        self.step(step, message.id, &model)?;
        self.finished(message.id, &blocks, &finish)?;
        outcomes.iter().try_for_each(|(call, outcome)| self.outcome(message.id, *call, outcome))
    }

    fn finished(&self, id: MessageId, blocks: &[Block], finish: &Finish) -> Result<(), Fault> {
        let mut find =
            self.write.prepare_cached("SELECT body FROM messages WHERE session = ?1 AND number = ?2")?;
        let found: Option<String> = find.query_row([self.session, int(id.0)], |row| row.get(0)).optional()?;
        let Some(found) = found else { return Ok(()) };
        let mut message: Message = from_json("message", &found)?;
        let MessageBody::Assistant(answer) = &mut message.body else { return Ok(()) };
        answer.blocks = blocks.to_vec();
        answer.finish = Some(finish.clone());
        self.run_sql(
            "UPDATE messages SET finished = 1, at = ?3, body = ?4 WHERE session = ?1 AND number = ?2",
            params![self.session, int(id.0), self.at, to_json("message", &message)?],
        )?;
        Ok(())
    }

    fn outcome(&self, message: MessageId, call: CallId, outcome: &ToolOutcome) -> Result<(), Fault> {
        self.run_sql(
            "INSERT OR REPLACE INTO outcomes (session, message, call, body) VALUES (?1, ?2, ?3, ?4)",
            params![self.session, int(message.0), call.to_string(), to_json("outcome", outcome)?],
        )?;
        Ok(())
    }

    fn run_finished(&self, finished: &RunFinished) -> Result<(), Fault> {
        self.run_sql(
            "UPDATE runs SET finished = ?3 WHERE session = ?1 AND run = ?2",
            params![self.session, finished.run.as_str(), to_json("end of a run", finished)?],
        )?;
        self.add_totals(&finished.totals)?;
        self.forget_chunks(&finished.run)
    }

    fn add_totals(&self, more: &Totals) -> Result<(), Fault> {
        let mut find = self.write.prepare_cached("SELECT totals FROM sessions WHERE key = ?1")?;
        let found: String = find.query_row([self.session], |row| row.get(0))?;
        let mut totals: hostler_core::record::Totals = from_json("totals", &found)?;
        totals.add(more);
        self.run_sql(
            "UPDATE sessions SET totals = ?2 WHERE key = ?1",
            params![self.session, to_json("totals", &totals)?],
        )?;
        Ok(())
    }

    /// When the run that began last ends, the chunks of those before it go: whoever follows the log has every byte of
    /// the last run, and whole messages before that. The end of another run (one that never began a turn) is no reason.
    fn forget_chunks(&self, run: &RunId) -> Result<(), Fault> {
        let mut find =
            self.write.prepare_cached("SELECT run_seq FROM sessions WHERE key = ?1 AND latest_run = ?2")?;
        let found: Option<i64> =
            find.query_row(params![self.session, run.as_str()], |row| row.get(0)).optional()?;
        let Some(run_seq) = found else { return Ok(()) };
        self.run_sql(
            "UPDATE sessions SET tail_bytes = tail_bytes - (
                SELECT coalesce(sum(octet_length(body)), 0) FROM records WHERE session = ?1 AND chunk = 1 AND seq < ?2
                    AND seq > coalesce((SELECT seq FROM snapshots WHERE session = ?1), 0)) WHERE key = ?1",
            [self.session, run_seq],
        )?;
        self.run_sql(
            "DELETE FROM records WHERE session = ?1 AND chunk = 1 AND seq < ?2",
            [self.session, run_seq],
        )?;
        // Sub-agents are part of the run that opened them; their ids begin with that of the session.
        self.run_sql(
            "DELETE FROM records WHERE chunk = 1 AND seq < ?2 AND session IN (
                SELECT child.key FROM sessions JOIN sessions AS child
                    ON child.id > sessions.id || '.' AND child.id < sessions.id || '/'
                WHERE sessions.key = ?1 AND child.parent IS NOT NULL)",
            [self.session, run_seq],
        )?;
        Ok(())
    }
}

pub(super) fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::json(what))
}

pub(super) fn from_json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(Fault::json(what))
}
