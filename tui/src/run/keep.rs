//! The file that the answer goes to: it is as it was or has all of the answer, whoever looks at it and whatever happens.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use hostler_shell::tools::put;
use rustix::fs::{Access, access};
use tokio::sync::oneshot;

use super::aside::aside;

/// How many links are followed, one after the other; as many as the system itself follows.
const LINKS: usize = 40;

/// Where names stand for what a process has open.
const OPEN: [&str; 2] = ["/proc", "/dev/fd"];

/// The file, and what becomes of it.
pub(super) struct Keeping {
    file: Option<PathBuf>,
    done: Option<oneshot::Receiver<Result<(), String>>>,
    /// Why it could not even be begun.
    hindrance: Option<String>,
}

impl Keeping {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { file, done: None, hindrance: None }
    }

    /// Starts writing, on a thread of its own: a disk may be slow.
    pub(super) fn start(&mut self, text: String) {
        let Some(file) = self.file.clone() else { return };
        match aside(move || keep(&file, &text).map_err(|error| sentence(&file, &error))) {
            Ok(done) => self.done = Some(done),
            Err(message) => self.hindrance = Some(message),
        }
    }

    /// What became of it, once.
    pub(super) async fn done(&mut self) -> Result<(), String> {
        if let Some(hindrance) = self.hindrance.take() {
            return Err(hindrance);
        }
        let Some(done) = self.done.as_mut() else { return std::future::pending().await };
        let kept = done.await;
        self.done = None;
        kept.unwrap_or_else(|_| Err("The answer was not written; this is a fault in hostler.".to_owned()))
    }
}

/// Why an answer could not go to that file, as far as that can be known before there is one.
pub(super) fn check(file: &Path) -> Result<(), String> {
    let place = || -> io::Result<()> {
        // Before its links are followed by hand, which of what is only open have names that lead nowhere.
        if let Some(kind) = fs::metadata(file).ok().and_then(|found| kind(found.file_type())) {
            return Err(io::Error::other(format!("it is {kind}, and what is replaced whole must be a file")));
        }
        let (target, dir) = place_of(file)?;
        match fs::metadata(&target) {
            Ok(_) => access(&target, Access::WRITE_OK)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A name that is too long, a link that leads to itself: what cannot be looked at cannot be written.
            Err(error) => return Err(error),
        }
        Ok(access(dir, Access::WRITE_OK | Access::EXEC_OK)?)
    };
    place().map_err(|error| sentence(file, &error))
}

/// What that is, if it is no file.
fn kind(found: fs::FileType) -> Option<&'static str> {
    if found.is_file() {
        None
    } else if found.is_dir() {
        Some("a directory")
    } else if found.is_fifo() {
        Some("a pipe")
    } else if found.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}

fn sentence(file: &Path, error: &io::Error) -> String {
    format!("The answer cannot be written to {} ({error}); give --output another file.", file.display())
}

fn keep(file: &Path, text: &str) -> io::Result<()> {
    put(&place_of(file)?.0, text.as_bytes())
}

/// The file itself, where a link leads to it, also if it is not there yet; and its directory.
fn place_of(file: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let mut target = file.to_path_buf();
    for _ in 0..LINKS {
        if OPEN.iter().any(|place| dir_of(&target).canonicalize().is_ok_and(|dir| dir.starts_with(place))) {
            return Err(io::Error::other(
                "it stands for what is open already, where the answer goes anyway or nobody looks",
            ));
        }
        let Ok(next) = fs::read_link(&target) else { break };
        target = dir_of(&target).join(next);
    }
    let of_directory = target.as_os_str().as_bytes().ends_with(b"/");
    if target.file_name().is_none() || of_directory {
        return Err(io::Error::other("it names no file"));
    }
    let dir = dir_of(&target);
    Ok((target, dir))
}

fn dir_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
        Some(_) | None => PathBuf::from("."),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_mode() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("answer.txt");
        check(&file).unwrap();
        keep(&file, "one\n").unwrap();
        assert_eq!(mode(&file) & 0o400, 0o400);
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        keep(&file, "two\n").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("two\n", 0o640));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "nothing else is left there");
    }

    #[test]
    fn a_link_stays_one() {
        let temp = tempfile::tempdir().unwrap();
        let (file, link) = (temp.path().join("answer.txt"), temp.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        keep(&link, "new\n").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    }

    #[test]
    fn a_link_to_what_is_not_there_yet_stays_one_and_leads_to_it() {
        let temp = tempfile::tempdir().unwrap();
        let (file, first, link) =
            (temp.path().join("in/answer.txt"), temp.path().join("in/first"), temp.path().join("link"));
        fs::create_dir(temp.path().join("in")).unwrap();
        std::os::unix::fs::symlink("answer.txt", &first).unwrap();
        std::os::unix::fs::symlink("in/first", &link).unwrap();
        check(&link).unwrap();
        keep(&link, "new\n").unwrap();
        assert!([&first, &link].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let temp = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("loop", temp.path().join("loop")).unwrap();
        std::os::unix::fs::symlink("nowhere/a", temp.path().join("lost")).unwrap();
        for file in [
            temp.path().to_path_buf(),
            temp.path().join("missing/answer.txt"),
            "/dev/null".into(),
            temp.path().join("new/"),
            temp.path().join("a".repeat(300)),
            temp.path().join("loop"),
            temp.path().join("lost"),
            temp.path().join("..").join(".."),
            PathBuf::new(),
        ] {
            assert!(check(&file).unwrap_err().contains("give --output another file"), "{}", file.display());
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 2, "looking leaves nothing behind");
    }

    #[test]
    fn what_is_no_file_is_called_what_it_is() {
        use std::os::fd::AsRawFd;

        let temp = tempfile::tempdir().unwrap();
        let (fifo, socket) = (temp.path().join("fifo"), temp.path().join("socket"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let (_reader, writer) = io::pipe().unwrap();
        let file = fs::File::create(temp.path().join("file")).unwrap();
        let open = |fd: i32| PathBuf::from(format!("/dev/fd/{fd}"));
        std::os::unix::fs::symlink(open(file.as_raw_fd()), temp.path().join("link")).unwrap();
        for (file, said) in [
            ("/dev/null".into(), "it is a device"),
            (temp.path().to_owned(), "it is a directory"),
            (fifo, "it is a pipe"),
            (socket, "it is a socket"),
            (open(writer.as_raw_fd()), "it is a pipe"),
            (open(file.as_raw_fd()), "open already"),
            (temp.path().join("link"), "open already"),
        ] {
            let error = check(&file).unwrap_err();
            assert!(error.contains(said) && error.contains("another file"), "{}: {error}", file.display());
        }
    }
}
