//! Opening a database: its files, its settings and its layout. Several processes may do so at the same instant.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::error::{Fault, StoreError};

/// How long a write waits for those of other processes.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How long it is waited until others leave the database file alone, so that it can be synced; it is safe without as well.
pub(super) const FOR_SYNC: Duration = Duration::from_secs(2);

/// How long it pauses between two tries.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

/// The layouts, each as the step from the one before it; the layout's version is how many steps were made.
const STEPS: [&str; 2] = [include_str!("schema/v1.sql"), include_str!("schema/v2.sql")];

pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// Everything that is set once per connection. `fullfsync` matters on macOS only, where an ordinary sync may leave the
/// data in the drive's cache.
const SETTINGS: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA cache_size = -2000;
    PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 1048576;
";

/// Opens the database at `path`, makes it if it is missing, and brings its layout up to date. A database that is made
/// here gets the name `log`.
pub(super) fn open(path: &Path, log: &str) -> Result<Connection, StoreError> {
    refuse_odd(path)?;
    let connection = connect(path).map_err(|fault| fault.at(path))?;
    if version(&connection).map_err(|fault| fault.at(path))? < KNOWN {
        patiently(|| use_wal(&connection)).map_err(|fault| fault.at(path))?;
        migrate(&connection, path, log)?;
    }
    refuse_newer(&connection, path)?;
    connection.execute_batch(SETTINGS).map_err(|error| Fault::from(error).at(path))?;
    Ok(connection)
}

/// Refuses what lies in the place of a database or of a file beside it and is none: whoever reads a pipe may wait for ever.
fn refuse_odd(path: &Path) -> Result<(), StoreError> {
    let beside = ["-wal", "-shm", "-journal"].map(|suffix| beside(path, suffix));
    for file in [path.to_path_buf()].into_iter().chain(beside) {
        if fs::metadata(&file).is_ok_and(|found| !found.is_file()) {
            return Err(StoreError::NotAFile { path: file });
        }
    }
    Ok(())
}

/// Whether there is a database; what cannot be looked for is not taken for missing.
pub(super) fn is_there(path: &Path) -> Result<bool, StoreError> {
    refuse_odd(path)?;
    path.try_exists().map_err(StoreError::io("look for", path))
}

/// The file of the write-ahead log beside a database.
pub(super) fn wal_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_turn()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

pub(super) fn version(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// The version of the layout, seen together with whether there is one: 0 is that of a file in which nothing is yet. Must be
/// asked inside a transaction, since others may be making the layout.
pub(super) fn layout(transaction: &Connection) -> Result<i64, Fault> {
    let found = version(transaction)?;
    let tables = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table')";
    if found < 0 || (found == 0 && transaction.query_row(tables, [], |row| row.get(0))?) {
        return Err(Fault::damaged(format!("its layout has the version {found}, which no log has")));
    }
    Ok(found)
}

pub(super) fn refuse_newer(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(connection).map_err(|fault| fault.at(path))?;
    if found <= KNOWN {
        return Ok(());
    }
    Err(StoreError::Newer { path: path.to_path_buf(), found, known: KNOWN })
}

/// The mode of the journal is a property of the file. While a new file is made nothing in it is worth a sync: if power
/// is lost, it is made again.
fn use_wal(connection: &Connection) -> Result<(), Fault> {
    if version(connection)? == 0 {
        connection.execute_batch("PRAGMA synchronous = OFF")?;
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    }
    Ok(())
}

/// Says whether to try again for a lock that was refused so many times. Even pauses let everybody have a turn; SQLite's
/// own way of waiting pauses longer and longer, so that newcomers starve those who have waited long.
fn wait_turn() -> impl FnMut(i32) -> bool + Send + 'static {
    let mut since = Instant::now();
    move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        let patient = since.elapsed() < PATIENCE;
        if patient {
            thread::sleep(PAUSE);
        }
        patient
    }
}

/// Changing the journal's mode asks for a lock in a way that may be refused at once, without the usual wait.
fn patiently(mut attempt: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(Fault::Sql(error))
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Of several processes that get here at once, the first one does the work and the others find it done.
fn migrate(connection: &Connection, path: &Path, log: &str) -> Result<(), StoreError> {
    let work = || -> Result<(), Fault> {
        let write = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        let found = layout(&write)?;
        for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            write.execute_batch(step)?;
        }
        if found == 0 {
            write.execute("INSERT INTO meta (one, log, seq, synced) VALUES (1, ?1, 0, 0)", [log])?;
        }
        if found < KNOWN {
            write.pragma_update(None, "user_version", KNOWN)?;
        }
        Ok(write.commit()?)
    };
    work().map_err(|fault| fault.at(path))
}

