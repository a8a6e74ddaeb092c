//! Bringing what is committed from the write-ahead log into the database file.

use hostler_core::record::Strength;

use super::error::{Fault, StoreError};
use super::{Store, open};

/// The size in bytes of the write-ahead log above which the end of a run is a reason to empty it.
const LARGE_WAL: u64 = 1 << 20;

impl Store {
    /// Work that can wait until a commit is published: after the end of a run, moves what a large write-ahead log holds
    /// into the database file, as far as nobody else is in the way.
    pub fn maintain(&mut self) -> Result<(), StoreError> {
        let size = std::fs::metadata(open::wal_of(&self.path)).map_or(0, |found| found.len());
        if std::mem::take(&mut self.run_ended) && size > LARGE_WAL {
            self.checkpoint("PRAGMA wal_checkpoint(PASSIVE)").map_err(|fault| fault.at(&self.path))?;
        }
        Ok(())
    }

    /// A new database is made without any sync, and the syncs of a commit are of the write-ahead log alone. But a
    /// database file that power loss has emptied is a new database, and takes its write-ahead log with it. So the first
    /// commit that is to survive power loss is also brought into the file, which syncs that; and the directories above
    /// it are synced, for they may be new as well.
    pub(super) fn sync_file(&mut self) -> Result<(), StoreError> {
        if self.synced {
            return Ok(());
        }
        for dir in self.path.ancestors().skip(1).take(4) {
            // A directory that cannot be opened was not made here.
            if let Ok(dir) = std::fs::File::open(dir) {
                let _ = dir.sync_all();
            }
        }
        let whole = self.checkpoint("PRAGMA wal_checkpoint(FULL)").map_err(|fault| fault.at(&self.path))?;
        if whole {
            self.synced = true;
            // Who does not find this noted does the same again; the commit is safe either way.
            let _ =
                self.writing(Strength::Normal, |write| Ok(write.execute("UPDATE meta SET synced = 1", [])?));
        }
        Ok(())
    }

    /// Whether all of the write-ahead log was moved.
    fn checkpoint(&self, pragma: &str) -> Result<bool, Fault> {
        let (busy, frames, moved): (bool, i64, i64) =
            self.connection.query_row(pragma, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(!busy && frames == moved)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;

    use super::super::fixture::{self, DB};
    use super::*;

    #[test]
    fn the_end_of_a_run_empties_a_large_write_ahead_log() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Full).unwrap();
        let size = || fs::metadata(temp.path().join(DB)).unwrap().len();

        store.maintain().unwrap();
        let small = size();
        store.commit(&[fixture::text("s", 2, &"x".repeat(2 << 20))], Strength::Normal).unwrap();
        store.maintain().unwrap();
        assert_eq!(size(), small, "no run has ended");
        store.commit(&fixture::run("s", "two", 3), Strength::Normal).unwrap();
        store.maintain().unwrap();
        assert!(size() > 2 << 20);
    }

    #[test]
    fn the_first_full_commit_is_in_the_database_file() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Normal).unwrap();
        let path = temp.path().join(DB);
        let new = fs::metadata(&path).unwrap().len();
        store.commit(&fixture::run("s", "two", 2), Strength::Full).unwrap();
        let first = fs::metadata(&path).unwrap().len();
        assert!(first > new);
        assert!(Store::open(temp.path()).unwrap().synced);

        store.commit(&[fixture::text("s", 2, &"x".repeat(1 << 20))], Strength::Full).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), first, "later ones are in the write-ahead log");
    }
}
