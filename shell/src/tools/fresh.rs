//! A file that is being written and has no name yet, or one that nobody minds.
//!
//! Where the system has files without names, one of them comes to its name whole and at once. Elsewhere it has a name from
//! the beginning, by which it is known to be ours.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use uuid::Uuid;

/// The mode of a new file before the umask is applied.
pub(super) const SHARED: u32 = 0o666;
/// The mode of a file whose content may be nobody else's business, until it is known better.
pub(super) const PRIVATE: u32 = 0o600;

/// How the names begin and end that these files have for a moment.
const NAME: (&str, &str) = (".hostler-", ".tmp");
/// How old a file of such a name is that somebody has left behind.
const AGE: Duration = Duration::from_secs(60);
/// How many names of a directory are looked at for such files.
const LOOKED_AT: usize = 5000;

/// A file that is being written. Dropping it deletes it.
pub(super) struct Fresh {
    file: File,
    directory: PathBuf,
    /// Its name, if it has one.
    named: Option<PathBuf>,
}

impl Fresh {
    /// An empty file on the disk of that directory. What others have left behind there is deleted.
    pub(super) fn in_directory(directory: &Path, mode: u32) -> io::Result<Self> {
        sweep(directory);
        let (file, named) = match nameless(directory, mode) {
            Some(file) => (file, None),
            None => {
                let path = name(directory);
                let options = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).clone();
                (options.open(&path)?, Some(path))
            }
        };
        Ok(Self { file, directory: directory.to_owned(), named })
    }

    /// The file, to be written.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives it that name, which nothing may have.
    pub(super) fn put_where_nothing_is(mut self, path: &Path) -> io::Result<()> {
        match &self.named {
            None => link(&self.file, path),
            Some(named) => {
                // The other name goes when this is dropped.
                fs::hard_link(named, path).or_else(|error| match error.kind() {
                    ErrorKind::AlreadyExists => Err(error),
                    // There are disks without links; nothing is there, as far as one can tell.
                    _ if path.symlink_metadata().is_err() => fs::rename(named, path),
                    _ => Err(ErrorKind::AlreadyExists.into()),
                })?;
                let named = self.named.take();
                named.map_or(Ok(()), |named| drop_name(&named))
            }
        }
    }

    /// Gives it the name of another file, which is no more then.
    pub(super) fn put_in_place_of(mut self, path: &Path) -> io::Result<()> {
        let named = match self.named.take() {
            Some(named) => named,
            None => {
                let named = name(&self.directory);
                link(&self.file, &named)?;
                named
            }
        };
        let renamed = fs::rename(&named, path);
        if renamed.is_err() {
            self.named = Some(named);
        }
        renamed
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(named) = &self.named {
            // If that fails, the next one here does it.
            let _ = fs::remove_file(named);
        }
    }
}

/// Whether a name is one that these files have for a moment.
pub(super) fn is_ours(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(NAME.0.as_bytes()) && name.ends_with(NAME.1.as_bytes())
}

fn name(directory: &Path) -> PathBuf {
    directory.join(format!("{}{}{}", NAME.0, Uuid::new_v4().simple(), NAME.1))
}

fn drop_name(named: &Path) -> io::Result<()> {
    match fs::remove_file(named) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A file without a name, if the system and the disk have such; of any problem a file with a name has to tell.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(directory, flags, Mode::from_raw_mode(mode)).ok()?);
    // It is linked by this path.
    handle(&file).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_directory: &Path, _mode: u32) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, handle(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn handle(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Deletes what processes that were killed have left behind.
fn sweep(directory: &Path) {
    let now = SystemTime::now();
    let entries = directory.read_dir().into_iter().flatten().flatten().take(LOOKED_AT);
    for entry in entries.filter(|entry| is_ours(&entry.file_name())) {
        let changed = entry.metadata().and_then(|found| found.modified());
        if changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > AGE)) {
            // Somebody else may have done so.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> = directory
            .read_dir()
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Both ways to write a file: without a name, and with one.
    fn both(directory: &Path, mode: u32) -> [Fresh; 2] {
        let path = name(directory);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path).unwrap();
        let named = Fresh { file, directory: directory.to_owned(), named: Some(path) };
        [Fresh::in_directory(directory, mode).unwrap(), named]
    }

    #[test]
    fn it_comes_to_its_name_whole() {
        for at in [0, 1] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a");
            let fresh = |text: &str| {
                let fresh = both(directory.path(), SHARED).into_iter().nth(at).unwrap();
                fresh.file().write_all(text.as_bytes()).unwrap();
                fresh
            };
            fresh("one").put_where_nothing_is(&path).unwrap();
            let taken = fresh("two").put_where_nothing_is(&path).unwrap_err();
            assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).unwrap(), b"one");
            fresh("three").put_in_place_of(&path).unwrap();
            drop(fresh("four"));
            assert!(fresh("five").put_in_place_of(&directory.path().join("none/a")).is_err());
            assert_eq!(fs::read(&path).unwrap(), b"three");
            assert_eq!(names(directory.path()), ["a"]);
        }
    }

    #[test]
    fn a_private_file_is_private_from_the_beginning() {
        let directory = tempfile::tempdir().unwrap();
        for fresh in both(directory.path(), PRIVATE) {
            assert_eq!(fresh.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_others_left_behind_is_deleted_once_it_is_old() {
        let directory = tempfile::tempdir().unwrap();
        for (file, age) in [(".hostler-old.tmp", 120), (".hostler-new.tmp", 0), ("old.tmp", 120)] {
            let file = File::create(directory.path().join(file)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        drop(Fresh::in_directory(directory.path(), SHARED));
        assert_eq!(names(directory.path()), [".hostler-new.tmp", "old.tmp"]);
    }
}
