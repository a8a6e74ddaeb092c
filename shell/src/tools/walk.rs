//! Going through a directory for `ls`, `glob` and `grep`: in order, without what is ignored, without following links.
//!
//! Ignore files count whether or not there is a repository. Hidden files are shown; `.git` is not, nor is a file that is
//! just being written here. What rules deny to the call is left out too, and counted.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, Walk, WalkBuilder};

use super::fresh;
use super::quote;
use super::threads::Stop;
use super::workspace::Workspace;

/// The entries below a directory, in the order of their names.
pub(super) struct Entries {
    walk: Walk,
    stop: Stop,
    /// How many directories could not be read.
    pub(super) unread: usize,
    /// How many directories were not gone into because reading what is to be ignored in them might never end.
    traps: Arc<AtomicUsize>,
    /// How many files and directories rules keep out of sight.
    shut: Arc<AtomicUsize>,
}

impl Entries {
    /// The entries below `base`, as many levels down as `depth` says.
    pub(super) fn below(workspace: &Workspace, base: &Path, depth: Option<usize>, stop: &Stop) -> Self {
        let mut builder = WalkBuilder::new(base);
        builder.hidden(false).require_git(false).git_global(false).follow_links(false).max_depth(depth);
        builder.sort_by_file_name(OsStr::cmp);
        // What applies to all of it is read before anything can be left out.
        if base.ancestors().any(is_trap) {
            builder.parents(false).ignore(false).git_ignore(false).git_exclude(false);
        }
        let (traps, shut) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (met, left_out) = (Arc::clone(&traps), Arc::clone(&shut));
        let (workspace, from) = (workspace.clone(), base.to_owned());
        builder.filter_entry(move |entry| {
            // The call was judged by what it names itself.
            if entry.depth() == 0 {
                return true;
            }
            if is_hidden(entry.file_name()) {
                return false;
            }
            let shut = workspace.is_shut(entry.path(), &from);
            let trap = !shut && entry.file_type().is_some_and(|kind| kind.is_dir()) && is_trap(entry.path());
            left_out.fetch_add(usize::from(shut), Ordering::Relaxed);
            met.fetch_add(usize::from(trap), Ordering::Relaxed);
            !(shut || trap)
        });
        Self { walk: builder.build(), stop: stop.clone(), unread: 0, traps, shut }
    }

    /// What to say when something could not be read, or must not be found; empty if there is nothing to say.
    pub(super) fn remark(&self) -> String {
        let unread = match self.unread + self.traps.load(Ordering::Relaxed) {
            0 => String::new(),
            unread => format!("[{} could not be read]\n", quote::count(unread, "path")),
        };
        match self.shut.load(Ordering::Relaxed) {
            0 => unread,
            1 => unread + "[1 path is left out, since rules deny reading it]\n",
            shut => unread + &format!("[{shut} paths are left out, since rules deny reading them]\n"),
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

/// Whether a directory has an ignore file that is a pipe, a device or the like: whoever reads that may wait for ever.
fn is_trap(directory: &Path) -> bool {
    let odd = |name| directory.join(name).metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    [".gitignore", ".ignore", ".git/info/exclude"].into_iter().any(odd)
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
    use hostler_core::tools::ToolInput;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_ignore_file_that_is_none_holds_nobody_up() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = directory.path();
        for folder in ["a", "a/deep", "b"] {
            fs::create_dir(root.join(folder))?;
        }
        fs::write(root.join("b/seen"), "")?;
        let workspace = Workspace::open(root)?;
        let below = |base: &Path| {
            let mut entries = Entries::below(&workspace, base, None, &Stop::default());
            let count = entries.by_ref().count();
            (count, entries.remark())
        };
        symlink("/dev/zero", root.join("a/.ignore"))?;
        assert_eq!(below(root), (3, "[1 path could not be read]\n".to_owned()));
        assert_eq!(below(&root.join("a/deep")).0, 1);
        symlink("/dev/zero", root.join(".gitignore"))?;
        assert_eq!(below(root).0, 4);
        Ok(())
    }

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
        let entries = Entries::below(&Workspace::open(root)?, root, None, &Stop::default());
        let names: Vec<_> = entries
            .filter_map(|entry| entry.path().strip_prefix(root).ok().map(|path| path.display().to_string()))
            .collect();
        assert_eq!(names, ["", ".gitignore", ".hidden", "src", "src/a", "src/b", "src/up", "z"]);
        Ok(())
    }

    /// What `ls`, `glob` and `grep` say of a directory where rules deny something.
    #[test]
    fn what_rules_deny_is_neither_found_nor_named() -> std::io::Result<()> {
        use hostler_core::prompt::PermissionMode;
        use hostler_core::tools::{Action, Rule, Shut, read};
        let directory = tempfile::tempdir()?;
        let workspace = Workspace::open(directory.path())?;
        let root = workspace.root().to_owned();
        for folder in ["src", "secret"] {
            fs::create_dir(root.join(folder))?;
        }
        for file in [".env", "src/.env", "src/a", "secret/key", "secret/other"] {
            fs::write(root.join(file), "needle\n")?;
        }
        symlink("secret/key", root.join("shortcut"))?;
        let rules = ["read(.env)", "path(secret/**)"]
            .map(|text| Rule::parse(Action::Deny, text, None).unwrap_or_else(|bad| unreachable!("{bad}")));
        for (tool, arguments, expected) in [
            ("grep", r#"{"pattern":"needle"}"#, "src/a:1: needle\n"),
            ("glob", r#"{"pattern":"**/*"}"#, "src/a\n"),
            ("ls", "{}", "./\n  src/\n    a\n"),
        ] {
            let shut = Shut::new(tool, &root.to_string_lossy(), PermissionMode::Yolo, &rules);
            let workspace = workspace.clone().without(shut);
            let stop = Stop::default();
            let outcome = match read(tool, arguments) {
                Ok(ToolInput::Grep(input)) => super::super::grep::grep(&workspace, &input, &stop),
                Ok(ToolInput::Glob(input)) => super::super::glob::glob(&workspace, &input, &stop),
                Ok(ToolInput::Ls(input)) => super::super::ls::ls(&workspace, &input, &stop),
                other => unreachable!("{other:?}"),
            };
            let text = outcome.map(|outcome| outcome.text).unwrap_or_default();
            let remark = "[4 paths are left out, since rules deny reading them]\n";
            assert_eq!(text, format!("{expected}{remark}"), "{tool}");
        }
        Ok(())
    }
}
