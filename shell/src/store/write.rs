//! Appending to the log: all records of a batch and what is derived from them in one transaction, or nothing.

use std::sync::Arc;

use hostler_core::machine::Entry;
use hostler_core::record::{Record, Strength};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::{Fault, StoreError};
use super::{Store, int, number, project};

/// A record that is in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its place: above those of all records before it, whichever process wrote them; not always by one.
    pub seq: u64,
    /// The record as it stands in the log, as JSON.
    pub body: Arc<str>,
}

impl Store {
    /// Appends entries in their order and brings the derived tables up to date, in one transaction; when it returns,
    /// they are as safe as `strength` says. Nothing is done for no entries.
    ///
    /// The end of a session's current run deletes the chunks of its earlier runs.
    ///
    /// Fails with [`StoreError::Busy`] if others keep writing for more than 5 s. Of a commit that failed nothing is in
    /// the log, except that a failure of the disk at its very end may leave all of it there.
    pub fn commit(&mut self, entries: &[Entry], strength: Strength) -> Result<Vec<Committed>, StoreError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        if strength == Strength::Full {
            self.is_there()?;
        }
        let bodies = entries.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
        let committed = self.writing(|write| append(write, entries, bodies))?;
        self.run_ended |= entries.iter().any(|entry| matches!(entry.record, Record::RunFinished(_)));
        if strength == Strength::Full {
            self.sync_log()?;
            // The records are in the log. What the file itself lacks is tried again with the next such commit.
            let _ = self.sync_file();
        }
        Ok(committed)
    }

    /// Finds out whether the log can be written, by writing what stands there.
    pub fn probe(&mut self) -> Result<(), StoreError> {
        self.writing(|write| {
            write.prepare_cached("UPDATE meta SET seq = seq")?.execute([])?;
            Ok(())
        })
    }
}

fn encode(entry: &Entry) -> Result<Arc<str>, StoreError> {
    let body = serde_json::to_string(&entry.record);
    body.map(Arc::from).map_err(|source| StoreError::Json { what: "record", source })
}

fn append(write: &Connection, entries: &[Entry], bodies: Vec<Arc<str>>) -> Result<Vec<Committed>, Fault> {
    let mut seq = highest(write)?;
    let mut committed = Vec::with_capacity(entries.len());
    for (entry, body) in entries.iter().zip(bodies) {
        seq = seq.saturating_add(1);
        let session = session_key(write, entry)?;
        insert(write, session, seq, entry, &body)?;
        project::apply(write, session, seq, entry)?;
        committed.push(Committed { seq, body });
    }
    write.prepare_cached("UPDATE meta SET seq = ?1")?.execute([int(seq)])?;
    Ok(committed)
}

/// The highest place that was ever given to a record, deleted or not.
pub(super) fn highest(connection: &Connection) -> Result<u64, Fault> {
    let seq: i64 = connection.prepare_cached("SELECT seq FROM meta")?.query_row([], |row| row.get(0))?;
    Ok(number(seq))
}

/// The key of the entry's session; the first entry of a session makes its row.
fn session_key(write: &Connection, entry: &Entry) -> Result<i64, Fault> {
    let id = entry.session.as_str();
    let mut find = write.prepare_cached("SELECT key FROM sessions WHERE id = ?1")?;
    if let Some(key) = find.query_row([id], |row| row.get(0)).optional()? {
        return Ok(key);
    }
    let at = int(entry.at.as_millis());
    write
        .prepare_cached(
            "INSERT INTO sessions (id, title, created, updated, changed, messages, runs, totals, run_seq, tail_bytes,
                snapshot_bytes) VALUES (?1, '', ?2, ?2, 0, 0, 0, ?3, 0, 0, 0)",
        )?
        .execute(params![id, at, project::no_totals()?])?;
    Ok(write.last_insert_rowid())
}

