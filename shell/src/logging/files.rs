//! Log files: numbered, for their owner only, shared by all processes that have the same directory for state, and of bounded
//! size together.
//!
//! Everybody appends to the newest file, whole lines with one call, which the system does not mix with those of others. Nobody
//! locks or renames anything. Whoever finds the newest file full makes the next one, which only one can, and deletes those
//! that are one too many; whoever still has a file that is full or deleted goes on to the newest.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access};

/// How many bytes a file may have before the next one begins. Those who write at the same moment may go beyond by
/// [`AT_ONCE`] each.
const FILE_BYTES: u64 = 4 << 20;

/// How many files are kept.
const KEPT: u64 = 8;

/// About how many bytes are written at once.
const AT_ONCE: usize = 64 << 10;

/// How often the newest file may turn out to be full or gone while others make new ones.
const TRIES: u32 = 16;

/// The log files of a directory.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
    /// Whether the directory was there once.
    is_made: bool,
    file: Option<File>,
    file_bytes: u64,
}

impl Files {
    /// Those of a directory that need not be there yet. Makes nothing.
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), is_made: false, file: None, file_bytes: FILE_BYTES }
    }

    /// Writes lines; says whether they could be written. Lines of which only a part could be are the last ones.
    pub(super) fn write(&mut self, lines: &str) -> bool {
        pieces(lines).all(|piece| self.append(piece).is_ok())
    }

    fn append(&mut self, lines: &str) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) if self.has_room(&file)? => file,
            Some(_) | None => self.newest()?,
        };
        // More than one call could be mixed with those of others; it takes a full disk for one not to be enough.
        if file.write(lines.as_bytes())? < lines.len() {
            return Err(ErrorKind::WriteZero.into());
        }
        self.file = Some(file);
        Ok(())
    }

    fn has_room(&self, file: &File) -> io::Result<bool> {
        let found = file.metadata()?;
        Ok(found.len() < self.file_bytes && found.nlink() > 0)
    }

    /// The newest file with room; makes one if there is none.
    fn newest(&mut self) -> io::Result<File> {
        if !self.is_made {
            // Only once: what somebody deletes later is not brought back.
            DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
            self.is_made = true;
        }
        for _ in 0..TRIES {
            let newest = self.numbers()?.max().unwrap_or(1);
            for number in [newest, newest.saturating_add(1)] {
                if let Some(file) = self.open(number)?.filter(is_whole)
                    && self.has_room(&file)?
                {
                    return Ok(file);
                }
            }
        }
        Err(io::Error::other("others fill the log files"))
    }

    /// Opens a file, or makes it and deletes those that are one too many; none if it is one of those, or was deleted
    /// meanwhile.
    fn open(&self, number: u64) -> io::Result<Option<File>> {
        let open = |new: bool| {
            let mut options = OpenOptions::new();
            // Opening a pipe would wait for whoever reads it.
            let flags = OFlags::NONBLOCK.bits() as i32;
            let options = options.read(true).append(true).create_new(new).mode(0o600).custom_flags(flags);
            let file = options.open(self.path(number))?;
            if file.metadata()?.is_file() {
                Ok(file)
            } else {
                Err(io::Error::other("it is not a regular file"))
            }
        };
        match open(true) {
            Ok(file) => {
                // It was there when it was the newest. Since then so many came that it had to go, and it would come before
                // them all.
                let mut others = self.numbers()?;
                if others.any(|other| number.saturating_add(KEPT) <= other) {
                    let _ = fs::remove_file(self.path(number));
                    return Ok(None);
                }
                self.prune(number);
                Ok(Some(file))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match open(false) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                opened => opened.map(Some),
            },
            Err(error) => Err(error),
        }
    }

    fn prune(&self, newest: u64) {
        let Ok(numbers) = self.numbers() else { return };
        for old in numbers.filter(|number| number.saturating_add(KEPT) <= newest) {
            // Another process may have deleted it first.
            let _ = fs::remove_file(self.path(old));
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("hostler-{number:06}.log"))
    }

    fn numbers(&self) -> io::Result<impl Iterator<Item = u64> + use<>> {
        let number = |entry: fs::DirEntry| {
            let name = entry.file_name();
            name.to_str()?.strip_prefix("hostler-")?.strip_suffix(".log")?.parse().ok()
        };
        Ok(fs::read_dir(&self.dir)?.flatten().filter_map(number))
    }
}

/// Why no log files can be written to a directory, as far as that can be seen; none if it is not there yet. `user` is whom
/// this process acts for: a link to a directory of somebody else is not followed.
pub(super) fn hindrance(dir: &Path, user: u32) -> Option<String> {
    let is_link = match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(error.to_string()),
        Ok(found) => found.is_symlink(),
    };
    match fs::metadata(dir) {
        Err(error) if is_link => Some(format!("it is a link that leads nowhere ({error})")),
        Err(error) => Some(error.to_string()),
        Ok(found) if !found.is_dir() => Some("it is not a directory".to_owned()),
        Ok(found) if is_link && found.uid() != user => {
            Some("it is a link to a directory of somebody else".to_owned())
        }
        Ok(_) if access(dir, Access::WRITE_OK | Access::EXEC_OK).is_err() => {
            Some("it cannot be written to".to_owned())
        }
        Ok(_) => None,
    }
}

/// Whether a file ends with a line: after a full disk it may not, and is left as it is.
fn is_whole(file: &File) -> bool {
    let mut last = [b'\n'];
    let length = file.metadata().map_or(0, |found| found.len());
    length == 0 || (file.read_exact_at(&mut last, length - 1).is_ok() && last == [b'\n'])
}

