//! What is there when no run is under way.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::place::Place;

/// What is promised: so long after a run has ended no process of its tools lives.
const AFTER_THE_END: Duration = Duration::from_secs(2);

/// What is promised of the flight records of a workspace.
const FLIGHTS: u64 = 64 << 20;

/// The write-ahead log is moved into the log at some size, and is never much larger than that.
const WAL: u64 = 8 << 20;

/// What is promised of log files: as many, and each so long and a line more.
const LOGS: (usize, u64) = (8, (4 << 20) + (64 << 10));

/// What is left of runs that are over.
#[derive(Debug)]
pub(crate) struct Left {
    /// Files of the workspace's state by their directory in it: how many there are, and of how many bytes together.
    state: BTreeMap<String, (usize, u64)>,
    /// The sizes of log files.
    logs: Vec<u64>,
    /// Files anywhere else that the program could write to.
    elsewhere: Vec<PathBuf>,
    /// Locks that somebody holds.
    locked: Vec<PathBuf>,
    processes: Vec<u32>,
}

impl Left {
    pub(crate) fn of(place: &Place) -> Self {
        let start = Instant::now();
        let mut processes = place.processes();
        while !processes.is_empty() && start.elapsed() < AFTER_THE_END {
            thread::sleep(Duration::from_millis(5));
            processes = place.processes();
        }
        let workspace = place.workspace();
        let (mut state, mut elsewhere, mut locked) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (mut logs, directory_of_logs) = (Vec::new(), place.path("state").join("hostler/logs"));
        for file in ["state", "home", "work", "tmp"].iter().flat_map(|name| files(&place.path(name))) {
            let size = fs::metadata(&file).unwrap().len();
            if file.starts_with(&directory_of_logs) {
                logs.push(size);
                continue;
            }
            let Ok(inside) = file.strip_prefix(&workspace) else {
                elsewhere.push(file);
                continue;
            };
            let directory = match inside.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.display().to_string(),
                _ => inside.display().to_string(),
            };
            let entry: &mut (usize, u64) = state.entry(directory).or_default();
            *entry = (entry.0 + 1, entry.1 + size);
            let opened = File::open(&file).unwrap();
            if flock(&opened, FlockOperation::NonBlockingLockExclusive).is_err() {
                locked.push(file);
            }
        }
        Self { state, logs, elsewhere, locked, processes }
    }

    #[track_caller]
    pub(crate) fn check(&self) {
        assert!(
            self.processes.is_empty() && self.locked.is_empty() && self.elsewhere.is_empty(),
            "{self:#?}"
        );
        assert!(self.logs.len() <= LOGS.0 && self.logs.iter().all(|size| *size <= LOGS.1), "{self:#?}");
        for (what, (count, bytes)) in &self.state {
            match what.as_str() {
                "hostler.db" => {}
                "hostler.db-shm" => assert!(*bytes <= 1 << 20, "{self:#?}"),
                "hostler.db-wal" => assert!(*bytes <= WAL, "{self:#?}"),
                "flight" => assert!(*count <= 64 && *bytes <= FLIGHTS, "{self:#?}"),
                _ => panic!("nobody knows what {what} is there for: {self:#?}"),
            }
        }
    }
}

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let is_dir = entry.file_type().unwrap().is_dir();
            if is_dir { waiting.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found
}
