//! What can go wrong with a store, each as one sentence that says what happened and what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a store could not do what it was asked to. Nothing of a failed write is in the log, unless it is the commit's
/// own outcome that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Other processes kept the log locked for longer than the store waits.
    #[error("other processes have been writing to {} for more than 5 s; try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// A newer program has changed the layout of the database.
    #[error(
        "{} has layout version {found}, and this hostler knows versions up to {known}; use a newer hostler",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version that it has.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The file is no database, or a damaged one. It is left as it is.
    #[error("{} is damaged ({}); move it away to begin with an empty history", path.display(), plain(source))]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// What is derived from the records is not what they say.
    #[error(
        "the {what} in {} do not agree with the records of session {session}; what is listed and shown of it may be wrong, and it \
         goes on from the records, so keep a copy of the file and report this",
        path.display()
    )]
    Disagrees {
        /// The database.
        path: PathBuf,
        /// What is derived.
        what: &'static str,
        /// The session.
        session: String,
    },
    /// Something else lies where the database or a file beside it should be, such as a directory or a pipe.
    #[error("{} is not a regular file; move it away and start again", path.display())]
    NotAFile {
        /// What lies there.
        path: PathBuf,
    },
    /// There is no room for more.
    #[error("there is no room left to write to {}; free some and try again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The database was deleted or moved away while it was in use.
    #[error("{} was deleted or moved away while it was in use, so what was said since is not kept; start again", path.display())]
    Gone {
        /// The database.
        path: PathBuf,
    },
    /// SQLite failed in another way.
    #[error("{} cannot be used ({}); see whether its directory can be read and written", path.display(), plain(source))]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A record of a known type cannot be read.
    #[error("record {seq} of the log cannot be read ({source}); start a new session")]
    Record {
        /// The record's place in the log.
        seq: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A row beside the log cannot be read or written as JSON.
    #[error("the stored {what} of a session cannot be read or written ({source}); start a new session")]
    Json {
        /// What the row holds.
        what: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file or directory beside the database cannot be used.
    #[error("cannot {doing} {} ({source}); see whether it can be read and written", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory that state would go to belongs to somebody else, or others can get into it.
    #[error("{} is not a directory of yours alone; remove it or set XDG_STATE_HOME", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| StoreError::Io { doing, path, source }
    }

    fn sqlite(source: rusqlite::Error, path: &Path) -> Self {
        let path = path.to_path_buf();
        if is_of_another_layout(&source) {
            return StoreError::Corrupt { path, source };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path, source }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            _ => StoreError::Sqlite { path, source },
        }
    }
}

/// Whether a database is not laid out as the statements of this program expect, which every log is.
fn is_of_another_layout(error: &rusqlite::Error) -> bool {
    // What is wrong with a statement is wrong with the tables that it is about.
    let in_statement =
        error.sqlite_error().is_some_and(|found| found.extended_code == rusqlite::ffi::SQLITE_ERROR);
    in_statement
        || matches!(error, rusqlite::Error::QueryReturnedNoRows | rusqlite::Error::InvalidColumnType(..))
}

/// What SQLite says, without the statement that it says it of.
fn plain(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::QueryReturnedNoRows => "a row is missing that every log has".to_owned(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// A failure inside the store, before it is known to which file it belongs.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl Fault {
    pub(super) fn json(what: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Fault::Store(StoreError::Json { what, source })
    }

    /// A database that cannot be a log, and why.
    pub(super) fn damaged(says: impl Into<String>) -> Self {
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Fault::Sql(rusqlite::Error::SqliteFailure(corrupt, Some(says.into())))
    }

    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Fault::Sql(source) => StoreError::sqlite(source, path),
            Fault::Store(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Store(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence of each: one that is added does not compile until it stands here.
    fn expected(error: &StoreError) -> &'static str {
        match error {
            StoreError::Busy { .. } => {
                "other processes have been writing to /s/log for more than 5 s; try again"
            }
            StoreError::Newer { .. } => {
                "/s/log has layout version 9, and this hostler knows versions up to 2; use a newer hostler"
            }
            StoreError::Corrupt { .. } => {
                "/s/log is damaged (database disk image is malformed); move it away to begin with an empty history"
            }
            StoreError::Disagrees { .. } => {
                "the titles in /s/log do not agree with the records of session s; what is listed and shown of it may be wrong, and it goes on from the records, so keep a copy of the file and report this"
            }
            StoreError::NotAFile { .. } => "/s/log is not a regular file; move it away and start again",
            StoreError::Full { .. } => "there is no room left to write to /s/log; free some and try again",
            StoreError::Gone { .. } => {
                "/s/log was deleted or moved away while it was in use, so what was said since is not kept; start again"
            }
            StoreError::Sqlite { .. } => {
                "/s/log cannot be used (unable to open database file); see whether its directory can be read and written"
            }
            StoreError::Record { .. } => {
                "record 7 of the log cannot be read (EOF while parsing a value at line 1 column 0); start a new session"
            }
            StoreError::Json { .. } => {
                "the stored snapshot of a session cannot be read or written (EOF while parsing a value at line 1 column 0); start a new session"
            }
            StoreError::Io { .. } => {
                "cannot open /s/log (permission denied); see whether it can be read and written"
            }
            StoreError::NotPrivate { .. } => {
                "/s/log is not a directory of yours alone; remove it or set XDG_STATE_HOME"
            }
        }
    }

    fn sqlite(code: i32, says: &str) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(says.to_owned()))
    }

    fn json() -> serde_json::Error {
        match serde_json::from_str::<serde_json::Value>("") {
            Err(error) => error,
            Ok(_) => panic!("nothing is no JSON"),
        }
    }

    #[test]
    fn every_failure_of_a_store_says_what_happened_and_what_to_do() {
        let path = || PathBuf::from("/s/log");
        for error in [
            StoreError::Busy { path: path() },
            StoreError::Newer { path: path(), found: 9, known: 2 },
            StoreError::Corrupt {
                path: path(),
                source: sqlite(rusqlite::ffi::SQLITE_CORRUPT, "database disk image is malformed"),
            },
            StoreError::Disagrees { path: path(), what: "titles", session: "s".to_owned() },
            StoreError::NotAFile { path: path() },
            StoreError::Full { path: path() },
            StoreError::Gone { path: path() },
            StoreError::Sqlite {
                path: path(),
                source: sqlite(rusqlite::ffi::SQLITE_CANTOPEN, "unable to open database file"),
            },
            StoreError::Record { seq: 7, source: json() },
            StoreError::Json { what: "snapshot", source: json() },
            StoreError::Io {
                doing: "open",
                path: path(),
                source: io::Error::new(io::ErrorKind::PermissionDenied, "permission denied"),
            },
            StoreError::NotPrivate { path: path() },
        ] {
            assert_eq!(error.to_string(), expected(&error));
        }
    }

    #[test]
    fn a_database_that_is_laid_out_otherwise_is_no_log() {
        let said = |error: rusqlite::Error| Fault::from(error).at(Path::new("/s/log")).to_string();
        let missing = "/s/log is damaged (a row is missing that every log has); move it away to begin with an empty history";
        assert_eq!(said(rusqlite::Error::QueryReturnedNoRows), missing);
        let none = rusqlite::Connection::open_in_memory()
            .and_then(|empty| empty.execute("SELECT log FROM meta", []));
        assert!(none.is_err_and(|error| said(error).contains("is damaged (no such table: meta)")));
    }
}
