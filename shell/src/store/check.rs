//! Whether a log is sound, found out without changing anything.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::derived::{Difference, difference};
use super::error::{Fault, StoreError};
use super::open::{KNOWN, refuse_newer, version};
use super::{FILE, copied, number};

/// How many records the log in that directory has, if there is one and it is sound. It is read from its first byte to its
/// last, and what is derived from the records is compared with them.
pub fn check(dir: &Path) -> Result<Option<u64>, StoreError> {
    let path = dir.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let look = || -> Result<u64, Fault> {
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
            let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(Fault::Sql(rusqlite::Error::SqliteFailure(corrupt, Some(verdict))));
        }
        // All of it is looked at as it is at one instant.
        let read = connection.unchecked_transaction()?;
        // One of an older layout has not all of it yet; the next run brings it up to date and derives it anew.
        let current = version(&read)? == KNOWN;
        if let Some(Difference { what, session }) = current.then(|| difference(&read)).transpose()?.flatten()
        {
            return Err(StoreError::Disagrees { path: path.clone(), what, session }.into());
        }
        Ok(number(read.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?))
    };
    look().map(Some).map_err(|fault| fault.at(&path))
}

fn open(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(2))?;
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