/// SQLite makes the database as the umask says, and the files beside it like the database.
pub(super) fn keep_private(path: &Path) -> Result<(), StoreError> {
    for file in [path.to_path_buf(), wal_of(path), beside(path, "-shm")] {
        let open_to_others = fs::metadata(&file).is_ok_and(|found| found.mode() & 0o077 != 0);
        if open_to_others {
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&file, private).map_err(StoreError::io("make private", &file))?;
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use super::super::fixture::{self, DB};
    use super::super::{Store, StoreError};
    use super::*;
    use hostler_core::record::Strength;

    #[test]
    fn a_new_database_is_private_and_set_up() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a/b");
        let store = Store::open(&dir).unwrap();
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        for name in ["", "-wal", "-shm"] {
            let file = beside(&dir.join(DB), name);
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
        }
        let pragma = |name| -> String {
            store
                .connection
                .query_row(&format!("SELECT \"{name}\" || '' FROM pragma_{name}"), [], |row| row.get(0))
                .unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal");
        assert_eq!((pragma("synchronous").as_str(), pragma("cache_size").as_str()), ("1", "-2000"));
    }

    #[test]
    fn a_log_keeps_its_name() {
        let temp = tempfile::tempdir().unwrap();
        let name = Store::open_as(temp.path(), "first").unwrap().log().to_string();
        assert_eq!(name, "first");
        assert_eq!(Store::open(temp.path()).unwrap().log(), "first");
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Store::open(other.path()).unwrap().log(), "first");
    }

    #[test]
    fn many_may_make_it_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("new");
        let start = std::sync::Barrier::new(20);
        let open = |number: u32| {
            start.wait();
            let mut store = Store::open(&dir).unwrap();
            let session = format!("s{number}");
            let committed = store.commit(&[fixture::created(&session, 1)], Strength::Normal).unwrap();
            (store.log().to_string(), committed.first().map(|one| one.seq))
        };
        let all: Vec<_> = thread::scope(|scope| {
            let open = &open;
            let threads: Vec<_> = (0..20).map(|number| scope.spawn(move || open(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let logs: BTreeSet<_> = all.iter().map(|(log, _)| log).collect();
        let seqs: BTreeSet<_> = all.iter().filter_map(|(_, seq)| *seq).collect();
        assert_eq!(logs.len(), 1);
        assert_eq!(seqs, (1..=20).collect());
    }

    #[test]
    fn a_newer_layout_is_refused_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        drop(Store::open(temp.path()).unwrap());
        let path = temp.path().join(DB);
        let newer = Connection::open(&path).unwrap();
        newer.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(newer);
        let before = fs::read(&path).unwrap();

        let error = Store::open(temp.path()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 99, known: KNOWN, .. }), "{error}");
        assert!(error.to_string().contains("version 99"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn an_older_layout_is_brought_up_to_date_and_nothing_is_lost() {
        let temp = tempfile::tempdir().unwrap();
        let entries = [fixture::created("a", 1), fixture::accepted("a", "p", 1)];
        let mut store = Store::open_as(temp.path(), "first").unwrap();
        store.commit(&entries, Strength::Normal).unwrap();
        // What the first layout did not have.
        store.connection.execute_batch("DROP TABLE asks; PRAGMA user_version = 1").unwrap();
        drop(store);
        let store = Store::open(temp.path()).unwrap();
        assert_eq!((store.log(), version(&store.connection).unwrap()), ("first", KNOWN));
        let kept: Vec<_> = store.after(0, 10).unwrap().into_iter().map(|(_, entry)| entry).collect();
        assert_eq!(kept, entries);
        assert_eq!(super::super::check(temp.path()).unwrap(), Some(2));
    }

    #[test]
    fn a_copy_has_all_that_was_committed_and_the_original_stays_as_it_is() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(Store::open_copy(temp.path()).unwrap().head().unwrap(), 0);
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(&[fixture::created("a", 1)], Strength::Normal).unwrap();
        let files = || {
            let read = |name| fs::read(beside(&temp.path().join(DB), name)).unwrap();
            [read(""), read("-wal")]
        };
        let before = files();
        let copy = Store::open_copy(temp.path()).unwrap();
        assert_eq!((copy.head().unwrap(), copy.log()), (1, store.log()));
        store.commit(&[fixture::created("b", 2)], Strength::Normal).unwrap();
        assert_eq!((copy.head().unwrap(), store.head().unwrap()), (1, 2));
        drop(copy);
        assert_eq!(files()[0], before[0]);
    }

    #[test]
    fn what_is_no_log_or_lacks_a_part_of_one_is_damaged() {
        for (change, says) in [
            ("DELETE FROM meta", "a row is missing"),
            ("DROP TABLE meta", "no such table: meta"),
            ("PRAGMA user_version = -1", "its layout has the version -1"),
            ("PRAGMA user_version = 0", "its layout has the version 0"),
        ] {
            let temp = tempfile::tempdir().unwrap();
            drop(Store::open(temp.path()).unwrap());
            Connection::open(temp.path().join(DB)).unwrap().execute_batch(change).unwrap();
            for error in
                [Store::open(temp.path()).unwrap_err(), super::super::check(temp.path()).unwrap_err()]
            {
                assert!(matches!(error, StoreError::Corrupt { .. }), "{change}: {error}");
                assert!(error.to_string().contains(says), "{change}: {error}");
            }
        }
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        use rustix::fs::{CWD, Mode, mkfifoat};
        for name in ["", "-wal", "-shm", "-journal"] {
            for pipe in [true, false] {
                let temp = tempfile::tempdir().unwrap();
                let odd = beside(&temp.path().join(DB), name);
                if pipe {
                    mkfifoat(CWD, &odd, Mode::RWXU).unwrap();
                } else {
                    fs::create_dir(&odd).unwrap();
                }
                if !name.is_empty() {
                    fs::write(temp.path().join(DB), "").unwrap();
                }
                let errors = [
                    Store::open(temp.path()).unwrap_err(),
                    Store::open_copy(temp.path()).unwrap_err(),
                    super::super::check(temp.path()).unwrap_err(),
                ];
                for error in errors {
                    assert!(
                        matches!(&error, StoreError::NotAFile { path } if *path == odd),
                        "{name}: {error}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_database_is_an_error_and_kept() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(DB);
        let noise = b"this is no database ".repeat(500);
        fs::write(&path, &noise).unwrap();
        let error = Store::open(temp.path()).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), noise);
    }
}
