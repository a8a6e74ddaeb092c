//! Going through a directory for `ls`, `glob` and `grep`: in order, without what is ignored, without following links.
//!
//! Ignore files count whether or not there is a repository. Hidden files are shown; `.git` is not, nor is a file that is
//! just being written here.

use std::ffi::OsStr;
use std::path::Path;

use ignore::{DirEntry, Walk, WalkBuilder};

use super::fresh;
use super::quote;
use super::threads::Stop;

/// The entries below a directory, in the order of their names.
pub(super) struct Entries {
    walk: Walk,
    stop: Stop,
    /// How many directories could not be read.
    pub(super) unread: usize,
}

impl Entries {
    /// The entries below `base`, as many levels down as `depth` says.
    pub(super) fn below(base: &Path, depth: Option<usize>, stop: &Stop) -> Self {
        let mut builder = WalkBuilder::new(base);
        builder.hidden(false).require_git(false).git_global(false).follow_links(false).max_depth(depth);
        builder.sort_by_file_name(OsStr::cmp);
        builder.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
        Self { walk: builder.build(), stop: stop.clone(), unread: 0 }
    }

    /// What to say when something could not be read; empty if there is nothing to say.
    pub(super) fn remark(&self) -> String {
        match self.unread {
            0 => String::new(),
            unread => format!("[{} could not be read]\n", quote::count(unread, "path")),
        }
    }
}

impl Iterator for Entries {
    type Item = DirEntry;

    fn next(&mut self) -> Option<DirEntry> {
        while !self.stop.is_set() {
            match self.walk.next()? {
                Ok(entry) => return Some(entry),
                Err(_) => self.unread += 1,
            }
        }
        None
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name == ".git" || fresh::is_ours(name)
}

/// Whether it is a regular file, and not a link to one.
pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn ignored_files_and_the_repository_are_left_out() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = directory.path();
        for folder in [".git", "src", "target"] {
            fs::create_dir(root.join(folder))?;
        }
        for file in
            [".git/config", ".hidden", ".hostler-1.tmp", "src/b", "src/a", "src/a.log", "target/x", "z"]
        {
            fs::write(root.join(file), "")?;
        }
        fs::write(root.join(".gitignore"), "*.log\n/target\n")?;
        symlink("..", root.join("src/up"))?;
        let entries = Entries::below(root, None, &Stop::default());
        let names: Vec<_> = entries
            .filter_map(|entry| entry.path().strip_prefix(root).ok().map(|path| path.display().to_string()))
            .collect();
        assert_eq!(names, ["", ".gitignore", ".hidden", "src", "src/a", "src/b", "src/up", "z"]);
        Ok(())
    }
}