/// Whole lines together, about as much as is written at once.
fn pieces(mut lines: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let from = lines.floor_char_boundary(AT_ONCE.min(lines.len()));
        let end = lines[from..].find('\n').map_or(lines.len(), |at| from + at + 1);
        let (piece, rest) = lines.split_at(end);
        lines = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn small(dir: &Path) -> Files {
        Files { file_bytes: 1000, ..Files::new(dir) }
    }

    /// All files in their order: the number and the text of each.
    fn all(dir: &Path) -> Vec<(u64, String)> {
        let files = Files::new(dir);
        let mut numbers: Vec<u64> = files.numbers().unwrap().collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| (number, fs::read_to_string(files.path(number)).unwrap())).collect()
    }

    #[test]
    fn the_next_file_begins_when_one_is_full_and_the_oldest_go() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("state/logs");
        let (mut files, line) = (small(&dir), format!("{}\n", "x".repeat(99)));
        assert!((0..115).all(|_| files.write(&line)));
        let numbers: Vec<u64> = all(&dir).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(all(&dir).iter().map(|(_, text)| text.len()).collect::<Vec<_>>()[6..], [1000, 500]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&files.path(12))), (0o700, 0o600));
    }

    #[test]
    fn whoever_has_a_file_that_was_deleted_goes_on_to_the_newest() {
        let temp = tempfile::tempdir().unwrap();
        let (mut slow, mut quick) = (small(temp.path()), small(temp.path()));
        assert!(slow.write("from the slow one\n"));
        assert!((0..200).all(|_| quick.write(&format!("{}\n", "x".repeat(99)))));
        assert!(slow.write("from the slow one again\n"));
        let all = all(temp.path());
        let holds = |text: &str| all.iter().filter(|(_, lines)| lines.contains(text)).count();
        assert_eq!((all.len(), holds("slow one\n"), holds("slow one again\n")), (8, 0, 1));
    }

    #[test]
    fn many_at_once_tear_no_line_and_lose_none_that_is_kept() {
        const EACH: usize = 200;
        let temp = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let mut files = Files { file_bytes: 20_000, ..Files::new(temp.path()) };
                scope.spawn(move || {
                    for nth in 0..EACH {
                        let line = format!("{writer} {nth} {}\n", "x".repeat(writer * 7));
                        assert!(files.write(&line));
                    }
                });
            }
        });
        let files = all(temp.path());
        let mut found = Vec::new();
        for line in files.iter().flat_map(|(_, text)| text.lines()) {
            let mut words = line.splitn(3, ' ');
            let mut number = || words.next().unwrap().parse::<usize>().unwrap();
            let (writer, nth) = (number(), number());
            assert_eq!(words.next().unwrap(), "x".repeat(writer * 7));
            found.push((writer, nth));
        }
        found.sort_unstable();
        let every: Vec<_> = (0..8).flat_map(|writer| (0..EACH).map(move |nth| (writer, nth))).collect();
        assert_eq!(found, every);
        assert!(files.iter().all(|(_, text)| text.len() < 20_000 + 8 * 100));
    }

    #[test]
    fn no_file_begins_below_those_that_are_kept() {
        let temp = tempfile::tempdir().unwrap();
        for number in 5..=12 {
            fs::write(temp.path().join(format!("hostler-{number:06}.log")), "a line\n").unwrap();
        }
        // Whoever looked before the others came would make the fourth anew.
        let files = small(temp.path());
        assert!(files.open(4).unwrap().is_none() && !files.path(4).exists());
        assert!(files.open(5).unwrap().is_some() && files.open(13).unwrap().is_some());
    }

    #[test]
    fn what_hinders_is_named() {
        use std::os::unix::fs::symlink;
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("logs");
        let user = fs::metadata(temp.path()).unwrap().uid();
        let says = |user: u32| hindrance(&dir, user).unwrap_or_default();
        assert_eq!(says(user), "");
        fs::write(&dir, "").unwrap();
        assert_eq!(says(user), "it is not a directory");
        fs::remove_file(&dir).unwrap();
        symlink("nowhere", &dir).unwrap();
        assert!(says(user).starts_with("it is a link that leads nowhere"));
        fs::create_dir(temp.path().join("nowhere")).unwrap();
        assert_eq!(
            (says(user).as_str(), says(user + 1).as_str()),
            ("", "it is a link to a directory of somebody else")
        );
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
        let temp = tempfile::tempdir().unwrap();
        let pipe = temp.path().join("hostler-000001.log");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(!small(temp.path()).write("nowhere\n"));
    }

    #[test]
    fn a_directory_that_was_deleted_is_not_brought_back() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("logs");
        let mut files = Files::new(&dir);
        assert!(files.write("one\n"));
        fs::remove_dir_all(&dir).unwrap();
        assert!(!files.write("two\n") && !dir.exists());
    }

    #[test]
    fn a_torn_line_stays_alone_and_what_cannot_be_written_is_said() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("hostler-000004.log"), "a line\nand half of").unwrap();
        fs::write(temp.path().join("notes.txt"), "").unwrap();
        assert!(small(temp.path()).write("whole\n"));
        let expected = [(4, "a line\nand half of".to_owned()), (5, "whole\n".to_owned())];
        assert_eq!(all(temp.path()), expected);
        assert!(!small(&temp.path().join("notes.txt")).write("nowhere\n"));
    }

    #[test]
    fn what_is_written_at_once_are_whole_lines() {
        let line = format!("{}é\n", "x".repeat(1000));
        let lines = line.repeat(200);
        let pieces: Vec<&str> = pieces(&lines).collect();
        assert_eq!(pieces.concat(), lines);
        assert!(pieces.iter().all(|piece| piece.ends_with('\n') && piece.len() <= AT_ONCE + line.len()));
        assert_eq!(super::pieces("").count(), 0);
    }
}
