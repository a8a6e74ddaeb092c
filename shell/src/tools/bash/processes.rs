//! Who belongs to whom among the system's processes, as `/proc` tells it.
//!
//! A look at it is a look at something that changes meanwhile: whoever hunts has to look again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// How much of a process's `stat` is read: what is looked for stands at its beginning.
const BEGINNING: usize = 256;

/// A process, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    /// Its id.
    pub(super) id: i32,
    /// Its parent's id.
    pub(super) parent: i32,
    /// Its process group's id.
    pub(super) group: i32,
    /// Its session's id.
    pub(super) session: i32,
}

/// All processes that can be seen. One that ends while the table is read may be missing.
pub(super) fn table() -> io::Result<Vec<Process>> {
    let entries = fs::read_dir("/proc")?.flatten();
    let numbered = entries.filter(|entry| is_number(&entry.file_name()));
    Ok(numbered.filter_map(|entry| look(&entry.path())).collect())
}

/// Fails if there is no table to be read.
pub(super) fn visible() -> io::Result<()> {
    fs::metadata("/proc/self/stat").map(drop)
}

/// The processes for which `is_root` holds, and all that descend from them.
pub(super) fn tree(table: &[Process], is_root: impl Fn(&Process) -> bool) -> Vec<Process> {
    let mut ids: BTreeSet<i32> =
        table.iter().filter(|process| is_root(process)).map(|root| root.id).collect();
    loop {
        let before = ids.len();
        for process in table {
            if ids.contains(&process.parent) {
                ids.insert(process.id);
            }
        }
        if ids.len() == before {
            return table.iter().filter(|process| ids.contains(&process.id)).copied().collect();
        }
    }
}

fn is_number(name: &OsStr) -> bool {
    name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
}

fn look(directory: &Path) -> Option<Process> {
    let mut beginning = [0; BEGINNING];
    let length = File::open(directory.join("stat")).ok()?.read(&mut beginning).ok()?;
    parse(&beginning[..length])
}

/// Reads `ID (NAME) STATE PARENT GROUP SESSION ...`, where the name may be anything, parentheses included.
fn parse(stat: &[u8]) -> Option<Process> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let before = std::str::from_utf8(stat.get(..stat.iter().position(|byte| *byte == b' ')?)?).ok()?;
    let after = std::str::from_utf8(stat.get(name_ends + 1..)?).ok()?;
    let mut numbers = after.split_ascii_whitespace().skip(1).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Process { id: before.parse().ok()?, parent: next()?, group: next()?, session: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32) -> Process {
        Process { id, parent, group: 1, session: 1 }
    }

    #[test]
    fn names_do_not_confuse() {
        let expected = Some(Process { id: 71, parent: 7, group: 70, session: 6 });
        for stat in
            ["71 (sh) S 7 70 6 0 -1", "71 (a) S 1 2 3) R 7 70 6 0", "71 () Z 7 70 6", "71 ((x)) T 7 70 6 0"]
        {
            assert_eq!(parse(stat.as_bytes()), expected, "{stat}");
        }
        assert_eq!(parse(b"71 (\xff\xfe) S 7 70 6 0"), expected);
        for stat in ["", "71", "71 (sh", "71 (sh) S", "71 (sh) S 7 70", "x (sh) S 7 70 6"] {
            assert_eq!(parse(stat.as_bytes()), None, "{stat}");
        }
    }

    #[test]
    fn a_tree_is_found_whatever_the_order() {
        let table =
            [process(9, 8), process(8, 5), process(5, 1), process(7, 1), process(6, 5), process(4, 9)];
        let ids = |root: i32| -> Vec<i32> {
            tree(&table, |process| process.parent == root).iter().map(|process| process.id).collect()
        };
        assert_eq!(ids(5), [9, 8, 6, 4]);
        assert_eq!(ids(1), [9, 8, 5, 7, 6, 4]);
        assert_eq!(ids(4), [0; 0]);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let id = i32::try_from(std::process::id()).unwrap();
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        let table = table().unwrap();
        assert!(table.iter().any(|process| process.id == id && process.parent == parent));
    }
}
