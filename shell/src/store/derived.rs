//! Whether what is derived from the records is what they say, and whether a snapshot is what they amount to: the records are
//! told to an empty log once more, and both are compared. Changes nothing.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hostler_core::ids::SessionId;
use hostler_core::record::Strength;
use hostler_core::session::{Durable, FOLD_VERSION};
use rusqlite::types::Value;
use rusqlite::{Connection, Rows};

use super::error::Fault;
use super::load::{each, entry};
use super::project::from_json;
use super::{Store, int, number};

/// How many records are told at once.
const BATCH: usize = 500;

/// What is compared, by what it is called: rows that begin with the session's id, in their order. Places in the log are left
/// out, since a log that is told anew gives others.
const TABLES: [(&str, &str); 5] = [
    (
        "lists",
        "SELECT id, title, parent, created, messages, runs, model, totals, latest_run FROM sessions ORDER BY id",
    ),
    (
        "messages",
        "SELECT id, number, role, at, finished, body FROM messages JOIN sessions ON key = session ORDER BY id, number",
    ),
    (
        "outcomes of calls",
        "SELECT id, message, call, body FROM outcomes JOIN sessions ON key = session ORDER BY id, message, call",
    ),
    (
        "runs",
        "SELECT id, run, prompt, sequence, text, attachments, accepted, message, fate, finished
            FROM runs JOIN sessions ON key = session ORDER BY id, run",
    ),
    (
        "questions",
        "SELECT id, asker, call, at, body FROM asks JOIN sessions ON key = session ORDER BY id, asker, call",
    ),
];

/// What does not agree with the records.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// What it is called.
    pub(super) what: &'static str,
    /// Whose it is.
    pub(super) session: String,
}

/// The first thing that does not agree with the records. Sessions that have records of a newer hostler are left out.
pub(super) fn difference(read: &Connection) -> Result<Option<Difference>, Fault> {
    let orphan = "SELECT session FROM records WHERE session NOT IN (SELECT key FROM sessions) LIMIT 1";
    let mut lost = None;
    each(read, orphan, [], |row| {
        lost = Some(Difference { what: "lists", session: format!("number {}", row.get::<_, i64>(0)?) });
        Ok(ControlFlow::Break(()))
    })?;
    if lost.is_some() {
        return Ok(lost);
    }
    let (again, unknown) = told_again(read)?;
    for (what, sql) in TABLES {
        let (mut kept, mut anew) = (read.prepare(sql)?, again.connection.prepare(sql)?);
        let (mut kept, mut anew) = (kept.query([])?, anew.query([])?);
        loop {
            match (next(&mut kept, &unknown)?, next(&mut anew, &unknown)?) {
                (None, None) => break,
                (kept, anew) if kept == anew => {}
                (kept, anew) => {
                    let session = [kept, anew].into_iter().flatten().map(|row| name(&row)).min();
                    return Ok(Some(Difference { what, session: session.unwrap_or_default() }));
                }
            }
        }
    }
    snapshots(read, &unknown)
}