fn insert(write: &Connection, session: i64, seq: u64, entry: &Entry, body: &str) -> Result<(), Fault> {
    let at = int(entry.at.as_millis());
    let record = &entry.record;
    write
        .prepare_cached(
            "INSERT INTO records (seq, session, at, kind, chunk, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![int(seq), session, at, record.kind(), record.is_chunk(), body])?;
    write
        .prepare_cached(
            "UPDATE sessions SET updated = max(updated, ?2), changed = ?3, tail_bytes = tail_bytes + ?4 WHERE key = ?1",
        )?
        .execute(params![session, at, int(seq), int(body.len() as u64)])?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use hostler_core::ids::SessionId;

    use super::super::fixture::{self, DB};
    use super::*;

    fn seqs(committed: &[Committed]) -> Vec<u64> {
        committed.iter().map(|one| one.seq).collect()
    }

    fn kinds(store: &Store, session: &str) -> Vec<&'static str> {
        let loaded = store.load(&SessionId::new(session), 1).unwrap().unwrap();
        loaded.tail.iter().map(|(_, entry)| entry.record.kind()).collect()
    }

    #[test]
    fn entries_get_places_in_their_order_and_read_back() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        assert_eq!(store.head().unwrap(), 0);
        assert_eq!(store.commit(&[], Strength::Full).unwrap(), []);
        let entries = [fixture::created("a", 1), fixture::created("b", 2), fixture::accepted("a", "p", 1)];
        let committed = store.commit(&entries, Strength::Normal).unwrap();
        assert_eq!(seqs(&committed), [1, 2, 3]);
        for (one, entry) in committed.iter().zip(&entries) {
            assert_eq!(Record::read(&one.body).unwrap().as_ref(), Some(&entry.record));
        }
        let read: Vec<_> = store.after(0, 10).unwrap().into_iter().map(|(_, entry)| entry).collect();
        assert_eq!(read, entries);
    }

    #[test]
    fn the_end_of_a_run_deletes_the_chunks_of_earlier_runs() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let chunks = |store: &Store| -> Vec<String> {
            let all = store.after(0, 1000).unwrap().into_iter();
            all.filter_map(|(_, entry)| match entry.record {
                Record::TextAppended { text, .. } if text != " said" => Some(text),
                _ => None,
            })
            .collect()
        };
        store.commit(&fixture::run("s", "one", 1), Strength::Full).unwrap();
        store.commit(&fixture::run("other", "its", 1), Strength::Full).unwrap();
        assert_eq!(chunks(&store), ["one", "its"]);
        let mut two = fixture::run("s", "two", 2);
        let end = two.split_off(6);
        store.commit(&two, Strength::Normal).unwrap();
        store.commit(&[fixture::run_finished("s", "returned")], Strength::Full).unwrap();
        assert_eq!(
            chunks(&store),
            ["one", "its", "two"],
            "the last run is kept while the next one is under way"
        );
        store.commit(&end, Strength::Full).unwrap();
        assert_eq!(chunks(&store), ["its", "two"]);
        store.commit(&[fixture::run_finished("s", "returned too")], Strength::Full).unwrap();
        assert_eq!(chunks(&store), ["its", "two"]);
    }

    #[test]
    fn a_run_of_several_turns_keeps_its_chunks() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let entries = [
            fixture::accepted("s", "r", 1),
            fixture::turn("s", "r", 1, 1),
            fixture::text("s", 2, "in turn 1"),
            fixture::turn("s", "r", 2, 3),
            fixture::text("s", 4, "in turn 2"),
            fixture::run_finished("s", "r"),
        ];
        store.commit(&entries, Strength::Normal).unwrap();
        assert_eq!(kinds(&store, "s").iter().filter(|kind| **kind == "TextAppended").count(), 2);
    }

    #[test]
    fn a_place_is_never_given_twice() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Normal).unwrap();
        let head = store.head().unwrap();
        store.connection.execute("DELETE FROM records WHERE seq > 3", []).unwrap();
        drop(store);
        let mut store = Store::open(temp.path()).unwrap();
        assert_eq!(store.head().unwrap(), head);
        let committed = store.commit(&[fixture::created("t", 1)], Strength::Normal).unwrap();
        assert_eq!(seqs(&committed), [head + 1]);
    }

    #[test]
    fn a_commit_that_fails_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Normal).unwrap();
        let before = (store.head().unwrap(), kinds(&store, "s"));
        let pages: i64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        store.connection.pragma_update_and_check(None, "max_page_count", pages + 2, |_| Ok(())).unwrap();

        let mut two = fixture::run("s", "two", 2);
        two.push(fixture::text("s", 4, &"x".repeat(100_000)));
        let error = store.commit(&two, Strength::Full).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert_eq!((store.head().unwrap(), kinds(&store, "s")), before);
        store.connection.pragma_update_and_check(None, "max_page_count", 100_000, |_| Ok(())).unwrap();
        let committed = store.commit(&two, Strength::Full).unwrap();
        assert_eq!(committed.first().map(|one| one.seq), Some(before.0 + 1));
    }

    #[test]
    fn what_nobody_would_find_is_not_taken_for_written() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("state");
        let mut store = Store::open(&dir).unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Full).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        let error = store.commit(&fixture::run("s", "two", 2), Strength::Full).unwrap_err();
        assert!(matches!(error, StoreError::Gone { .. }), "{error}");
    }

    #[test]
    fn who_cannot_write_in_time_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.connection.busy_timeout(Duration::ZERO).unwrap();
        let other = Connection::open(temp.path().join(DB)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = store.commit(&[fixture::created("s", 1)], Strength::Normal).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        assert_eq!(store.head().unwrap(), 0, "reading goes on");
        other.execute_batch("COMMIT").unwrap();
        store.commit(&[fixture::created("s", 1)], Strength::Normal).unwrap();
    }

    #[test]
    fn many_connections_never_share_a_place() {
        const EACH: u32 = 25;
        let temp = tempfile::tempdir().unwrap();
        let work = |number: u32| -> Vec<u64> {
            let mut store = Store::open(temp.path()).unwrap();
            let session = format!("s{number}");
            let commit =
                |count| store.commit(&fixture::run(&session, &format!("r{count}"), count), Strength::Normal);
            (1..=EACH).map(commit).flat_map(|committed| seqs(&committed.unwrap())).collect()
        };
        let all: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|seqs| seqs.is_sorted()));
        let unique: BTreeSet<u64> = all.iter().flatten().copied().collect();
        assert_eq!(unique, (1..=u64::from(8 * EACH * 7)).collect());
    }

    #[test]
    fn what_cannot_be_brought_to_the_disk_is_not_taken_for_safe() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&[fixture::text("s", 1, "x")], Strength::Full).unwrap();
        std::fs::remove_file(temp.path().join(format!("{DB}-wal"))).unwrap();
        store.commit(&[fixture::text("s", 1, "x")], Strength::Normal).unwrap();
        let error = store.commit(&[fixture::text("s", 1, "x")], Strength::Full).unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{error}");
    }

    #[test]
    fn no_commit_lets_others_wait_for_the_disk() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        for strength in [Strength::Normal, Strength::Full] {
            store.commit(&[fixture::text("s", 1, "x")], strength).unwrap();
            let level: i64 =
                store.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(level, 1, "it is synced when others can write again");
        }
    }
}
