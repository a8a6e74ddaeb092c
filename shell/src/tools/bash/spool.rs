//! The file that has what a command prints and its result has no room for.
//!
//! It has all of the output up to [`HEAD`] and [`TAIL`] together; of more, the beginning and the end, with a line between
//! them that says how much is missing. While the command runs the end is in a second file that has no name, written round
//! and round, so that neither memory nor the disk fills up. The file is a text that `view` can page: what is not UTF-8 has
//! been replaced already, and so is NUL, by which `view` would take it for something else.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::tools::outputs;

/// How many bytes of the beginning are kept.
const HEAD: u64 = 32 << 20;
/// How many bytes of the end are kept.
const TAIL: u64 = 32 << 20;

/// Where output goes that is too much for a result.
#[derive(Default)]
pub(super) struct Spool {
    path: Option<PathBuf>,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Unopened,
    Open(Open),
    Failed(io::Error),
}

struct Open {
    file: File,
    /// How much is in the file.
    length: u64,
    ring: Option<Ring>,
}

/// The last bytes of a stream.
struct Ring {
    file: File,
    /// How many bytes have been written in all.
    written: u64,
}

/// Where the output is, once it is complete.
#[derive(Debug)]
pub(super) enum Kept {
    /// In no file.
    Nowhere,
    /// All of it in that one.
    Whole(PathBuf),
    /// Its beginning and its end in that one.
    Ends(PathBuf),
    /// In no file, because that could not be written.
    Failed(io::Error),
}

impl Kept {
    /// The file, for people.
    pub(super) fn file(&self) -> Option<String> {
        match self {
            Self::Whole(path) | Self::Ends(path) => Some(path.to_string_lossy().into_owned()),
            Self::Nowhere | Self::Failed(_) => None,
        }
    }
}

impl Spool {
    /// A file that is made when it is needed; none if there is no place for it.
    pub(super) fn to(path: Option<PathBuf>) -> Self {
        Self { path, state: State::Unopened }
    }

    /// Makes the file, unless that was tried before. Whether it is there just now.
    pub(super) fn open(&mut self) -> bool {
        let (State::Unopened, Some(path)) = (&self.state, &self.path) else { return false };
        self.state = match outputs::create(path) {
            Ok(file) => State::Open(Open { file, length: 0, ring: None }),
            Err(error) => State::Failed(error),
        };
        self.is_open()
    }

    /// Whether it takes text.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Adds text. A file that cannot be written is given up.
    pub(super) fn add(&mut self, text: &str) {
        let (State::Open(open), Some(path)) = (&mut self.state, &self.path) else { return };
        let added = if text.contains('\0') {
            open.add(&text.replace('\0', "\u{fffd}"), path)
        } else {
            open.add(text, path)
        };
        if let Err(error) = added {
            self.give_up(error);
        }
    }

    /// Completes the file, and says what is in it.
    pub(super) fn finish(mut self) -> Kept {
        let completed = match &mut self.state {
            State::Open(open) => open.complete(),
            State::Unopened | State::Failed(_) => Ok(true),
        };
        if let Err(error) = completed {
            self.give_up(error);
            return self.finish();
        }
        match (self.state, self.path) {
            (State::Failed(error), _) => Kept::Failed(error),
            (State::Open(_), Some(path)) if completed.is_ok_and(|whole| whole) => Kept::Whole(path),
            (State::Open(_), Some(path)) => Kept::Ends(path),
            (State::Unopened | State::Open(_), _) => Kept::Nowhere,
        }
    }

    /// What is incomplete would only mislead.
    fn give_up(&mut self, error: io::Error) {
        if let Some(path) = &self.path {
            // It goes with the others of its age otherwise.
            let _ = std::fs::remove_file(path);
        }
        self.state = State::Failed(error);
    }
}

impl Open {
    fn add(&mut self, text: &str, path: &Path) -> io::Result<()> {
        let room = usize::try_from(HEAD.saturating_sub(self.length)).unwrap_or(usize::MAX);
        let (first, rest) = match &self.ring {
            Some(_) => ("", text),
            None => text.split_at(text.floor_char_boundary(room)),
        };
        self.file.write_all(first.as_bytes())?;
        self.length += first.len() as u64;
        if rest.is_empty() {
            return Ok(());
        }
        let ring = match self.ring.take() {
            Some(ring) => ring,
            None => Ring { file: outputs::nameless(path)?, written: 0 },
        };
        self.ring.insert(ring).add(rest.as_bytes())
    }

