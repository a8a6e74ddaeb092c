//! Reading the log: a session's records with its snapshot, for folding; and what came after a place, for following.

use std::ops::ControlFlow;

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::record::Record;
use hostler_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::error::{Fault, StoreError};
use super::{Store, int, number, write};

/// All that a session's state is folded from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The version of the fold and the state as it was saved; none if there is none of the version asked for.
    pub snapshot: Option<(u32, String)>,
    /// The records after the snapshot, or all if there is none, in order, each with its place.
    pub tail: Vec<(u64, Entry)>,
    /// The place of the session's last record, of whatever type.
    pub last_seq: u64,
}

impl Store {
    /// Reads a session for a fold of that version; none if there is no such session. Records of types that are not
    /// known are left out.
    pub fn load(&self, session: &SessionId, fold_version: u32) -> Result<Option<Loaded>, StoreError> {
        self.reading(|read| {
            let Some((key, last_seq)) = session_row(read, session)? else { return Ok(None) };
            let snapshot = snapshot(read, key, fold_version)?;
            let from = snapshot.as_ref().map_or(0, |(seq, _)| *seq);
            let tail = tail(read, key, session, from)?;
            let snapshot = snapshot.map(|(_, body)| (fold_version, body));
            Ok(Some(Loaded { snapshot, tail, last_seq }))
        })
    }

