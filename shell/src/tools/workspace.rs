//! The directory that tools work in, and what this process knows of its files.
//!
//! A file may be changed only as it was when it was last viewed or written here. That is judged by content, not by
//! time, and known to this process only: after a restart everything must be viewed again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_core::ids::{CallId, SessionId};
use hostler_core::tools::{PathUse, Shut};
use sha2::{Digest as _, Sha256};

use super::outcome::Failure;
use super::paths::{self, Place};
use super::quote;

/// The context that all tool calls of a workspace share. Clones share what is known.
#[derive(Clone, Debug)]
pub struct Workspace {
    shared: Arc<Shared>,
    /// The directory for all outputs that are too long for a result.
    outputs: Option<Arc<Path>>,
    /// Where the output of this call goes.
    output: Option<PathBuf>,
    /// What this call must not find.
    shut: Arc<Shut>,
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
        Ok(Self::at(root))
    }

    /// The workspace in a directory that cannot be used, such as one that was deleted: every tool fails there.
    pub fn gone(directory: &Path) -> Self {
        Self::at(directory.to_owned())
    }

    fn at(root: PathBuf) -> Self {
        let shared = Arc::new(Shared { root, seen: Mutex::default() });
        Self { shared, outputs: None, output: None, shut: Arc::new(Shut::nothing()) }
    }

    /// The same, with a place in that directory for the output of commands that is too long for their results.
    pub fn with_outputs(self, directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Self { outputs: Some(directory.join("output").into()), ..self }
    }

    /// The same, as a call of a session sees it: it may read what earlier calls of its session have put out.
    pub fn of_call(&self, session: &SessionId, call: CallId) -> Self {
        // A digest, because an id may be longer than a file's name, or not be one.
        let digest = Digest::of(session.as_str().as_bytes());
        let name: String = digest.0.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let output = self.outputs.as_ref().map(|outputs| outputs.join(name).join(format!("{call}.txt")));
        Self { output, ..self.clone() }
    }

    /// The same, as a call sees it to which something is shut.
    pub fn without(self, shut: Shut) -> Self {
        Self { shut: Arc::new(shut), ..self }
    }

    /// Whether this call must not find that path, or what a link there leads to, when it looks through `base`.
    pub(super) fn is_shut(&self, path: &Path, base: &Path) -> bool {
        let base = self.to_use(base);
        let leads_to = || paths::resolve(self.root(), path.to_str()?).ok();
        self.shut.is_shut(&self.to_use(path), &base)
            || (path.is_symlink()
                && leads_to().is_some_and(|place| self.shut.is_shut(&place.to_use(), &base)))
    }

    fn to_use(&self, path: &Path) -> PathUse {
        Place { path: path.to_owned(), inside: path.starts_with(self.root()) }.to_use()
    }

    /// Where the output of this call goes if it is too long for its result; nowhere if there is no place for it.
    pub(super) fn output(&self) -> Option<PathBuf> {
        self.output.clone()
    }

    /// The directory, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// The place that a path means. What earlier calls of the session have put out counts as inside.
    pub(super) fn resolve(&self, given: &str) -> Result<Place, Failure> {
        let mut place = paths::resolve(self.root(), given)?;
        let own = self.output.as_deref().and_then(Path::parent);
        place.inside |= own.is_some_and(|own| place.path.starts_with(own));
        Ok(place)
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
    use hostler_core::ids::{StepId, TurnId};

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
    fn a_session_reads_its_own_outputs_and_no_others() -> io::Result<()> {
        let (directory, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let workspace = Workspace::open(directory.path())?.with_outputs(state.path());
        let session = |name: &str| SessionId::new(name);
        let step = StepId { turn: TurnId(1), step: 1 };
        let [a, later, b] = [("a", 1), ("a", 2), ("b", 1)]
            .map(|(name, call)| workspace.of_call(&session(name), CallId { step, call }));
        let inside = |by: &Workspace, path: Option<PathBuf>| {
            let path = path.unwrap_or_default();
            by.resolve(&path.to_string_lossy()).is_ok_and(|place| place.inside)
        };
        assert!(inside(&a, a.output()) && inside(&later, a.output()));
        assert!(!inside(&b, a.output()) && !inside(&workspace, a.output()));
        assert!(!inside(&a, workspace.outputs.as_deref().map(Path::to_owned)));
        assert_ne!(a.output(), later.output());
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
