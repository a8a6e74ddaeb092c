//! The directories whose own configuration the user trusts, by their canonical paths, in a file beside the user's state.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::files;

/// How many bytes the list may have.
const LIST_BYTES: u64 = 8 << 20;

/// The list as it is on disk.
#[derive(Debug, Default, Deserialize, Serialize)]
struct List {
    v: u32,
    trusted: Vec<String>,
}

/// The list of trusted directories.
#[derive(Clone, Debug)]
pub struct Trusted {
    /// The directory that all state of the user is in.
    state: PathBuf,
}

impl Trusted {
    /// The list in that directory, which need not exist.
    pub fn in_state(state: &Path) -> Self {
        Self { state: state.to_owned() }
    }

    /// The file of the list.
    pub fn file(&self) -> PathBuf {
        self.state.join("trusted.json")
    }

    /// All that is trusted, in the order of the paths. Fails if the list cannot be read, or is none.
    pub fn list(&self) -> io::Result<Vec<String>> {
        let Some(text) = files::read(&self.file(), LIST_BYTES)? else { return Ok(Vec::new()) };
        let list: List = serde_json::from_str(&text)
            .map_err(|error| io::Error::other(format!("it is damaged: {error}")))?;
        Ok(list.trusted)
    }

    /// Whether that directory is trusted, which must be canonical. A directory below a trusted one is not: it may have
    /// come there with somebody else's work.
    pub fn has(&self, directory: &Path) -> io::Result<bool> {
        let Some(name) = directory.to_str() else { return Ok(false) };
        Ok(self.list()?.iter().any(|trusted| trusted == name))
    }

    /// Trusts a directory, or trusts it no longer; says whether that changed anything.
    pub fn set(&self, directory: &Path, trust: bool) -> io::Result<bool> {
        let name = directory.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
        files::make_private(&self.state)?;
        // Whoever opens a pipe for both waits for nobody.
        let mut options = File::options();
        let lock = options.create(true).read(true).append(true).mode(0o600);
        let lock = lock.open(self.state.join("trusted.lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut trusted = self.list()?;
        let changes = trusted.iter().any(|held| held == name) != trust;
        if changes {
            trusted.retain(|held| held != name);
            if trust {
                trusted.push(name.to_owned());
            }
            trusted.sort();
            let text = serde_json::to_string_pretty(&List { v: 1, trusted })?;
            files::replace(&self.file(), &(text + "\n"))?;
        }
        Ok(changes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn trust_is_given_and_taken_by_exact_path() {
        let directory = tempfile::tempdir().unwrap();
        let trusted = Trusted::in_state(&directory.path().join("state"));
        let path = Path::new("/a/b");
        assert!(!trusted.has(path).unwrap());
        assert!(trusted.set(path, true).unwrap() && !trusted.set(path, true).unwrap());
        assert!(trusted.has(path).unwrap());
        assert!(!trusted.has(Path::new("/a")).unwrap() && !trusted.has(Path::new("/a/b/c")).unwrap());
        assert!(trusted.set(path, false).unwrap() && !trusted.set(path, false).unwrap());
        assert!(trusted.list().unwrap().is_empty());
    }

    #[test]
    fn several_at_once_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let trusted = Trusted::in_state(directory.path());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let trusted = &trusted;
                scope.spawn(move || trusted.set(Path::new(&format!("/{number}")), true).unwrap());
            }
        });
        assert_eq!(trusted.list().unwrap().len(), 8);
    }

    #[test]
    fn a_damaged_list_trusts_nothing_and_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let trusted = Trusted::in_state(directory.path());
        fs::write(trusted.file(), "[\"/a\"]").unwrap();
        assert!(trusted.has(Path::new("/a")).is_err());
    }
}