    /// The records of all sessions after a place, in order, at most `limit` of them. Records of types that are not
    /// known are left out and not counted, so fewer than `limit` means that there are no more.
    pub fn after(&self, seq: u64, limit: usize) -> Result<Vec<(u64, Entry)>, StoreError> {
        let sql = "SELECT records.seq, records.at, records.body, sessions.id FROM records
            JOIN sessions ON sessions.key = records.session WHERE records.seq > ?1 ORDER BY records.seq";
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        self.reading(|read| {
            each(read, sql, [int(seq)], |row| {
                let session = SessionId::new(row.get::<_, String>(3)?);
                found.extend(entry(row, session)?);
                Ok(if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        })?;
        Ok(found)
    }

    /// The session and the prompt of a run; none if the log has no such run.
    pub fn run_prompt(&self, run: &RunId) -> Result<Option<(SessionId, PromptId)>, StoreError> {
        let sql = "SELECT sessions.id, runs.prompt FROM runs JOIN sessions ON sessions.key = runs.session
            WHERE runs.run = ?1 LIMIT 1";
        self.reading(|read| {
            let found = read.prepare_cached(sql)?.query_row([run.as_str()], |row| {
                Ok((SessionId::new(row.get::<_, String>(0)?), PromptId::new(row.get::<_, String>(1)?)))
            });
            Ok(found.optional()?)
        })
    }

    /// The highest place that was ever given to a record; 0 if none was.
    pub fn head(&self) -> Result<u64, StoreError> {
        self.reading(write::highest)
    }

    /// Keeps a session's state as of the record at `seq`, in the words of that version of the fold, in place of the
    /// one that was kept before. Does nothing for a session that does not exist.
    pub fn save_snapshot(
        &mut self,
        session: &SessionId,
        fold_version: u32,
        seq: u64,
        body: &str,
    ) -> Result<(), StoreError> {
        self.writing(|write| {
            let Some((key, _)) = session_row(write, session)? else { return Ok(()) };
            write
                .prepare_cached("INSERT OR REPLACE INTO snapshots (session, fold_version, seq, body) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![key, fold_version, int(seq), body])?;
            write
                .prepare_cached(
                    "UPDATE sessions SET snapshot_bytes = ?2, tail_bytes = (SELECT coalesce(sum(octet_length(body)), 0)
                        FROM records WHERE session = ?1 AND seq > ?3) WHERE key = ?1",
                )?
                .execute(params![key, int(body.len() as u64), int(seq)])?;
            Ok(())
        })
    }

    /// How many bytes of records a session has that are not in its snapshot of that version, and how many bytes that
    /// snapshot has; nothing for a session that does not exist.
    pub fn tail_bytes(&self, session: &SessionId, fold_version: u32) -> Result<(u64, u64), StoreError> {
        self.reading(|read| {
            let Some((key, _)) = session_row(read, session)? else { return Ok((0, 0)) };
            let sql = if snapshot_fits(read, key, fold_version)? {
                "SELECT tail_bytes, snapshot_bytes FROM sessions WHERE key = ?1"
            } else {
                "SELECT coalesce(sum(octet_length(body)), 0), 0 FROM records WHERE session = ?1"
            };
            let mut find = read.prepare_cached(sql)?;
            Ok(find.query_row([key], |row| Ok((number(row.get(0)?), number(row.get(1)?))))?)
        })
    }
}

/// A session's key and the place of its last record.
fn session_row(read: &Connection, session: &SessionId) -> Result<Option<(i64, u64)>, Fault> {
    let mut find = read.prepare_cached("SELECT key, changed FROM sessions WHERE id = ?1")?;
    Ok(find.query_row([session.as_str()], |row| Ok((row.get(0)?, number(row.get(1)?)))).optional()?)
}

/// Whether the session's row counts from the right snapshot; it does if there is none.
fn snapshot_fits(read: &Connection, session: i64, fold_version: u32) -> Result<bool, Fault> {
    let mut find = read.prepare_cached("SELECT fold_version FROM snapshots WHERE session = ?1")?;
    let found: Option<u32> = find.query_row([session], |row| row.get(0)).optional()?;
    Ok(found.is_none_or(|found| found == fold_version))
}

fn snapshot(read: &Connection, session: i64, fold_version: u32) -> Result<Option<(u64, String)>, Fault> {
    let mut find =
        read.prepare_cached("SELECT seq, body FROM snapshots WHERE session = ?1 AND fold_version = ?2")?;
    Ok(find
        .query_row(params![session, fold_version], |row| Ok((number(row.get(0)?), row.get(1)?)))
        .optional()?)
}

fn tail(read: &Connection, key: i64, session: &SessionId, from: u64) -> Result<Vec<(u64, Entry)>, Fault> {
    let sql = "SELECT seq, at, body FROM records WHERE session = ?1 AND seq > ?2 ORDER BY seq";
    let mut found = Vec::new();
    each(read, sql, [key, int(from)], |row| {
        found.extend(entry(row, session.clone())?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Goes through the rows of a query until told to stop.
pub(super) fn each(
    read: &Connection,
    sql: &str,
    values: impl Params,
    mut visit: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, Fault>,
) -> Result<(), Fault> {
    let mut statement = read.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        if visit(row)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The entry in a row that begins with `seq`, `at` and `body`; none if its type is not known.
pub(super) fn entry(row: &Row<'_>, session: SessionId) -> Result<Option<(u64, Entry)>, Fault> {
    let seq = number(row.get(0)?);
    let at = Timestamp::from_millis(number(row.get(1)?));
    let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    let record = Record::read(body).map_err(|source| StoreError::Record { seq, source })?;
    Ok(record.map(|record| (seq, Entry { session, at, record })))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::record::Strength;

    use super::super::fixture;
    use super::*;

    fn seqs(entries: &[(u64, Entry)]) -> Vec<u64> {
        entries.iter().map(|(seq, _)| *seq).collect()
    }

    fn foreign(store: &Store, kind: &str, body: &str) {
        let head = int(store.head().unwrap()) + 1;
        store
            .connection
            .execute("INSERT INTO records VALUES (?1, 1, 1, ?2, 0, ?3)", params![head, kind, body])
            .unwrap();
        store.connection.execute("UPDATE meta SET seq = ?1", [head]).unwrap();
        store.connection.execute("UPDATE sessions SET changed = ?1 WHERE key = 1", [head]).unwrap();
    }

    #[test]
    fn a_session_is_loaded_from_its_snapshot_on() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let (s, nobody) = (SessionId::new("s"), SessionId::new("nobody"));
        assert_eq!(store.load(&s, 1).unwrap(), None);
        let entries: Vec<_> = (1..=4)
            .flat_map(|n| [fixture::accepted("s", &format!("p{n}"), n), fixture::created("t", 1)])
            .collect();
        store.commit(&entries, Strength::Normal).unwrap();
        store.save_snapshot(&s, 2, 3, "old").unwrap();
        store.save_snapshot(&s, 2, 5, "state").unwrap();
        store.save_snapshot(&nobody, 2, 5, "state").unwrap();

        let cases: [(u32, Option<&str>, &[u64]); 3] =
            [(2, Some("state"), &[7]), (1, None, &[1, 3, 5, 7]), (3, None, &[1, 3, 5, 7])];
        for (version, snapshot, tail) in cases {
            let loaded = store.load(&s, version).unwrap().unwrap();
            assert_eq!(loaded.snapshot, snapshot.map(|body| (version, body.to_string())));
            assert_eq!(seqs(&loaded.tail), tail);
            assert_eq!(loaded.last_seq, 7);
        }
    }

    #[test]
    fn the_tail_is_measured_from_the_snapshot_of_the_right_version() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let s = SessionId::new("s");
        let stored = |store: &Store, from: u64| -> u64 {
            let loaded = store.load(&s, 0).unwrap().unwrap().tail.into_iter();
            let bodies = loaded.filter(|(seq, _)| *seq > from);
            bodies.map(|(_, entry)| serde_json::to_string(&entry.record).unwrap().len() as u64).sum()
        };
        assert_eq!(store.tail_bytes(&s, 1).unwrap(), (0, 0));
        store.commit(&fixture::run("s", "one", 1), Strength::Normal).unwrap();
        assert_eq!(store.tail_bytes(&s, 1).unwrap(), (stored(&store, 0), 0));
        store.save_snapshot(&s, 1, 4, "äö").unwrap();
        assert_eq!(store.tail_bytes(&s, 1).unwrap(), (stored(&store, 4), 4));
        assert_eq!(store.tail_bytes(&s, 2).unwrap(), (stored(&store, 0), 0));
        for (count, run) in [(2, "zwö"), (3, "three")] {
            store.commit(&fixture::run("s", run, count), Strength::Normal).unwrap();
            assert_eq!(store.tail_bytes(&s, 1).unwrap(), (stored(&store, 4), 4), "{run}");
        }
    }

    #[test]
    fn what_came_after_a_place_is_read_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let entries: Vec<_> = ["a", "b", "a", "c", "b"].map(|s| fixture::text(s, 1, "x")).to_vec();
        store.commit(&entries, Strength::Normal).unwrap();
        let cases: [(u64, usize, &[u64]); 5] =
            [(0, 10, &[1, 2, 3, 4, 5]), (2, 2, &[3, 4]), (4, 2, &[5]), (5, 2, &[]), (0, 0, &[])];
        for (seq, limit, expected) in cases {
            assert_eq!(seqs(&store.after(seq, limit).unwrap()), expected);
        }
        assert_eq!(store.after(1, 1).unwrap(), [(2, fixture::text("b", 1, "x"))]);
    }

    #[test]
    fn unknown_types_are_left_out_and_unreadable_records_named() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let s = SessionId::new("s");
        store.commit(&[fixture::created("s", 1)], Strength::Normal).unwrap();
        foreign(&store, "ComesLater", r#"{"ComesLater":{"x":1}}"#);
        store.commit(&[fixture::accepted("s", "p", 1)], Strength::Normal).unwrap();
        assert_eq!(seqs(&store.after(0, 2).unwrap()), [1, 3]);
        let loaded = store.load(&s, 1).unwrap().unwrap();
        assert_eq!((seqs(&loaded.tail), loaded.last_seq), (vec![1, 3], 3));

        foreign(&store, "PromptQueued", r#"{"PromptQueued":{"x":1}}"#);
        for error in [store.load(&s, 1).unwrap_err(), store.after(0, 10).unwrap_err()] {
            assert!(matches!(error, StoreError::Record { seq: 4, .. }), "{error}");
        }
        assert_eq!(store.after(0, 2).unwrap().len(), 2, "what comes before it can be read");
    }
}
