//! What can go wrong with a store, each as one sentence that says what happened and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a store could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
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
}
