//! Finds the files with notes for agents: the user's own, and those from the root of the repository down to the working
//! directory. What they say is data; how a model is told of it is decided in the core.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hostler_core::config::typed::Context;
use hostler_core::instructions::Note;

use crate::config::repository_root;

/// The user's own notes, in their directory for configuration.
const OWN: &str = "AGENTS.md";

/// How many files of one directory of rules are read.
const RULES: usize = 64;

/// The notes for whoever works in `cwd`, the more general ones first, and the files of which something was left out.
///
/// Together they have at most as many bytes as the context may have; the user's own and the nearest ones are read
/// first. A link that leads out of the repository is not followed.
pub(super) fn find(cwd: &Path, user: Option<&Path>, context: &Context) -> (Vec<Note>, Vec<String>) {
    let root = repository_root(cwd).unwrap_or(cwd);
    let mut reader =
        Reader { left: context.max_bytes, seen: BTreeSet::new(), texts: BTreeSet::new(), cut: Vec::new() };
    if context.max_bytes == 0 {
        return (Vec::new(), Vec::new());
    }
    let own = user.and_then(|user| reader.read(user.join(OWN), None));
    let mut notes = Vec::new();
    for directory in cwd.ancestors().take_while(|directory| directory.starts_with(root)) {
        let files = context.files.iter().flat_map(|name| named(directory, name));
        let here: Vec<_> = files.filter_map(|file| reader.read(file, Some(root))).collect();
        notes.splice(0..0, here);
    }
    notes.splice(0..0, own);
    (notes, reader.cut)
}

/// The files of that name; of a name with a slash at its end, the rules in that directory.
fn named(directory: &Path, name: &str) -> Vec<PathBuf> {
    let path = directory.join(name);
    if !name.ends_with('/') {
        return vec![path];
    }
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let is_rule =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md" || extension == "mdc");
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_rule).collect();
    files.sort();
    files.truncate(RULES);
    files
}

struct Reader {
    /// How many bytes may still be read.
    left: usize,
    /// The files that were read, links resolved.
    seen: BTreeSet<PathBuf>,
    /// What they say: many keep one text under several names.
    texts: BTreeSet<String>,
    cut: Vec<String>,
}

impl Reader {
    /// Reads a file that lies, links resolved, below `within`.
    fn read(&mut self, path: PathBuf, within: Option<&Path>) -> Option<Note> {
        let file = path.canonicalize().ok()?;
        if within.is_some_and(|within| !file.starts_with(within)) || !self.seen.insert(file.clone()) {
            return None;
        }
        let (bytes, cut) = beginning(&file, self.left)?;
        let text = if cut { whole_characters(&bytes) } else { String::from_utf8_lossy(&bytes).into_owned() };
        if cut {
            self.cut.push(path.display().to_string());
            // What comes after something that was cut would be a scrap.
            self.left = 0;
        }
        if text.trim().is_empty() || !self.texts.insert(text.trim().to_owned()) {
            return None;
        }
        self.left = self.left.saturating_sub(text.len());
        Some(Note { path: path.display().to_string(), text, cut })
    }
}

/// The beginning of a regular file, and whether there is more.
fn beginning(file: &Path, most: usize) -> Option<(Vec<u8>, bool)> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() > most;
    bytes.truncate(most);
    Some((bytes, cut))
}

/// The text without a character that was cut in two at its end.
fn whole_characters(bytes: &[u8]) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Stand {
        _temp: tempfile::TempDir,
        root: PathBuf,
    }

    impl Stand {
        fn new(files: &[(&str, &str)]) -> Self {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path().canonicalize().unwrap();
            fs::create_dir_all(root.join("repo/.git")).unwrap();
            fs::create_dir_all(root.join("repo/a/b")).unwrap();
            for (name, text) in files {
                fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                fs::write(root.join(name), text).unwrap();
            }
            Self { _temp: temp, root }
        }

        fn find(&self, cwd: &str, max_bytes: usize) -> (Vec<String>, usize) {
            let files = ["AGENTS.md", "CLAUDE.md", ".rules/"].map(str::to_owned).to_vec();
            let context = Context { files, max_bytes };
            let (notes, cut) = find(&self.root.join(cwd), Some(&self.root.join("user")), &context);
            (notes.iter().map(|note| note.text.trim_end().to_owned()).collect(), cut.len())
        }
    }

    #[test]
    fn the_general_comes_before_the_particular() {
        let stand = Stand::new(&[
            ("user/AGENTS.md", "user"),
            ("AGENTS.md", "above"),
            ("repo/AGENTS.md", "root"),
            ("repo/CLAUDE.md", "root too"),
            ("repo/a/CLAUDE.md", "a"),
            ("repo/a/b/AGENTS.md", "b"),
            ("repo/a/b/.rules/2.md", "rule 2"),
            ("repo/a/b/.rules/1.mdc", "rule 1"),
            ("repo/a/b/.rules/3.txt", "no rule"),
            ("plain/AGENTS.md", "plain"),
        ]);
        let all = ["user", "root", "root too", "a", "b", "rule 1", "rule 2"];
        assert_eq!(stand.find("repo/a/b", 1_000).0, all);
        assert_eq!(stand.find("repo", 1_000).0, all[..3]);
        assert_eq!(stand.find("plain", 1_000).0, ["user", "plain"]);
        assert!(stand.find("repo", 0).0.is_empty());
        assert!(stand.find("missing", 1_000).0.len() <= 1);
    }

    #[test]
    fn what_leads_out_is_not_followed_and_nothing_is_read_twice() {
        let stand =
            Stand::new(&[("secret", "secret"), ("repo/AGENTS.md", "same"), ("repo/a/CLAUDE.md", "same\n")]);
        let at = |name: &str| stand.root.join(name);
        symlink("AGENTS.md", at("repo/CLAUDE.md")).unwrap();
        symlink("../../secret", at("repo/a/AGENTS.md")).unwrap();
        symlink(at("repo"), at("door")).unwrap();
        symlink(at("repo/a/b"), at("repo/a/b/CLAUDE.md")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("repo/a/b/AGENTS.md"), rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(stand.find("repo/a/b", 1_000).0, ["same"]);
    }

    #[test]
    fn the_nearest_is_what_there_is_room_for() {
        let stand = Stand::new(&[("repo/AGENTS.md", "far far away"), ("repo/a/AGENTS.md", "nah äö")]);
        assert_eq!(stand.find("repo/a", 100), (vec!["far far away".to_owned(), "nah äö".to_owned()], 0));
        assert_eq!(stand.find("repo/a", 11), (vec!["far".to_owned(), "nah äö".to_owned()], 1));
        assert_eq!(stand.find("repo/a", 7), (vec!["nah ä".to_owned()], 2));
    }
}
