//! The log of a workspace on disk: one SQLite database with every record in commit order, tables derived from the
//! records for lists and search, and snapshots of sessions' states.
//!
//! The store keeps and finds; it decides nothing about sessions, turns or runs. What it derives never makes a commit
//! fail: records are the truth, whatever they say. [`lock`] is what keeps two processes from writing to one session.
//!
//! Calls block. A [`Store`] is one connection: it can be sent to another thread and not be shared, and any number of
//! them, in any number of processes, may have one database open.

mod check;
mod checkpoint;
mod copy;
mod delete;
mod derived;
mod error;
mod find;
#[cfg(test)]
mod fixture;
mod info;
mod load;
pub mod lock;
mod open;
pub mod place;
mod project;
mod query;
mod transcript;
mod write;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use check::check;
pub use copy::copied;
pub use error::StoreError;
pub use load::Loaded;
pub use write::Committed;

use error::Fault;

/// The name of the database in a workspace's state directory.
const FILE: &str = "hostler.db";

/// An open log.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    log: String,
    /// Whether the database file itself is known to be on the disk.
    synced: bool,
    /// The file that was opened; none in memory.
    file: Option<FileId>,
    /// Whether a run has ended since the last call of `maintain`.
    run_ended: bool,
}

impl Store {
    /// Opens the log in `dir`, a workspace's state directory; makes both if they are missing. A log that is made gets
    /// a random name.
    ///
    /// Fails if the directory cannot be made or written to, if the database is damaged, if a newer program has changed
    /// its layout, or if others hold it for more than 5 s. It never deletes or replaces a file that it cannot use.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_as(dir, &uuid::Uuid::new_v4().simple().to_string())
    }

    /// Opens the log in `dir` like [`Store::open`]; a log that is made gets the name `log`, which must not be empty.
    pub fn open_as(dir: &Path, log: &str) -> Result<Self, StoreError> {
        let began = Instant::now();
        place::make_private(dir).map_err(StoreError::io("make the directory", dir))?;
        let path = dir.join(FILE);
        let connection = open::open(&path, log)?;
        open::keep_private(&path)?;
        let meta =
            connection.query_row("SELECT log, synced FROM meta", [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (log, synced) = meta.map_err(|error| Fault::from(error).at(&path))?;
        let file = FileId::of(&path);
        tracing::debug!(path = %path.display(), micros = began.elapsed().as_micros(), "the log is open");
        Ok(Self { connection, path, log, synced, file, run_ended: false })
    }

    /// Opens a log in a directory that cannot be written to, to be read as it is now: an empty one if there is none. It is
    /// copied to where it can be opened as usual, and the copy goes with the process.
    pub fn open_copy(dir: &Path) -> Result<Self, StoreError> {
        match copied(dir)? {
            Some(copy) => Self::open(copy.path()),
            None => Self::in_memory(),
        }
    }

    /// A log in memory, which goes with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::nowhere(":memory:")
    }

    /// A log that goes with the process, of which only a little is in memory: the rest is in a temporary file that SQLite
    /// makes when it needs one, and that nobody else finds.
    fn scratch() -> Result<Self, StoreError> {
        Self::nowhere("")
    }

    fn nowhere(name: &str) -> Result<Self, StoreError> {
        let path = PathBuf::from(name);
        let log = uuid::Uuid::new_v4().simple().to_string();
        let connection = open::open(&path, &log)?;
        Ok(Self { connection, path, log, synced: true, file: None, run_ended: false })
    }

    /// The log's name: another one after the log was made anew.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Reads what is committed at one instant.
    fn reading<T>(&self, body: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let read = || -> Result<T, Fault> {
            let transaction = self.connection.unchecked_transaction()?;
            let found = body(&transaction)?;
            transaction.commit()?;
            Ok(found)
        };
        read().map_err(|fault| fault.at(&self.path))
    }

    /// Writes all of what `body` writes, or nothing if it fails.
    fn writing<T>(&mut self, body: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let write = || -> Result<T, Fault> {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let done = body(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        write().map_err(|fault| fault.at(&self.path))
    }
}

/// What tells a file from all others, whatever it is called.
#[derive(Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that the path leads to; none if there is none.
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path).ok()?;
        Some(Self { device: found.dev(), inode: found.ino() })
    }
}

impl Store {
    /// A file that was deleted takes whatever is written and nobody will ever find it, so that is a failure to write.
    fn is_there(&self) -> Result<(), StoreError> {
        if self.file.is_none() || FileId::of(&self.path) == self.file {
            return Ok(());
        }
        Err(StoreError::Gone { path: self.path.clone() })
    }
}

/// SQLite's integers are signed. Nothing that is counted here comes near the difference.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(int: i64) -> u64 {
    u64::try_from(int).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_store_can_be_sent_to_another_thread() {
        fn check<T: Send>() {}
        check::<super::Store>();
        check::<super::lock::SessionLock>();
    }
}
