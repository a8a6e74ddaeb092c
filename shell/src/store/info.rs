//! The rows of sessions and runs as lists show them.
//!
//! What a session is doing is not in the database: it also depends on whether a process has it. So a row is read
//! together with whether it has a run without an end, and somebody who can see the locks says what that means.

use std::ops::ControlFlow;

use hostler_core::ids::{MessageId, PromptId, RunId, SessionId};
use hostler_core::protocol::{Activity, RunInfo, SessionInfo};
use hostler_core::time::Timestamp;
use rusqlite::{Connection, Params, Row};

use super::error::Fault;
use super::load::each;
use super::project::from_json;
use super::{Store, StoreError, number};

/// Says what a session is doing, from its id and whether it has a run that has no end.
pub(super) type Judge<'a> = &'a dyn Fn(&SessionId, bool) -> Activity;

/// A session's row. Its activity is not filled in.
#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) key: i64,
    pub(super) unfinished: bool,
    pub(super) info: SessionInfo,
}

/// Whether a session has a run whose end is still to come. That of a prompt that was returned is over, and that of one
/// that joined another run's turn ends with it.
const UNFINISHED: &str =
    "EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.key AND finished IS NULL AND fate IS NULL)";

/// The sessions that the rest of a query picks.
pub(super) fn sessions(read: &Connection, rest: &str, values: impl Params) -> Result<Vec<SessionRow>, Fault> {
    let sql = format!(
        "SELECT key, id, title, parent, created, updated, messages, runs, model, totals, {UNFINISHED}
            FROM sessions {rest}"
    );
    let mut found = Vec::new();
    each(read, &sql, values, |row| {
        found.push(session(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The session with that id.
pub(super) fn session_by_id(read: &Connection, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    Ok(sessions(read, "WHERE id = ?1", [id.as_str()])?.pop())
}

/// The runs that the rest of a query picks. Their activity is not filled in.
pub(super) fn runs(read: &Connection, rest: &str, values: impl Params) -> Result<Vec<RunInfo>, Fault> {
    let sql = format!(
        "SELECT run, sessions.id, prompt, text, accepted, message, finished FROM runs
            JOIN sessions ON sessions.key = runs.session {rest}"
    );
    let mut found = Vec::new();
    each(read, &sql, values, |row| {
        found.push(run(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl Store {
    /// What a session is doing. Its lock may have been given back between the reading of its row and the look at its
    /// lock, after an end that the row does not have; so who seems to have been interrupted is looked at once more.
    pub(super) fn activity(&self, session: &SessionRow, judge: Judge<'_>) -> Result<Activity, StoreError> {
        match judge(&session.info.id, session.unfinished) {
            Activity::Interrupted if !self.unfinished(session.key)? => Ok(judge(&session.info.id, false)),
            activity => Ok(activity),
        }
    }

    /// The sub-agents of a session whose runs have no end. Their ids begin with that of the session.
    pub fn unfinished_children(&self, root: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let sql = format!(
            "SELECT id FROM sessions
                WHERE parent IS NOT NULL AND id > ?1 || '.' AND id < ?1 || '/' AND {UNFINISHED} ORDER BY key"
        );
        let mut found = Vec::new();
        self.reading(|read| {
            each(read, &sql, [root.as_str()], |row| {
                found.push(SessionId::new(row.get::<_, String>(0)?));
                Ok(ControlFlow::Continue(()))
            })
        })?;
        Ok(found)
    }

    fn unfinished(&self, key: i64) -> Result<bool, StoreError> {
        self.reading(|read| {
            let sql = format!("SELECT {UNFINISHED} FROM sessions WHERE key = ?1");
            Ok(read.prepare_cached(&sql)?.query_row([key], |row| row.get(0))?)
        })
    }

    /// The row with its activity filled in.
    pub(super) fn judged(
        &self,
        mut session: SessionRow,
        judge: Judge<'_>,
    ) -> Result<SessionInfo, StoreError> {
        session.info.activity = self.activity(&session, judge)?;
        Ok(session.info)
    }
}

fn session(row: &Row<'_>) -> Result<SessionRow, Fault> {
    let parent: Option<String> = row.get(3)?;
    let model: Option<String> = row.get(8)?;
    let info = SessionInfo {
        id: SessionId::new(row.get::<_, String>(1)?),
        title: row.get(2)?,
        parent: parent.map(|text| from_json("parent", &text)).transpose()?,
        created: time(row.get(4)?),
        updated: time(row.get(5)?),
        messages: number(row.get(6)?),
        runs: number(row.get(7)?),
        model: model.map(|text| from_json("model", &text)).transpose()?,
        totals: from_json("totals", &row.get::<_, String>(9)?)?,
        activity: Activity::Idle,
    };
    Ok(SessionRow { key: row.get(0)?, unfinished: row.get(10)?, info })
}

fn run(row: &Row<'_>) -> Result<RunInfo, Fault> {
    let message: Option<i64> = row.get(5)?;
    let finished: Option<String> = row.get(6)?;
    Ok(RunInfo {
        run: RunId::new(row.get::<_, String>(0)?),
        session: SessionId::new(row.get::<_, String>(1)?),
        prompt: PromptId::new(row.get::<_, String>(2)?),
        text: row.get(3)?,
        accepted: time(row.get(4)?),
        message: message.map(|id| MessageId(number(id))),
        finished: finished.map(|text| from_json("end of a run", &text)).transpose()?,
        activity: Activity::Idle,
    })
}

pub(super) fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(number(millis))
}
