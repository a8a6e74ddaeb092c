//! In which flight records something occurs.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use hostler_core::ids::RunId;

use super::flight_directory;

/// The most that is read of a file, in bytes: twice what a flight record has before the next one begins.
const MOST: u64 = 32 << 20;

/// The flight records of the workspace whose state is in `dir` in which a run occurs, the first one first. What cannot be
/// read is left out: a flight record is a help and never needed.
pub fn flights_of(dir: &Path, run: &RunId) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(flight_directory(dir)) else { return Vec::new() };
    // As it is written there, so that another id that begins alike is told apart.
    let id = format!("\"{run}\"");
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let files = entries.flatten().filter(is_file).map(|entry| entry.path());
    let mut found: Vec<_> = files.filter(|file| occurs(file, &id)).collect();
    found.sort();
    found
}

fn occurs(file: &Path, text: &str) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).contains(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_by_its_whole_id() {
        let temp = tempfile::tempdir().unwrap();
        let run = RunId::new("r-1");
        assert!(flights_of(temp.path(), &run).is_empty());
        let flight = flight_directory(temp.path());
        fs::create_dir_all(flight.join("directory")).unwrap();
        for (name, text) in
            [("2.jsonl", "{\"run\":\"r-1\"}"), ("1.jsonl", "{}\n[\"r-1\"]"), ("3.jsonl", "\"r-10\"")]
        {
            fs::write(flight.join(name), text).unwrap();
        }
        assert_eq!(flights_of(temp.path(), &run), [flight.join("1.jsonl"), flight.join("2.jsonl")]);
    }
}
