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
const KEPT: usize = 64;

/// How many bytes all files together may have.
const KEPT_BYTES: u64 = 128 << 20;

/// The flight record of one driver.
#[derive(Debug)]
pub(super) struct Flight {
    /// Where it is written; none if nothing is to be kept.
    dir: Option<PathBuf>,
    /// What the next file begins with, until something happens that it can be about.
    header: Option<Box<Header>>,
    file: Option<File>,
    bytes: usize,
    batches: u64,
}

impl Flight {
    /// Begins a record with the machine as it is. Nothing is written before the first batch.
    pub(super) fn begin(dir: Option<&Path>, now: Timestamp, machine: &Workspace) -> Self {
        let header = Some(Box::new(header(now, machine)));
        Self { dir: dir.map(|dir| dir.join("flight")), header, file: None, bytes: 0, batches: 0 }
    }

    fn start_file(&mut self, header: &Header) {
        let Some(dir) = &self.dir else { return };
        // What cannot be made is noticed when the file is.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        prune(dir);
        let name = format!("{}-{}-{}.jsonl", header.at.as_millis(), std::process::id(), self.batches);
        let path = dir.join(name);
        self.file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path).ok();
        self.line(header);
        self.bytes = 0;
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
        if self.bytes > SEGMENT_BYTES {
            self.header = Some(Box::new(header(at, machine)));
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

fn header(at: Timestamp, machine: &Workspace) -> Header {
    Header { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), at, state: machine.clone() }
}

/// Deletes the oldest files beyond what is kept. Their names begin with the time at which they began.
fn prune(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let size = |entry: fs::DirEntry| Some((entry.path(), entry.metadata().ok()?.len()));
    let mut files: Vec<_> = entries.flatten().filter_map(size).collect();
    files.sort();
    let mut bytes = 0;
    for (nth, (file, size)) in files.into_iter().rev().enumerate() {
        bytes += size;
        if nth + 1 >= KEPT || bytes > KEPT_BYTES {
            // Another process may have deleted it first.
            let _ = fs::remove_file(file);
        }
    }
}
