//! Reading and writing small files that people keep: settings, keys, notes.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::Builder;

/// The text of a regular file of at most `most` bytes; none if there is no file. Never waits for a file that is none, such
/// as a pipe.
pub fn read(path: &Path, most: u64) -> io::Result<Option<String>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Puts a text in a file's place whole: whoever looks sees the old or the new. A link is followed; a new file is its
/// owner's alone, and so are the directories that it needs.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let parent = target.parent().ok_or(io::ErrorKind::IsADirectory)?;
    make_private(parent)?;
    let mode = fs::metadata(&target).map_or(0o600, |found| found.permissions().mode() & 0o777);
    let mut file = Builder::new().prefix(".hostler-").suffix(".tmp").tempfile_in(parent)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a directory and those above it, as far as they are missing, for their owner alone.
pub(super) fn make_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_no_small_text_file_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        assert_eq!(read(&path("missing"), 10).unwrap(), None);
        fs::write(path("a"), "12345").unwrap();
        assert_eq!(read(&path("a"), 5).unwrap().as_deref(), Some("12345"));
        assert!(read(&path("a"), 4).unwrap_err().to_string().contains("longer than 4"));
        assert_eq!(read(&path("a/b"), 10).unwrap(), None);
        fs::write(path("b"), [0xff, 0xfe]).unwrap();
        assert!(read(&path("b"), 10).is_err());
        assert!(read(directory.path(), 10).unwrap_err().to_string().contains("regular"));
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        assert!(read(&path("pipe"), 10).unwrap_err().to_string().contains("regular"));
    }

    #[test]
    fn a_file_keeps_its_mode_and_its_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
        replace(&path("new/file"), "a").unwrap();
        assert_eq!((fs::read_to_string(path("new/file")).unwrap().as_str(), mode("new/file")), ("a", 0o600));
        fs::set_permissions(path("new/file"), Permissions::from_mode(0o644)).unwrap();
        symlink("new/file", path("link")).unwrap();
        replace(&path("link"), "b").unwrap();
        assert!(path("link").is_symlink());
        assert_eq!((fs::read_to_string(path("new/file")).unwrap().as_str(), mode("new/file")), ("b", 0o644));
        assert_eq!(fs::read_dir(path("new")).unwrap().count(), 1);
    }
}
