//! `write`: gives a file its whole content.
//!
//! An existing file keeps its encoding, its byte order mark and its CRLF line ends, none of which a model gets to see.

use std::borrow::Cow;

use hostler_core::content::{ToolOutcome, ToolStatus};
use hostler_core::tools::WriteInput;

use super::change::{self, Existing};
use super::outcome::{Outcome, with_facts};
use super::quote;
use super::text::{is_crlf, to_crlf};
use super::workspace::Workspace;

/// Writes a file.
pub(super) fn write(workspace: &Workspace, input: &WriteInput) -> Outcome {
    let path = workspace.resolve(&input.file_path)?.path;
    let name = workspace.show(&path);
    let existing = change::load(workspace, &path)?;
    let text = suited(existing.as_ref(), &input.content);
    if let Some(existing) = &existing {
        if existing.text == text {
            existing.note(workspace, &path);
            return Ok(ToolOutcome::text(ToolStatus::Ok, format!("{name} already has this content.")));
        }
        existing.require_known(workspace, &path)?;
    }
    let facts = change::put(workspace, &path, existing.as_ref(), &text)?;
    let (additions, removals) = (facts.additions, facts.removals);
    let words = match existing {
        Some(_) => format!("Overwrote {name}: lines +{additions} -{removals}."),
        None => format!("Made {name} with {}.", quote::count(additions, "line")),
    };
    Ok(with_facts(ToolStatus::Ok, words, &facts))
}

/// The content with the line ends that the file has.
fn suited<'a>(existing: Option<&Existing>, content: &'a str) -> Cow<'a, str> {
    match existing {
        Some(existing) if is_crlf(&existing.text) => Cow::Owned(to_crlf(content)),
        _ => Cow::Borrowed(content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::threads::Stop;
    use crate::tools::view::view;
    use hostler_core::tools::ViewInput;
    use std::fs;

    fn apply(workspace: &Workspace, path: &str, content: &str) -> String {
        let input = WriteInput { file_path: path.into(), content: content.into() };
        match write(workspace, &input) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        }
    }

    #[track_caller]
    fn check(before: Option<&[u8]>, viewed: bool, content: &str, after: &[u8], says: &str) {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let path = workspace.root().join("f");
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        if viewed {
            let input = ViewInput { file_path: "f".into(), offset: None, limit: None };
            assert!(view(&workspace, &input, &Stop::default()).is_ok());
        }
        assert_eq!(apply(&workspace, "f", content), says);
        assert_eq!(fs::read(&path).unwrap(), after);
    }

    #[test]
    fn only_what_is_known_is_overwritten() {
        let unknown = "f has not been viewed; view it first, then change it.";
        check(None, false, "a\nb\n", b"a\nb\n", "Made f with 2 lines.");
        check(Some(b"a\n"), false, "b\n", b"a\n", unknown);
        check(Some(b"a\n"), true, "b\n", b"b\n", "Overwrote f: lines +1 -1.");
        check(Some(b""), false, "b\n", b"b\n", "Overwrote f: lines +1 -0.");
        check(Some(b"a\n"), false, "a\n", b"a\n", "f already has this content.");
        check(Some(b"\0"), false, "a", b"\0", "f is not a text in UTF-8 or UTF-16; change it with bash.");
    }

    #[test]
    fn what_a_model_does_not_see_is_kept() {
        check(Some(b"a\r\n"), true, "b\nc\n", b"b\r\nc\r\n", "Overwrote f: lines +2 -1.");
        check(Some(b"\xff\xfea\0"), true, "b", b"\xff\xfeb\0", "Overwrote f: lines +1 -1.");
        check(Some(b"\xef\xbb\xbfa"), false, "a", b"\xef\xbb\xbfa", "f already has this content.");
    }

    #[test]
    fn a_file_written_here_may_be_overwritten_and_directories_may_not() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        assert_eq!(apply(&workspace, "d/f", "a"), "Made d/f with 1 line.");
        assert_eq!(apply(&workspace, "d/f", "b"), "Overwrote d/f: lines +1 -1.");
        assert_eq!(apply(&workspace, "d", "b"), "d is a directory; use ls to list it.");
    }
}
