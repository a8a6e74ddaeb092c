//! Opening files so that nothing blocks and nothing but a regular file is ever read.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::names;
use super::outcome::Failure;
use super::workspace::Workspace;

/// The largest file that is read whole, and so the largest that can be changed.
pub(super) const WHOLE: u64 = 16 * 1024 * 1024;

/// Opens a regular file for reading. The path must be a resolved one: a link there is not followed.
pub(super) fn open(workspace: &Workspace, path: &Path) -> Result<File, Failure> {
    let name = workspace.show(path);
    // A device may do something when it is merely opened, so look first. The second look is at what was opened.
    let file = match path.symlink_metadata().and_then(|found| open_if_regular(&found, path)) {
        Ok(file) => file,
        Err(error) => return Err(explain(workspace, path, &error)),
    };
    let found = file.metadata().map_err(|error| Failure::io("read", &name, &error))?;
    if found.is_file() { Ok(file) } else { Err(not_regular(&name, &found)) }
}

fn open_if_regular(found: &std::fs::Metadata, path: &Path) -> io::Result<File> {
    if found.is_file() { open_at_once(path) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Opens a file without following a link and without waiting for anything.
pub(super) fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

fn explain(workspace: &Workspace, path: &Path, error: &io::Error) -> Failure {
    let name = workspace.show(path);
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => not_regular(&name, &found),
        _ if error.kind() == ErrorKind::NotFound => names::missing(workspace, path),
        _ => Failure::io("opened", &name, error),
    }
}

fn not_regular(name: &str, found: &std::fs::Metadata) -> Failure {
    let kind = found.file_type();
    if kind.is_dir() {
        return Failure::new(format!("{name} is a directory; use ls to list it."));
    }
    let what = match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device or another special file",
    };
    Failure::new(format!("{name} is {what}, which cannot be read as a file; use bash if you need it."))
}

/// Reads the beginning of a file: all of it if it is no larger than [`WHOLE`], else a little more than that.
pub(super) fn beginning(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(WHOLE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether what was read as the beginning is all of it.
pub(super) fn is_whole(beginning: &[u8]) -> bool {
    u64::try_from(beginning.len()).is_ok_and(|length| length <= WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_regular_files_are_opened() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let workspace = Workspace::open(directory.path())?;
        let root = workspace.root();
        std::fs::write(root.join("file"), "text")?;
        symlink("file", root.join("link"))?;
        let _socket = UnixListener::bind(root.join("socket"))?;
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status()?;
        assert!(made.success());
        for (name, reason) in [
            ("file", None),
            ("link", Some("special file")),
            ("socket", Some("is a socket")),
            ("pipe", Some("is a pipe")),
            (".", Some("is a directory; use ls")),
            ("fil", Some("did you mean file?")),
        ] {
            let path = if name == "." { root.to_owned() } else { root.join(name) };
            let failure = open(&workspace, &path).err();
            let sentence = failure.as_ref().map(Failure::sentence);
            assert_eq!(sentence.is_some(), reason.is_some(), "{name}: {sentence:?}");
            assert!(
                sentence.unwrap_or_default().contains(reason.unwrap_or_default()),
                "{name}: {sentence:?}"
            );
        }
        Ok(())
    }
}