/// Another log that was told all records, and the sessions of which not all are understood.
fn told_again(read: &Connection) -> Result<(Store, BTreeSet<String>), Fault> {
    let sql = "SELECT records.seq, records.at, records.body, sessions.id FROM records
        JOIN sessions ON sessions.key = records.session ORDER BY records.seq";
    let (mut again, mut unknown, mut entries) = (Store::scratch()?, BTreeSet::new(), Vec::new());
    each(read, sql, [], |row| {
        let session: String = row.get(3)?;
        match entry(row, SessionId::new(session.clone()))? {
            Some((_, entry)) => entries.push(entry),
            None => drop(unknown.insert(session)),
        }
        if entries.len() == BATCH {
            again.commit(&entries, Strength::Normal)?;
            entries.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    again.commit(&entries, Strength::Normal)?;
    Ok((again, unknown))
}

/// The next row of a session that is understood.
fn next(rows: &mut Rows<'_>, unknown: &BTreeSet<String>) -> Result<Option<Vec<Value>>, Fault> {
    while let Some(row) = rows.next()? {
        let columns = row.as_ref().column_count();
        let row: Vec<Value> = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
        if !unknown.contains(&name(&row)) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn name(row: &[Value]) -> String {
    match row.first() {
        Some(Value::Text(name)) => name.clone(),
        Some(Value::Null | Value::Integer(_) | Value::Real(_) | Value::Blob(_)) | None => String::new(),
    }
}

/// The first session whose snapshot is not what its records amount to.
fn snapshots(read: &Connection, unknown: &BTreeSet<String>) -> Result<Option<Difference>, Fault> {
    let sql = "SELECT sessions.id, sessions.key, snapshots.seq, snapshots.body FROM snapshots
        JOIN sessions ON sessions.key = snapshots.session WHERE snapshots.fold_version = ?1 ORDER BY sessions.id";
    let mut found = None;
    each(read, sql, [FOLD_VERSION], |row| {
        let session: String = row.get(0)?;
        let (key, seq) = (row.get(1)?, number(row.get(2)?));
        let kept: Option<Durable> = from_json("state", &row.get::<_, String>(3)?).ok();
        if unknown.contains(&session) || kept == Some(folded(read, &session, key, seq)?) {
            return Ok(ControlFlow::Continue(()));
        }
        found = Some(Difference { what: "snapshots", session });
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// What a session's records up to that place amount to.
fn folded(read: &Connection, session: &str, key: i64, seq: u64) -> Result<Durable, Fault> {
    let sql = "SELECT seq, at, body FROM records WHERE session = ?1 AND seq <= ?2 ORDER BY seq";
    let mut durable = Durable::new(SessionId::new(session));
    each(read, sql, [key, int(seq)], |row| {
        if let Some((_, entry)) = entry(row, durable.id.clone())? {
            durable.evolve(entry.at, &entry.record);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(durable)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::fixture;
    use super::*;

    fn log() -> Store {
        let mut store = Store::in_memory().unwrap();
        let entries = [fixture::created("a", 1), fixture::accepted("a", "p", 2), fixture::created("b", 3)];
        store.commit(&entries, Strength::Normal).unwrap();
        let durable = folded(&store.connection, "a", 1, 2).unwrap();
        let body = serde_json::to_string(&durable).unwrap();
        store.save_snapshot(&SessionId::new("a"), FOLD_VERSION, 2, &body).unwrap();
        store
    }

    fn after(change: &str) -> Option<(&'static str, String)> {
        let store = log();
        store.connection.execute_batch(change).unwrap();
        difference(&store.connection).unwrap().map(|found| (found.what, found.session))
    }

    #[test]
    fn what_does_not_agree_with_the_records_is_found() {
        assert_eq!(after(""), None);
        for (change, what, session) in [
            ("UPDATE sessions SET title = 'x' WHERE id = 'b'", "lists", "b"),
            ("UPDATE sessions SET runs = 7 WHERE id = 'a'", "lists", "a"),
            ("DELETE FROM sessions WHERE id = 'b'", "lists", "number 2"),
            ("DELETE FROM runs", "runs", "a"),
            ("INSERT INTO outcomes VALUES (1, 1, 't1.s1.c1', '{}')", "outcomes of calls", "a"),
            ("INSERT INTO messages VALUES (2, 1, 'user', 1, 1, 1, '{}')", "messages", "b"),
            ("INSERT INTO asks VALUES (1, 'a', 't1.s1.c1', 1, '{}')", "questions", "a"),
            (
                "UPDATE snapshots SET body = replace(body, '\"created\":true', '\"created\":false')",
                "snapshots",
                "a",
            ),
            ("UPDATE snapshots SET body = '{}'", "snapshots", "a"),
        ] {
            assert_eq!(after(change), Some((what, session.to_owned())), "{change}");
        }
    }

    #[test]
    fn what_a_newer_hostler_wrote_is_left_to_it() {
        let newer = "INSERT INTO records VALUES (9, 2, 1, 'ComesLater', 0, '{\"ComesLater\":{}}');
            UPDATE sessions SET title = 'x' WHERE id = 'b'";
        assert_eq!(after(newer), None);
        assert_eq!(after(&format!("{newer}; UPDATE sessions SET runs = 7 WHERE id = 'a'")).unwrap().1, "a");
        let old = "UPDATE snapshots SET fold_version = 1, body = '{}'";
        assert_eq!(after(old), None);
    }
}
