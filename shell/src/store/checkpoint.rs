//! Bringing what is committed from the write-ahead log into the database file.

use std::fs::File;
use std::thread;
use std::time::Instant;

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
            self.checkpoint().map_err(|fault| fault.at(&self.path))?;
        }
        Ok(())
    }

    /// Brings what is committed to the disk. It is done when the commit is over and others can write again: while the disk
    /// works, nobody waits for more than that, and of many processes that do so at once all are served by a few syncs.
    ///
    /// What another process has moved into the database file meanwhile was synced before it was moved.
    pub(super) fn sync_log(&self) -> Result<(), StoreError> {
        if self.file.is_none() {
            return Ok(());
        }
        let wal = open::wal_of(&self.path);
        File::open(&wal).and_then(|file| file.sync_data()).map_err(StoreError::io("sync", &wal))
    }

    /// A new database is made without any sync, and the syncs of a commit are of the write-ahead log alone. But a
    /// database file that power loss has emptied is a new database, and takes its write-ahead log with it. So the first
    /// commit that is to survive power loss is also brought into the file, which syncs that; and the directories above
    /// it are synced, for they may be new as well. Of several processes that find it not done, one is enough, and none
    /// keeps the others from writing.
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
        let start = Instant::now();
        while !self.is_noted()? {
            if self.checkpoint().map_err(|fault| fault.at(&self.path))? {
                // Who does not find this noted does the same again; the commit is safe either way.
                let _ = self.writing(|write| Ok(write.execute("UPDATE meta SET synced = 1", [])?));
                break;
            }
            if start.elapsed() > open::FOR_SYNC {
                return Ok(());
            }
            thread::sleep(open::PAUSE);
        }
        self.synced = true;
        Ok(())
    }

    /// Whether some process has noted that the database file itself is on the disk.
    fn is_noted(&self) -> Result<bool, StoreError> {
        self.reading(|read| Ok(read.query_row("SELECT synced FROM meta", [], |row| row.get(0))?))
    }

    /// Moves what can be moved while others read and write. Whether that was all of the write-ahead log.
    fn checkpoint(&self) -> Result<bool, Fault> {
        let (busy, frames, moved): (bool, i64, i64) =
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        Ok(!busy && frames == moved)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;

    use hostler_core::record::Strength;

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
