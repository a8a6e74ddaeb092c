//! Writes the flight record: files beside the log, for their owner only, of bounded size and number.
//!
//! It is a help for finding faults and never in the way: if it cannot be written, it ends quietly.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hostler_core::flight::{self, Batch, FORMAT, Header};
use hostler_core::machine::Effects;
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

/// How many files are kept.
const KEPT: usize = 64;

/// How much is kept, in bytes.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// How many one file may have before the next one begins.
    segment: usize,
    /// How many all files of a workspace may have together, when somebody looks.
    kept: u64,
    /// After how many a process looks again.
    look: usize,
}

/// With what is written until the next look all files stay under 64 MiB: fifty processes that write at the same time fit
/// between the two.
const LIMITS: Limits = Limits { segment: 16 << 20, kept: 48 << 20, look: 256 << 10 };

/// Where the flight records of a workspace lie, whose state is in `dir`.
pub fn flight_directory(dir: &Path) -> PathBuf {
    dir.join("flight")
}

/// The flight record of one driver.
#[derive(Debug)]
pub(super) struct Flight {
    /// Where it is written; none if nothing is to be kept.
    dir: Option<PathBuf>,
    /// What the next file begins with, until something happens that it can be about.
    header: Option<Box<Header>>,
    file: Option<File>,
    /// How much is kept.
    limits: Limits,
    /// How many bytes are in the file.
    bytes: usize,
    /// How many of them had been written when the size of all files was looked at.
    looked: usize,
    batches: u64,
}

impl Flight {
    /// Begins a record with the machine as it is. Nothing is written before the first batch.
    pub(super) fn begin(dir: Option<&Path>, now: Timestamp, machine: &Workspace) -> Self {
        let header = Some(Box::new(header(now, machine)));
        let dir = dir.map(flight_directory);
        Self { dir, header, file: None, limits: LIMITS, bytes: 0, looked: 0, batches: 0 }
    }

    fn start_file(&mut self, header: &Header) {
        let Some(dir) = &self.dir else { return };
        // What cannot be made is noticed when the file is.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        prune(dir, self.limits.kept);
        let name = format!("{}-{}-{}.jsonl", header.at.as_millis(), std::process::id(), self.batches);
        let path = dir.join(name);
        self.file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path).ok();
        (self.bytes, self.looked) = (0, 0);
        self.line(header);
    }

    /// The digest of a batch.
    pub(super) fn digest(&self, out: &Effects<Effect>) -> String {
        flight::digest(out)
    }

    /// Notes a batch that is committed, before its effects start. `machine` is as the batch has left it.
    pub(super) fn note(&mut self, at: Timestamp, inputs: Vec<Input>, digest: String, machine: &Workspace) {
        if let Some(header) = self.header.take() {
            self.start_file(&header);
        }
        self.batches += 1;
        self.line(&Batch { at, batch: self.batches, inputs, digest });
        self.look();
        // A file that others had to delete says nothing to anybody.
        if self.bytes > self.limits.segment || self.is_deleted() {
            self.file = None;
            self.header = Some(Box::new(header(at, machine)));
        }
    }

    /// Makes room now and then, also for what other processes write.
    fn look(&mut self) {
        let Some(dir) = &self.dir else { return };
        if self.bytes - self.looked >= self.limits.look {
            self.looked = self.bytes;
            prune(dir, self.limits.kept);
        }
    }

    fn is_deleted(&self) -> bool {
        let names = |file: &File| file.metadata().map(|found| found.nlink());
        self.file.as_ref().is_some_and(|file| matches!(names(file), Ok(0)))
    }

    fn line(&mut self, line: &impl serde::Serialize) {
        let Some(file) = self.file.as_mut() else { return };
        let Ok(mut text) = serde_json::to_string(line) else { return };
        text.push('\n');
        self.bytes += text.len();
        if file.write_all(text.as_bytes()).is_err() {
            self.file = None;
        }
    }
}

fn header(at: Timestamp, machine: &Workspace) -> Header {
    Header { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), at, state: machine.clone() }
}

/// Deletes the oldest files beyond what is kept. Their names begin with the time at which they began.
fn prune(dir: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let size = |entry: fs::DirEntry| Some((entry.path(), entry.metadata().ok()?.len()));
    let mut files: Vec<_> = entries.flatten().filter_map(size).collect();
    files.sort();
    let mut bytes = 0;
    for (nth, (file, size)) in files.into_iter().rev().enumerate() {
        bytes += size;
        if nth + 1 >= KEPT || bytes > most {
            // Another process may have deleted it first.
            let _ = fs::remove_file(file);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::session::Settings;

    use super::*;

    /// A thousandth of what holds for people.
    const SMALL: Limits = Limits { segment: 16 << 10, kept: 48 << 10, look: 256 };

    /// Ten batches would fill a quarter of what may be kept.
    const LINE: usize = (SMALL.kept / 40) as usize;

    fn batch() -> Vec<Input> {
        use hostler_core::ids::SessionId;
        let error = Some("x".repeat(LINE));
        vec![Input::SessionDeleted { session: SessionId::new("s"), error }]
    }

    fn files(dir: &Path) -> Vec<(PathBuf, u64)> {
        let entries = fs::read_dir(dir.join("flight")).unwrap().flatten();
        let mut files: Vec<_> =
            entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect();
        files.sort();
        files
    }

    #[test]
    fn however_much_several_note_together_little_is_kept_and_the_oldest_goes() {
        let temp = tempfile::tempdir().unwrap();
        let machine = Workspace::new(Settings::default());
        let begin = |at| {
            let flight = Flight::begin(Some(temp.path()), Timestamp::from_millis(at), &machine);
            Flight { limits: SMALL, ..flight }
        };
        let mut flights = [begin(10_001), begin(10_002), begin(10_003)];
        let mut first = None;
        for round in 0..40 {
            for (flight, nth) in flights.iter_mut().zip(0..) {
                let at = Timestamp::from_millis(20_000 + 10 * round + nth);
                flight.note(at, batch(), String::new(), &machine);
            }
            let files = files(temp.path());
            let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
            assert!(bytes < 64 << 10, "{bytes} bytes in round {round}");
            let oldest = files.first().unwrap().0.clone();
            first.get_or_insert(oldest);
        }
        let files = files(temp.path());
        assert!(!first.unwrap().exists(), "the oldest went");
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        assert!(bytes > 16 << 10, "and not everything: {bytes} bytes");
    }

    #[test]
    fn a_file_that_was_deleted_is_followed_by_another() {
        let temp = tempfile::tempdir().unwrap();
        let machine = Workspace::new(Settings::default());
        let mut flight = Flight::begin(Some(temp.path()), Timestamp::from_millis(1), &machine);
        let mut note = |at| flight.note(Timestamp::from_millis(at), Vec::new(), String::new(), &machine);
        note(2);
        fs::remove_file(&files(temp.path())[0].0).unwrap();
        note(3);
        assert!(files(temp.path()).is_empty(), "what follows has nothing to follow on");
        note(4);
        assert_eq!(files(temp.path()).len(), 1);
    }
}
