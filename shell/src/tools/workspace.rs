//! The directory that tools work in, and what this process knows of its files.
//!
//! A file may be changed only as it was when it was last viewed or written here. That is judged by content, not by
//! time, and known to this process only: after a restart everything must be viewed again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::outcome::Failure;
use super::paths::{self, Place};
use super::quote;

/// The context that all tool calls of a workspace share. Clones share what is known.
#[derive(Clone, Debug)]
pub struct Workspace {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    seen: Mutex<BTreeMap<PathBuf, Digest>>,
}

/// The content of a file, as its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// The digest of that content.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// What this process knows of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was last viewed or written as it is.
    Current,
    /// It was different then.
    Changed,
    /// It was neither viewed nor written.
    Never,
}

impl Workspace {
    /// The workspace in that directory, links resolved. Nothing is known of its files yet.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let root = directory.canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { shared: Arc::new(Shared { root, seen: Mutex::default() }) })
    }

    /// The workspace in a directory that cannot be used, such as one that was deleted: every tool fails there.
    pub fn gone(directory: &Path) -> Self {
        Self { shared: Arc::new(Shared { root: directory.to_owned(), seen: Mutex::default() }) }
    }

    /// The directory, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// The place that a path means.
    pub(super) fn resolve(&self, given: &str) -> Result<Place, Failure> {
        paths::resolve(self.root(), given)
    }

    /// A path as the model and people are told of it.
    pub(super) fn show(&self, path: &Path) -> String {
        quote::path(self.root(), path)
    }

    /// Remembers what a file was when it was viewed or written.
    pub(super) fn saw(&self, path: &Path, digest: Digest) {
        self.seen().insert(path.to_owned(), digest);
    }

    /// What is known of a file whose content is now this.
    pub(super) fn knows(&self, path: &Path, digest: Digest) -> Known {
        match self.seen().get(path) {
            Some(seen) if *seen == digest => Known::Current,
            Some(_) => Known::Changed,
            None => Known::Never,
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Digest>> {
        // An insertion is all that happens under the lock, so the map is whole whoever panicked.
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_what_counts() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let workspace = Workspace::open(directory.path())?;
        let (path, old, new) = (Path::new("/a"), Digest::of(b"old"), Digest::of(b"new"));
        assert_eq!(workspace.knows(path, old), Known::Never);
        workspace.clone().saw(path, old);
        assert_eq!(workspace.knows(path, old), Known::Current);
        assert_eq!(workspace.knows(path, new), Known::Changed);
        Ok(())
    }

    #[test]
    fn only_a_directory_can_be_a_workspace() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("file");
        std::fs::write(&file, "")?;
        assert!(Workspace::open(&file).is_err());
        assert!(Workspace::open(&directory.path().join("missing")).is_err());
        Ok(())
    }
}
