//! Writes the flight record: files beside the log, for their owner only, of bounded size and number.
//!
//! It is a help for finding faults and never in the way: if it cannot be written, it ends quietly.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hostler_core::flight::{self, Batch, FORMAT, Header};
use hostler_core::machine::Effects;
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

/// How many bytes one file may have before the next one begins.
const SEGMENT_BYTES: usize = 16 << 20;

/// How many files are kept.
const KEPT: usize = 20;

/// The flight record of one driver.
#[derive(Debug)]
pub(super) struct Flight {
    dir: PathBuf,
    file: Option<File>,
    bytes: usize,
    batches: u64,
}

impl Flight {
    /// Begins a record with the machine as it is.
    pub(super) fn begin(dir: &Path, now: Timestamp, machine: &Workspace) -> Self {
        let dir = dir.join("flight");
        // What cannot be made is noticed when the file is.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        prune(&dir);
        let mut flight = Self { dir, file: None, bytes: 0, batches: 0 };
        flight.segment(now, machine);
        flight
    }

    fn segment(&mut self, now: Timestamp, machine: &Workspace) {
        let name = format!("{}-{}-{}.jsonl", now.as_millis(), std::process::id(), self.batches);
        let path = self.dir.join(name);
        self.file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path).ok();
        self.bytes = 0;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.line(&Header { format: FORMAT, version, at: now, state: machine.clone() });
    }

    /// The digest of a batch.
    pub(super) fn digest(&self, out: &Effects<Effect>) -> String {
        flight::digest(out)
    }

    /// Notes a batch that is committed, before its effects start. `machine` is as the batch has left it.
    pub(super) fn note(&mut self, at: Timestamp, inputs: Vec<Input>, digest: String, machine: &Workspace) {
        self.batches += 1;
        self.line(&Batch { at, batch: self.batches, inputs, digest });
        if self.bytes > SEGMENT_BYTES {
            self.segment(at, machine);
        }
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

/// Deletes the oldest files beyond those that are kept. Their names begin with the time at which they began.
fn prune(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let surplus = files.len().saturating_sub(KEPT - 1);
    for file in files.into_iter().take(surplus) {
        // Another process may have deleted it first.
        let _ = fs::remove_file(file);
    }
}
