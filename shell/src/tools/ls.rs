//! `ls`: a directory as a tree.
//!
//! A tree with too many entries is cut at a level, so that what is shown of it is whole.

use std::path::Path;

use hostler_core::content::ToolStatus;
use hostler_core::tools::LsInput;
use ignore::DirEntry;
use serde::Serialize;

use super::names;
use super::outcome::{Outcome, with_facts};
use super::quote;
use super::threads::Stop;
use super::walk::Entries;
use super::workspace::Workspace;

/// How many entries are shown.
const ENTRIES: usize = 1000;

#[derive(Serialize)]
struct Facts {
    path: String,
    entries: usize,
    truncated: bool,
}

/// The entries of the levels that are shown.
#[derive(Default)]
struct Tree {
    entries: Vec<DirEntry>,
    /// What is said about what is left out.
    remark: String,
    truncated: bool,
}

/// Lists a directory.
pub(super) fn ls(workspace: &Workspace, input: &LsInput, stop: &Stop) -> Outcome {
    let path = workspace.resolve(input.path.as_deref().unwrap_or("."))?.path;
    if !path.is_dir() {
        return Err(names::not_a_directory(workspace, &path));
    }
    let most = input.depth.map_or(usize::MAX, |depth| usize::try_from(depth).unwrap_or(usize::MAX).max(1));
    let tree = collect(workspace, &path, most, stop);
    let facts = Facts {
        path: path.to_string_lossy().into_owned(),
        entries: tree.entries.len(),
        truncated: tree.truncated,
    };
    Ok(with_facts(ToolStatus::Ok, words(workspace, &path, &tree), &facts))
}

/// Goes one level deeper as long as there is something there and room for it.
fn collect(workspace: &Workspace, path: &Path, most: usize, stop: &Stop) -> Tree {
    let mut tree = first_level(workspace, path, stop);
    let mut depth = 1;
    while depth < most && !tree.truncated {
        let mut entries = Entries::below(workspace, path, Some(depth + 1), stop);
        let found: Vec<_> = entries.by_ref().skip(1).take(ENTRIES + 1).collect();
        if found.len() > ENTRIES {
            tree.truncated = true;
            tree.remark += &format!(
                "[levels deeper than {depth} are left out, since there are more than {ENTRIES} entries: list a \
                 directory in it to see more]\n"
            );
        } else if found.len() == tree.entries.len() {
            // It may have met something of which only a number is told.
            tree.remark = entries.remark();
            break;
        } else {
            tree = Tree { entries: found, remark: entries.remark(), truncated: false };
        }
        depth += 1;
    }
    tree
}

fn first_level(workspace: &Workspace, path: &Path, stop: &Stop) -> Tree {
    let mut walk = Entries::below(workspace, path, Some(1), stop);
    let entries: Vec<_> = walk.by_ref().skip(1).take(ENTRIES).collect();
    let left_out = walk.by_ref().count();
    let mut remark = walk.remark();
    if left_out > 0 {
        let more = quote::count(left_out, "more file");
        remark += &format!("[{more} or directories are left out: use glob to find what you need]\n");
    }
    Tree { entries, remark, truncated: left_out > 0 }
}

fn words(workspace: &Workspace, path: &Path, tree: &Tree) -> String {
    let mut text = format!("{}/\n", workspace.show(path));
    tree.entries.iter().for_each(|entry| text.push_str(&line(entry)));
    if tree.entries.is_empty() && tree.remark.is_empty() {
        text.push_str("[nothing in it, or nothing that is not ignored]\n");
    }
    text + &tree.remark
}

fn line(entry: &DirEntry) -> String {
    let indent = "  ".repeat(entry.depth());
    let name = quote::bytes(entry.file_name().as_encoded_bytes());
    let kind = entry.file_type();
    if kind.is_some_and(|kind| kind.is_dir()) {
        format!("{indent}{name}/\n")
    } else if let Some(target) = entry.path_is_symlink().then(|| entry.path().read_link().ok()).flatten() {
        format!("{indent}{name} -> {}\n", quote::bytes(target.as_os_str().as_encoded_bytes()))
    } else {
        format!("{indent}{name}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(workspace: &Workspace, path: Option<&str>, depth: Option<u64>, expected: &str) {
        let input = LsInput { path: path.map(str::to_owned), depth };
        let text = match ls(workspace, &input, &Stop::default()) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn a_directory_is_a_tree() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let root = workspace.root();
        fs::create_dir_all(root.join("b/c")).unwrap();
        fs::write(root.join("b/c/d"), "").unwrap();
        fs::write(root.join("a\x1b"), "").unwrap();
        std::os::unix::fs::symlink("b", root.join("link")).unwrap();
        check(&workspace, None, None, "./\n  a\\u{1b}\n  b/\n    c/\n      d\n  link -> b\n");
        check(&workspace, None, Some(1), "./\n  a\\u{1b}\n  b/\n  link -> b\n");
        check(&workspace, Some("b/c"), None, "b/c/\n  d\n");
        check(&workspace, Some("b/c/d"), None, "b/c/d is not a directory; use view to read a file.");
        check(&workspace, Some("x"), None, "There is no x; use glob or ls to find it.");
    }

    #[test]
    fn an_empty_directory_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        check(&workspace, None, None, "./\n[nothing in it, or nothing that is not ignored]\n");
    }

    #[test]
    fn what_is_too_much_is_left_out_and_said() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let many = workspace.root().join("many");
        fs::create_dir(&many).unwrap();
        for number in 0..ENTRIES + 2 {
            fs::write(many.join(format!("{number:04}")), "").unwrap();
        }
        let remark = "[levels deeper than 1 are left out, since there are more than 1000 entries: list a \
            directory in it to see more]\n";
        check(&workspace, None, None, &format!("./\n  many/\n{remark}"));
        let names: String = (0..ENTRIES).map(|number| format!("  {number:04}\n")).collect();
        let remark = "[2 more files or directories are left out: use glob to find what you need]\n";
        check(&workspace, Some("many"), None, &format!("many/\n{names}{remark}"));
    }
}
