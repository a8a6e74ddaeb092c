//! `multiedit`: replaces several texts in one file, one after the other, all of them or none.

use std::path::Path;

use hostler_core::content::{ToolOutcome, ToolStatus};
use hostler_core::tools::{MultiEditInput, Replace};

use super::change::{self, Existing};
use super::names;
use super::outcome::{Failure, Outcome, with_facts};
use super::quote;
use super::replace::{Replacement, replace};
use super::workspace::Workspace;

/// Edits a file.
pub(super) fn multiedit(workspace: &Workspace, input: &MultiEditInput) -> Outcome {
    let path = workspace.resolve(&input.file_path)?.path;
    let existing = change::load(workspace, &path)?;
    let Some(first) = input.edits.first() else {
        return Err(Failure::new("edits is empty; say what shall change."));
    };
    let makes = first.old_string.is_empty();
    match &existing {
        None if !makes => return Err(names::missing(workspace, &path)),
        Some(existing) if !makes => existing.require_known(workspace, &path)?,
        Some(_) | None => {}
    }
    let (text, times) = apply(workspace, &path, existing.as_ref(), &input.edits)?;
    save(workspace, &path, existing.as_ref(), &text, times)
}

/// The text after all edits, and how often something was replaced.
fn apply(
    workspace: &Workspace,
    path: &Path,
    existing: Option<&Existing>,
    edits: &[Replace],
) -> Result<(String, usize), Failure> {
    let name = workspace.show(path);
    let mut text = existing.map(|existing| existing.text.clone()).unwrap_or_default();
    let mut times = 0;
    for (at, edit) in edits.iter().enumerate() {
        let (next, replaced) = step(&text, edit, at == 0).map_err(|reason| {
            let (number, all) = (at + 1, edits.len());
            Failure::new(format!(
                "Nothing was changed, because edit {number} of {all} fails: {name} {reason}"
            ))
        })?;
        text = next;
        times += replaced;
    }
    Ok((text, times))
}

/// One edit, or a sentence about why not, without its subject.
fn step(text: &str, edit: &Replace, is_first: bool) -> Result<(String, usize), String> {
    let Replace { old_string, new_string, replace_all } = edit;
    if old_string.is_empty() {
        return match (is_first, text.is_empty()) {
            (true, true) => Ok((new_string.clone(), 1)),
            (true, false) => {
                Err("exists and is not empty, and old_string is empty; give the text to replace.".to_owned())
            }
            (false, _) => {
                Err("is to have an empty old_string replaced; give the text to replace.".to_owned())
            }
        };
    }
    if old_string == new_string {
        return Err("is to have a text replaced by the same; say what shall change.".to_owned());
    }
    replace(text, Replacement { old: old_string, new: new_string, all: *replace_all })
}

fn save(
    workspace: &Workspace,
    path: &Path,
    existing: Option<&Existing>,
    text: &str,
    times: usize,
) -> Outcome {
    let name = workspace.show(path);
    if existing.is_some_and(|existing| existing.text == text) {
        let words = format!("{name} is as it was: the edits undo each other.");
        return Ok(ToolOutcome::text(ToolStatus::Ok, words));
    }
    let facts = change::put(workspace, path, existing, text)?;
    let (additions, removals) = (facts.additions, facts.removals);
    let words = match existing {
        Some(existing) if !existing.text.is_empty() => {
            let times = quote::count(times, "replacement");
            format!("Edited {name}: {times}, lines +{additions} -{removals}.")
        }
        Some(_) | None => format!("Made {name} with {}.", quote::count(additions, "line")),
    };
    Ok(with_facts(ToolStatus::Ok, words, &facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::threads::Stop;
    use crate::tools::view::view;
    use hostler_core::tools::ViewInput;
    use std::fs;

    fn apply(workspace: &Workspace, path: &str, edits: &[(&str, &str)]) -> String {
        let edit = |(old, new): &(&str, &str)| Replace {
            old_string: old.trim_start_matches("all ").to_owned(),
            new_string: (*new).to_owned(),
            replace_all: old.starts_with("all "),
        };
        let edits = edits.iter().map(edit).collect();
        match multiedit(workspace, &MultiEditInput { file_path: path.into(), edits }) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        }
    }

    #[track_caller]
    fn check(before: Option<&str>, edits: &[(&str, &str)], after: Option<&str>, says: &str) {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let path = workspace.root().join("f");
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
            let input = ViewInput { file_path: "f".into(), offset: None, limit: None };
            assert!(view(&workspace, &input, &Stop::default()).is_ok());
        }
        assert_eq!(apply(&workspace, "f", edits), says);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), after);
    }

    #[test]
    fn each_edit_sees_what_those_before_it_did() {
        let done = |times, lines| format!("Edited f: {times} replacements, lines {lines}.");
        check(Some("a\nb\n"), &[("a", "b2"), ("b2", "c")], Some("c\nb\n"), &done(2, "+1 -1"));
        check(Some("x x y\n"), &[("all x", "y"), ("all y", "z")], Some("z z z\n"), &done(5, "+1 -1"));
        check(Some("a\r\nb\r\n"), &[("a\nb", "c\nd"), ("d", "e")], Some("c\r\ne\r\n"), &done(2, "+2 -2"));
        check(None, &[("", "a\nb\n"), ("a", "c")], Some("c\nb\n"), "Made f with 2 lines.");
        check(Some(""), &[("", "a\n")], Some("a\n"), "Made f with 1 line.");
        let undone = "f is as it was: the edits undo each other.";
        check(Some("a\n"), &[("a", "b"), ("b", "a")], Some("a\n"), undone);
    }

    #[test]
    fn all_are_made_or_none() {
        let fails =
            |number, of, why| format!("Nothing was changed, because edit {number} of {of} fails: f {why}");
        let unknown = "does not have old_string, nor any of its lines; view it and copy the text exactly.";
        check(Some("a b\n"), &[("a", "c"), ("x", "y")], Some("a b\n"), &fails(2, 2, unknown));
        check(Some("a b\n"), &[("a", "c"), ("a", "y"), ("b", "z")], Some("a b\n"), &fails(2, 3, unknown));
        let empty = "is to have an empty old_string replaced; give the text to replace.";
        check(Some("a\n"), &[("a", "b"), ("", "y")], Some("a\n"), &fails(2, 2, empty));
        let filled = "exists and is not empty, and old_string is empty; give the text to replace.";
        check(Some("a\n"), &[("", "b")], Some("a\n"), &fails(1, 1, filled));
        let same = "is to have a text replaced by the same; say what shall change.";
        check(Some("a\n"), &[("a", "a")], Some("a\n"), &fails(1, 1, same));
        check(Some("a\n"), &[], Some("a\n"), "edits is empty; say what shall change.");
        check(None, &[("a", "b")], None, "There is no f; use glob or ls to find it.");
        check(None, &[("", "b"), ("c", "d")], None, &fails(2, 2, unknown));
    }

    #[test]
    fn only_what_was_viewed_as_it_is_may_be_edited() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        fs::write(workspace.root().join("f"), "a").unwrap();
        let says = apply(&workspace, "f", &[("a", "b")]);
        assert_eq!(says, "f has not been viewed; view it first, then change it.");
        assert_eq!(apply(&workspace, "g", &[("", "a")]), "Made g with 1 line.");
        assert!(apply(&workspace, "g", &[("a", "b")]).starts_with("Edited g"));
        fs::write(workspace.root().join("g"), "c").unwrap();
        assert!(apply(&workspace, "g", &[("b", "c")]).contains("has changed since it was viewed"));
    }
}
