//! Putting a file in place whole: whoever looks at the path sees the old content or the new, never a part.
//!
//! The new content is written to a file without a name, synced, given a name beside the file, and renamed over it. So what
//! a process that is killed leaves behind is nothing, or, for an instant, a whole file with a name that `ls` and its like
//! do not show and that the next change in the directory deletes. Mode and owner are kept; hard links to the old content
//! and extended attributes are not.
//!
//! Between two of us the one that comes second notices, because it looks at the file under a lock on it. What other
//! programs do in the microsecond between that look and the rename is not noticed.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, Gid, Uid, access, fchown};

use super::files::{beginning, open_at_once};
use super::fresh::{self, Fresh};
use super::workspace::Digest;

/// How often a lock is tried for that somebody else has, and the pause after each try. Who holds it longer is none of us.
const TRIES: (u32, Duration) = (100, Duration::from_millis(5));

/// Why a file was not put in place. Nothing was changed.
#[derive(Debug)]
pub(super) enum NotSaved {
    /// Another process changed the file just now.
    Raced,
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for NotSaved {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Puts that content at a resolved path where there is nothing, making the directories it needs.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<(), NotSaved> {
    let parent = parent(path)?;
    fs::create_dir_all(parent)?;
    let fresh = write_beside(parent, bytes, fresh::SHARED)?;
    fresh.file().sync_all()?;
    match fresh.put_where_nothing_is(path) {
        Ok(()) => {
            sync(parent);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(NotSaved::Raced),
        Err(error) => Err(error.into()),
    }
}

/// Puts that content at a resolved path in place of the content that it replaces.
pub(super) fn replace(path: &Path, bytes: &[u8], replaces: Digest) -> Result<(), NotSaved> {
    let parent = parent(path)?;
    // Renaming would get around a file's being read-only.
    access(path, Access::WRITE_OK).map_err(io::Error::from)?;
    let mut now = open_at_once(path)?;
    let fresh = write_beside(parent, bytes, fresh::PRIVATE)?;
    make_alike(fresh.file(), &now.metadata()?, 0o7777)?;
    fresh.file().sync_all()?;
    lock(&now);
    if !is_at(&now, path) || Digest::of(&beginning(&mut now)?) != replaces {
        return Err(NotSaved::Raced);
    }
    fresh.put_in_place_of(path)?;
    sync(parent);
    Ok(())
}

/// Puts that content at a path whose links are resolved, whatever is there. What is there and cannot be written stays; its
/// mode and owner are those of the new one, but nobody executes the new one as its owner or group because of that.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = match parent(path)? {
        here if here.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    let fresh = match path.metadata() {
        Ok(found) => {
            access(path, Access::WRITE_OK)?;
            let fresh = write_beside(parent, bytes, fresh::PRIVATE)?;
            make_alike(fresh.file(), &found, 0o777)?;
            fresh
        }
        Err(_) => write_beside(parent, bytes, fresh::SHARED)?,
    };
    fresh.file().sync_all()?;
    fresh.put_in_place_of(path)?;
    sync(parent);
    Ok(())
}

/// Has the file to itself among those of us that change it, until it is dropped.
fn lock(file: &File) {
    for _ in 0..TRIES.0 {
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => thread::sleep(TRIES.1),
            // Without locks, as on some network file systems, it is as good as it gets.
            Ok(()) | Err(fs::TryLockError::Error(_)) => return,
        }
    }
}

/// Whether that file is still the one at the path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|file| path.symlink_metadata().is_ok_and(|there| same(file, there)))
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| ErrorKind::IsADirectory.into())
}

fn write_beside(parent: &Path, bytes: &[u8], mode: u32) -> io::Result<Fresh> {
    let fresh = Fresh::in_directory(parent, mode)?;
    fresh.file().write_all(bytes)?;
    Ok(fresh)
}

/// Gives a file the owner and mode of another, the owner as far as the system lets us, and of the mode no more than `bits`.
fn make_alike(file: &File, like: &Metadata, bits: u32) -> io::Result<()> {
    let made = file.metadata()?;
    if made.gid() != like.gid() {
        let _ = fchown(file, None, Some(Gid::from_raw(like.gid())));
    }
    if made.uid() != like.uid() {
        let _ = fchown(file, Some(Uid::from_raw(like.uid())), None);
    }
    file.set_permissions(Permissions::from_mode(like.mode() & bits))
}

/// Makes a rename last. The new content is in place whatever comes of it, so there is nothing to report.
fn sync(directory: &Path) {
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> io::Result<Vec<String>> {
        let entries = directory.read_dir()?.flatten();
        Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn a_new_file_never_takes_the_place_of_another() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("a/b/c");
        assert!(create(&path, b"one").is_ok());
        assert!(matches!(create(&path, b"two"), Err(NotSaved::Raced)));
        assert_eq!(fs::read(&path)?, b"one");
        assert_eq!(names(&directory.path().join("a/b"))?, ["c"]);
        Ok(())
    }

    #[test]
    fn what_is_put_in_place_is_not_executed_as_its_owner() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("answer");
        fs::write(&path, "one")?;
        fs::set_permissions(&path, Permissions::from_mode(0o6755))?;
        put(&path, b"two")?;
        assert_eq!((fs::read(&path)?, path.metadata()?.mode() & 0o7777), (b"two".to_vec(), 0o755));
        Ok(())
    }

    #[test]
    fn replacing_keeps_the_mode_and_leaves_nothing_behind() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("script");
        fs::write(&path, "one")?;
        fs::set_permissions(&path, Permissions::from_mode(0o750))?;
        assert!(replace(&path, b"two", Digest::of(b"one")).is_ok());
        assert_eq!(fs::read(&path)?, b"two");
        assert_eq!(path.metadata()?.mode() & 0o7777, 0o750);
        assert!(matches!(replace(&path, b"three", Digest::of(b"one")), Err(NotSaved::Raced)));
        assert_eq!(names(directory.path())?, ["script"]);
        Ok(())
    }
}