    /// Adds the end to the beginning. Whether nothing is missing.
    fn complete(&mut self) -> io::Result<bool> {
        let Some(ring) = &mut self.ring else { return Ok(true) };
        let start = ring.start()?;
        if start > 0 {
            write!(self.file, "\n[... {start} bytes left out here ...]\n")?;
        }
        ring.copy(start, &mut self.file)?;
        Ok(start == 0)
    }
}

impl Ring {
    fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let at = self.written % TAIL;
            let room = usize::try_from(TAIL - at).unwrap_or(usize::MAX);
            let (first, rest) = bytes.split_at(room.min(bytes.len()));
            self.file.write_all_at(first, at)?;
            self.written += first.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// Where in the stream the first whole character is that is still there.
    fn start(&self) -> io::Result<u64> {
        let mut start = self.written.saturating_sub(TAIL);
        let mut byte = [0];
        while start > 0 && start < self.written {
            self.file.read_exact_at(&mut byte, start % TAIL)?;
            if byte[0] & 0xc0 != 0x80 {
                break;
            }
            start += 1;
        }
        Ok(start)
    }

    /// Copies what is there from a place in the stream on.
    fn copy(&mut self, start: u64, to: &mut File) -> io::Result<()> {
        let mut at = start;
        while at < self.written {
            let length = (self.written - at).min(TAIL - at % TAIL);
            self.file.seek(SeekFrom::Start(at % TAIL))?;
            io::copy(&mut (&mut self.file).take(length), to)?;
            at += length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, times: u64, is_whole: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b.txt");
        let mut spool = Spool::to(Some(path.clone()));
        assert!(spool.open() && !spool.open());
        (0..times).for_each(|_| spool.add(text));
        let kept = spool.finish();
        assert_eq!(matches!(kept, Kept::Whole(_)), is_whole, "{kept:?}");
        let found = std::fs::read_to_string(&path).unwrap();
        assert!(found.len() as u64 <= HEAD + TAIL + 100);
        let total = text.len() as u64 * times;
        if is_whole {
            assert_eq!(found.len() as u64, total);
            return;
        }
        let (head, rest) = found.split_once("\n[... ").unwrap();
        let (missing, tail) = rest.split_once(" bytes left out here ...]\n").unwrap();
        assert_eq!(head.len() as u64 + tail.len() as u64 + missing.parse::<u64>().unwrap(), total);
        assert!(HEAD - head.len() as u64 <= 4 && TAIL - tail.len() as u64 <= 4);
        assert!(text.repeat(2).contains(&tail[..8]) && tail.ends_with(text));
        assert_eq!(std::fs::read_dir(directory.path().join("a")).unwrap().count(), 1);
    }

    #[test]
    fn the_beginning_and_the_end_are_kept_at_borders_of_characters() {
        let text = "a\u{1f40e}\u{e9}z".repeat(10_000);
        check(&text, 1, true);
        check(&text, (HEAD + TAIL) / text.len() as u64, true);
        check(&text, 1 + (HEAD + TAIL) / text.len() as u64, false);
        check(&text, 1 + 3 * TAIL / text.len() as u64, false);
    }

    #[test]
    fn what_would_make_it_no_text_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.txt");
        let mut spool = Spool::to(Some(path.clone()));
        spool.open();
        spool.add("a\0b");
        assert!(matches!(spool.finish(), Kept::Whole(_)));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn without_a_place_or_a_disk_there_is_no_file() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a"), "").unwrap();
        let mut spool = Spool::to(Some(directory.path().join("a/b.txt")));
        assert!(!spool.open());
        spool.add("lost");
        assert!(matches!(spool.finish(), Kept::Failed(_)));
        let mut nowhere = Spool::to(None);
        assert!(!nowhere.open());
        assert!(matches!(nowhere.finish(), Kept::Nowhere));
    }
}
