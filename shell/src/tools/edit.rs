//! `edit`: replaces text in a file, or makes a new one.

use std::path::Path;

use hostler_core::content::ToolStatus;
use hostler_core::tools::EditInput;

use super::change::{self, Existing};
use super::names;
use super::outcome::{Failure, Outcome, with_facts};
use super::quote;
use super::replace::{Replacement, replace};
use super::workspace::Workspace;

/// Edits a file.
pub(super) fn edit(workspace: &Workspace, input: &EditInput) -> Outcome {
    let path = workspace.resolve(&input.file_path)?.path;
    let existing = change::load(workspace, &path)?;
    match existing {
        existing if input.old_string.is_empty() => create(workspace, &path, existing, input),
        None => Err(names::missing(workspace, &path)),
        Some(existing) => change(workspace, &path, &existing, input),
    }
}

fn create(workspace: &Workspace, path: &Path, existing: Option<Existing>, input: &EditInput) -> Outcome {
    let name = workspace.show(path);
    if existing.as_ref().is_some_and(|existing| !existing.text.is_empty()) {
        return Err(Failure::new(format!(
            "{name} exists and is not empty, and old_string is empty; give the text to replace, or use write."
        )));
    }
    let facts = change::put(workspace, path, existing.as_ref(), &input.new_string)?;
    let lines = quote::count(facts.additions, "line");
    Ok(with_facts(ToolStatus::Ok, format!("Made {name} with {lines}."), &facts))
}

fn change(workspace: &Workspace, path: &Path, existing: &Existing, input: &EditInput) -> Outcome {
    let name = workspace.show(path);
    if input.old_string == input.new_string {
        return Err(Failure::new("old_string and new_string are the same; say what shall change."));
    }
    existing.require_known(workspace, path)?;
    let asked = Replacement { old: &input.old_string, new: &input.new_string, all: input.replace_all };
    let (text, times) =
        replace(&existing.text, asked).map_err(|reason| Failure::new(format!("{name} {reason}")))?;
    let facts = change::put(workspace, path, Some(existing), &text)?;
    let (additions, removals) = (facts.additions, facts.removals);
    let times = quote::count(times, "replacement");
    Ok(with_facts(ToolStatus::Ok, format!("Edited {name}: {times}, lines +{additions} -{removals}."), &facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::threads::Stop;
    use crate::tools::view::view;
    use hostler_core::tools::ViewInput;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn look(workspace: &Workspace, path: &str) {
        let input = ViewInput { file_path: path.into(), offset: None, limit: None };
        assert!(view(workspace, &input, &Stop::default()).is_ok());
    }

    fn apply(workspace: &Workspace, path: &str, old: &str, new: &str) -> String {
        let input = EditInput {
            file_path: path.into(),
            old_string: old.into(),
            new_string: new.into(),
            replace_all: false,
        };
        match edit(workspace, &input) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        }
    }

    #[track_caller]
    fn check(before: &[u8], old: &str, new: &str, after: &[u8], says: &str) {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let path = workspace.root().join("f");
        fs::write(&path, before).unwrap();
        look(&workspace, "f");
        let text = apply(&workspace, "f", old, new);
        assert!(text.contains(says), "{text}");
        assert_eq!(fs::read(&path).unwrap(), after);
    }

    #[test]
    fn text_is_replaced_in_its_encoding() {
        check(b"a\nb\n", "b", "c\nd", b"a\nc\nd\n", "Edited f: 1 replacement, lines +2 -1.");
        check(b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "c\nd", b"\xef\xbb\xbfc\r\nd\r\n", "Edited");
        check(b"\xff\xfea\0", "a", "\u{e9}", b"\xff\xfe\xe9\0", "Edited");
        check(b"\xfe\xff\0a", "a", "b", b"\xfe\xff\0b", "Edited");
        check(b"", "", "new\n", b"new\n", "Made f with 1 line.");
        check(b"a", "a", "a", b"a", "are the same");
        check(b"a", "", "b", b"a", "exists and is not empty");
        check(b"a a", "a", "b", b"a a", "f has old_string 2 times");
        check(b"a", "b", "c", b"a", "f does not have old_string");
        check(b"\xe9", "a", "b", b"\xe9", "not a text in UTF-8");
    }

    #[test]
    fn only_what_was_viewed_as_it_is_may_be_edited() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let path = workspace.root().join("f");
        fs::write(&path, "a").unwrap();
        assert!(apply(&workspace, "f", "a", "b").contains("has not been viewed; view it first"));
        look(&workspace, "f");
        fs::write(&path, "a, but changed").unwrap();
        assert!(apply(&workspace, "f", "a,", "b,").contains("has changed since it was viewed"));
        look(&workspace, "f");
        assert!(apply(&workspace, "f", "a,", "b,").starts_with("Edited"));
        assert!(apply(&workspace, "f", "b,", "c,").starts_with("Edited"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "c, but changed");
    }

    #[test]
    fn links_are_followed_and_never_replaced() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        let workspace = Workspace::open(&directory.path().join("work")).unwrap();
        for (link, target) in [("near", "f"), ("far", "../f")] {
            let (link_path, target_path) = (workspace.root().join(link), workspace.root().join(target));
            fs::write(&target_path, "a").unwrap();
            symlink(target, &link_path).unwrap();
            look(&workspace, link);
            assert!(apply(&workspace, link, "a", "b").starts_with("Edited"));
            assert!(link_path.is_symlink());
            assert_eq!(fs::read_to_string(target_path).unwrap(), "b");
        }
    }

    #[test]
    fn new_files_are_made_with_their_directories() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        assert_eq!(apply(&workspace, "a/b/c", "", "x\ny\n"), "Made a/b/c with 2 lines.");
        assert!(apply(&workspace, "a/b/c", "x", "z").starts_with("Edited"));
        assert!(apply(&workspace, "a/b/d", "x", "z").starts_with("There is no a/b/d"));
        assert!(apply(&workspace, "a/b", "x", "z").contains("is a directory"));
    }
}
