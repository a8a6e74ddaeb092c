//! Whether a log is sound, found out without changing anything.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::derived::{Difference, difference};
use super::error::{Fault, StoreError};
use super::open::{KNOWN, is_there, layout, refuse_newer, version};
use super::{FILE, copied, number};

/// How many records the log in that directory has, if there is one and it is sound. It is read from its first byte to its
/// last, and what is derived from the records is compared with them.
pub fn check(dir: &Path) -> Result<Option<u64>, StoreError> {
    let path = dir.join(FILE);
    if !is_there(&path)? {
        return Ok(None);
    }
    let look = || -> Result<Option<u64>, Fault> {
        // Where nothing can be written SQLite may not be able to read either, but a copy it can.
        let (connection, _copy) = match open(&path) {
            Ok(connection) => (connection, None),
            Err(fault) if unreadable_here(&fault) => match copied(dir)? {
                Some(copy) => (open(&copy.path().join(FILE))?, Some(copy)),
                None => return Err(fault),
            },
            Err(fault) => return Err(fault),
        };
        refuse_newer(&connection, &path)?;
        let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(Fault::damaged(verdict));
        }
        // All of it is looked at as it is at one instant.
        let read = connection.unchecked_transaction()?;
        let layout = layout(&read)?;
        if layout == 0 {
            return Ok(None);
        }
        let highest: u64 = number(read.query_row("SELECT seq FROM meta", [], |row| row.get(0))?);
        // One of an older layout has not all of it yet; the next run brings it up to date and derives it anew.
        let current = layout == KNOWN;
        if let Some(Difference { what, session }) = current.then(|| difference(&read)).transpose()?.flatten()
        {
            return Err(StoreError::Disagrees { path: path.clone(), what, session }.into());
        }
        let (count, last) =
            read.query_row("SELECT count(*), coalesce(max(seq), 0) FROM records", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        // The next record would get a number that another one has.
        if number(last) > highest {
            return Err(Fault::damaged("its records go on beyond the last of which it knows"));
        }
        Ok(Some(number(count)))
    };
    look().map_err(|fault| fault.at(&path))
}

fn open(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(super::open::PATIENCE)?;
    version(&connection)?;
    Ok(connection)
}

fn unreadable_here(fault: &Fault) -> bool {
    let Fault::Sql(error) = fault else { return false };
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_log_of_an_older_layout_is_no_damaged_one() {
        let directory = tempfile::tempdir().unwrap();
        drop(Store::open(directory.path()).unwrap());
        let log = Connection::open(directory.path().join(FILE)).unwrap();
        log.execute_batch("DROP TABLE asks; PRAGMA user_version = 1").unwrap();
        drop(log);
        assert_eq!(check(directory.path()).unwrap(), Some(0));
    }

    #[test]
    fn what_is_missing_is_noticed() {
        use crate::store::fixture;
        use hostler_core::record::Strength;
        for (change, says) in [
            ("DELETE FROM runs", "the runs in"),
            ("DELETE FROM sessions", "the lists in"),
            ("DELETE FROM records", "the lists in"),
            ("DROP TABLE messages", "no such table: messages"),
            ("UPDATE meta SET seq = 1", "beyond the last of which it knows"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let mut store = Store::open(directory.path()).unwrap();
            store
                .commit(&[fixture::created("a", 1), fixture::accepted("a", "p", 2)], Strength::Normal)
                .unwrap();
            assert_eq!(check(directory.path()).unwrap(), Some(2));
            store.connection.execute_batch(change).unwrap();
            let error = check(directory.path()).unwrap_err().to_string();
            assert!(error.contains(says), "{change}: {error}");
        }
    }

    #[test]
    fn an_empty_file_is_a_log_that_has_not_begun() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE), "").unwrap();
        assert_eq!(check(directory.path()).unwrap(), None);
    }

    #[test]
    fn a_log_is_sound_until_somebody_writes_over_it() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(check(directory.path()).unwrap(), None);
        drop(Store::open(directory.path()).unwrap());
        assert_eq!(check(directory.path()).unwrap(), Some(0));
        std::fs::remove_file(directory.path().join("hostler.db-wal")).ok();
        std::fs::write(directory.path().join(FILE), "this is no log ".repeat(1_000)).unwrap();
        assert!(matches!(check(directory.path()), Err(StoreError::Corrupt { .. })));
    }
}
