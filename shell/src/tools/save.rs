//! Putting a file in place whole: whoever looks at the path sees the old content or the new, never a part.
//!
//! The new content is written beside the file, synced and renamed over it. Mode and owner are kept; hard links to the
//! old content and extended attributes are not.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, Gid, Uid, access, fchown};
use tempfile::{Builder, NamedTempFile};

use super::files::{beginning, open_at_once};
use super::workspace::Digest;

/// What a new file's mode is before the umask is applied.
const MODE: u32 = 0o666;

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
    let beside = write_beside(parent, bytes)?;
    beside.as_file().sync_all()?;
    match beside.persist_noclobber(path) {
        Ok(_) => {
            sync(parent);
            Ok(())
        }
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(NotSaved::Raced),
        Err(error) => Err(error.error.into()),
    }
}

/// Puts that content at a resolved path in place of the content that it replaces.
pub(super) fn replace(path: &Path, bytes: &[u8], replaces: Digest) -> Result<(), NotSaved> {
    let parent = parent(path)?;
    // Renaming would get around a file's being read-only.
    access(path, Access::WRITE_OK).map_err(io::Error::from)?;
    let beside = write_beside(parent, bytes)?;
    let mut now = open_at_once(path)?;
    make_alike(beside.as_file(), &now.metadata()?)?;
    beside.as_file().sync_all()?;
    if Digest::of(&beginning(&mut now)?) != replaces {
        return Err(NotSaved::Raced);
    }
    beside.persist(path).map_err(|error| error.error)?;
    sync(parent);
    Ok(())
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::IsADirectory.into())
}

fn write_beside(parent: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".hostler-").suffix(".tmp").permissions(Permissions::from_mode(MODE));
    let mut file = builder.tempfile_in(parent)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Gives a file the owner and mode of another, the owner as far as the system lets us.
fn make_alike(file: &File, like: &Metadata) -> io::Result<()> {
    let made = file.metadata()?;
    if made.gid() != like.gid() {
        let _ = fchown(file, None, Some(Gid::from_raw(like.gid())));
    }
    if made.uid() != like.uid() {
        let _ = fchown(file, Some(Uid::from_raw(like.uid())), None);
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o7777))
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
