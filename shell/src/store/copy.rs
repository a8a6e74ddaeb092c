//! Copying a log that cannot be opened where it lies, because nothing can be written there.
//!
//! Whoever can write there may do so meanwhile, and no lock can be had against that. What is only added to the write-ahead log
//! does no harm; what is moved from there into the database would make a copy that never was. So both are looked at once more
//! when they are copied: if the database is still what was copied, and the write-ahead log still the same one, all of the copy
//! is as it was when the write-ahead log was read.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::error::StoreError;
use super::{FILE, open};

/// How often a copy is begun anew that others wrote into.
const TRIES: u32 = 20;

/// How long it pauses between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// How many bytes at the beginning tell a write-ahead log from the one that was there before.
const HEADER: u64 = 32;

/// How many bytes are compared at once.
const PIECE: usize = 64 << 10;

/// A copy of the log in that directory, in a directory of its own that goes with what is returned; none if there is no log.
///
/// Fails if others write to the log all the time.
pub fn copied(dir: &Path) -> Result<Option<TempDir>, StoreError> {
    let log = dir.join(FILE);
    if !open::is_there(&log)? {
        return Ok(None);
    }
    for _ in 0..TRIES {
        if let Some(copy) = attempt(&log, || ()).map_err(StoreError::io("copy", &log))? {
            return Ok(Some(copy));
        }
        thread::sleep(PAUSE);
    }
    Err(StoreError::Busy { path: log })
}

/// A copy, unless somebody wrote into it; `meanwhile` happens when half of it is there.
fn attempt(log: &Path, meanwhile: impl FnOnce()) -> io::Result<Option<TempDir>> {
    let to = TempDir::with_prefix("hostler-copy-")?;
    let copy = to.path().join(FILE);
    fs::copy(log, &copy)?;
    meanwhile();
    let (wal, wal_copy) = (open::wal_of(log), open::wal_of(&copy));
    match fs::copy(&wal, &wal_copy) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    if !(is_same(log, &copy)? && header(&wal)? == header(&wal_copy)?) {
        return Ok(None);
    }
    // A copy has the mode of what it is made from, which need not be one that can be written to.
    for entry in fs::read_dir(to.path())? {
        fs::set_permissions(entry?.path(), Permissions::from_mode(0o600))?;
    }
    Ok(Some(to))
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut here, mut there) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    loop {
        for (file, bytes) in [(&mut one, &mut here), (&mut other, &mut there)] {
            bytes.clear();
            file.take(PIECE as u64).read_to_end(bytes)?;
        }
        if here != there || here.is_empty() {
            return Ok(here == there);
        }
    }
}

/// The beginning of a write-ahead log; nothing if there is none.
fn header(wal: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match File::open(wal) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => drop(opened?.take(HEADER).read_to_end(&mut bytes)?),
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::record::Strength;

    use super::super::{Store, fixture};
    use super::*;

    #[test]
    fn a_copy_is_of_one_instant_or_none() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let mut number = 0;
        let mut add = |store: &mut Store| {
            number += 1;
            store.commit(&[fixture::created(&format!("s{number}"), 1)], Strength::Normal).unwrap();
        };
        let log = temp.path().join(FILE);
        add(&mut store);
        // What is only added is in the copy or not.
        let copy = attempt(&log, || add(&mut store)).unwrap().unwrap();
        assert_eq!(Store::open(copy.path()).unwrap().head().unwrap(), 2);
        // What was moved into the database would be missing from both.
        let empty =
            |store: &Store| store.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert!(attempt(&log, || empty(&store)).unwrap().is_none());
        // And a database that only looks the same goes with another log.
        add(&mut store);
        assert!(
            attempt(&log, || {
                empty(&store);
                add(&mut store);
            })
            .unwrap()
            .is_none()
        );
        let copy = copied(temp.path()).unwrap().unwrap();
        assert_eq!(Store::open(copy.path()).unwrap().head().unwrap(), 4);
    }
}
