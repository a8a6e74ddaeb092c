//! Flight records: every one of them must lead to the same decisions when it is fed to the core again, with its texts and
//! with placeholders for them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostler_core::flight;

/// The records that were replayed, with their lengths: nothing is ever changed in a record, it only grows.
static REPLAYED: Mutex<BTreeSet<(PathBuf, usize)>> = Mutex::new(BTreeSet::new());

/// Replays every flight record below a directory, and says how many there are.
pub fn replay(root: &Path) -> usize {
    let mut records = Vec::new();
    find(root, &mut records);
    records.iter().filter(|record| replay_one(record)).count()
}

fn find(directory: &Path, records: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), records);
        } else if directory.ends_with("flight") {
            records.push(entry.path());
        }
    }
}

/// Whether it says anything: it may have been deleted because it is old, or its process have ended as it began.
fn replay_one(record: &Path) -> bool {
    let Ok(text) = fs::read_to_string(record) else { return false };
    if !text.contains('\n') {
        return false;
    }
    let known = (record.to_owned(), text.len());
    if replayed().contains(&known) {
        return true;
    }
    let report = flight::replay(&text).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
    assert_eq!(report.differs, None, "{} is decided differently", record.display());
    let redacted = flight::redact(&text).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
    let again = flight::replay(&redacted.text).map(|again| (again.batches, again.inputs, again.differs));
    assert_eq!(again, Ok((report.batches, report.inputs, None)), "{} without its texts", record.display());
    replayed().insert(known);
    true
}

fn replayed() -> MutexGuard<'static, BTreeSet<(PathBuf, usize)>> {
    REPLAYED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> usize {
        let temp = tempfile::tempdir().unwrap();
        let directory = temp.path().join("workspaces/x/flight");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("1.jsonl"), text).unwrap();
        replay(temp.path())
    }

    #[test]
    fn a_record_that_has_only_begun_says_nothing() {
        assert_eq!(check(""), 0);
        assert_eq!(check("{\"format\":1"), 0);
    }

    #[test]
    #[should_panic(expected = "no flight record")]
    fn what_is_no_record_is_noticed() {
        check("{}\n");
    }
}
