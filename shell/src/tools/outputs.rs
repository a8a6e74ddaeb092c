//! Where the output of commands is kept that is too long for their results: one directory for each session, one file for
//! each call, for the user alone.
//!
//! They are a help and no record: whatever is older than a week goes, and the oldest of what is more than there is room
//! for. That is looked after whenever a file is made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a file is kept.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many bytes all files of a workspace may have together, the one that is being written aside.
const BYTES: u64 = 512 << 20;

/// Makes an empty file at a path whose last two parts are the session's and the call's, in place of what is there.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let session = path.parent().ok_or(ErrorKind::InvalidInput)?;
    if let Some(all) = session.parent() {
        prune(all, SystemTime::now());
    }
    match make(session, path) {
        // Another process may have taken the directory away, because it was empty.
        Err(error) if error.kind() == ErrorKind::NotFound => make(session, path),
        made => made,
    }
}

fn make(session: &Path, path: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(session)?;
    // There is nothing there unless a log was put back; and nobody's link is followed.
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A file without a name, on the disk of the other.
pub(super) fn nameless(beside: &Path) -> io::Result<File> {
    tempfile::tempfile_in(beside.parent().ok_or(ErrorKind::InvalidInput)?)
}

/// Deletes what is not to be kept. What cannot be deleted stays: this is housekeeping.
fn prune(all: &Path, now: SystemTime) {
    let mut files: Vec<_> = entries(all).flat_map(|session| entries(&session)).filter_map(look).collect();
    files.sort();
    let mut bytes = 0;
    for (changed, size, path) in files.into_iter().rev() {
        bytes += size;
        if bytes > BYTES || now.duration_since(changed).is_ok_and(|age| age > AGE) {
            let _ = fs::remove_file(path);
        }
    }
    // Those that are not empty stay.
    entries(all).for_each(|session| drop(fs::remove_dir(session)));
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn look(path: PathBuf) -> Option<(SystemTime, u64, PathBuf)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.modified().ok()?, found.len(), path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn put(path: &Path, hours: u64, size: u64) {
        let file = create(path).unwrap();
        file.set_len(size).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    }

    #[test]
    fn what_is_old_or_too_much_is_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let all = directory.path().join("output");
        let path = |name: &str| all.join(name);
        put(&path("a/old.txt"), 8 * 24, 5);
        put(&path("b/first.txt"), 3, BYTES / 2);
        put(&path("b/second.txt"), 2, BYTES / 2);
        put(&path("c/third.txt"), 1, 1);
        put(&path("c/new.txt"), 0, 1);
        let left = |name: &str| path(name).exists();
        assert!(!left("a") && !left("b/first.txt") && left("b/second.txt"));
        assert!(left("c/third.txt") && left("c/new.txt"));
    }

    #[test]
    fn it_is_the_users_alone_and_follows_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output/a/call.txt");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        create(&path).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let other = directory.path().join("other");
        fs::write(&other, "kept").unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        create(&path).unwrap();
        assert_eq!(fs::read_to_string(other).unwrap(), "kept");
        assert!(!path.is_symlink());
    }
}
