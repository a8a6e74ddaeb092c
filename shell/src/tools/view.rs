//! `view`: a section of a text file, with line numbers; or a picture.
//!
//! The file is decoded and streamed, so its size does not matter. What it was when it was viewed is remembered, as far
//! as it is small enough to be changed at all.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use hostler_core::content::ToolStatus;
use hostler_core::tools::ViewInput;
use serde::Serialize;

use super::binary;
use super::files;
use super::lines::{Line, Lines};
use super::outcome::{Failure, Outcome, with_facts};
use super::quote;
use super::text::{Layout, sniff};
use super::threads::{Stop, Watched};
use super::workspace::{Digest, Workspace};

/// How many lines are shown unless the call says otherwise.
const LINES: u64 = 200;
/// How many characters of a line are shown.
const LINE_CHARS: usize = 2000;
/// How many bytes are shown at most.
const SECTION: usize = 200_000;

#[derive(Serialize)]
struct Facts {
    path: String,
    offset: u64,
    lines: u64,
    total_lines: Option<u64>,
    more: bool,
    encoding: &'static str,
}

/// A text that has been opened.
struct Opened {
    lines: Lines<Box<dyn Read>>,
    layout: Layout,
    /// Whether it is small enough that its lines may be counted.
    whole: bool,
}

/// What there is at a path.
enum Found {
    /// A text.
    Text(Opened),
    /// Something else, and what is to be said of it.
    Other(Outcome),
}

/// What was read of it.
#[derive(Default)]
struct Section {
    text: String,
    skipped: u64,
    shown: u64,
    more: bool,
    total: Option<u64>,
}

/// Shows a section of a file.
pub(super) fn view(workspace: &Workspace, input: &ViewInput, stop: &Stop) -> Outcome {
    let path = workspace.resolve(&input.file_path)?.path;
    let name = workspace.show(&path);
    let mut opened = match open(workspace, &path, stop)? {
        Found::Text(opened) => opened,
        Found::Other(outcome) => return outcome,
    };
    let section = read(&mut opened, input).map_err(|error| Failure::io("read", &name, &error))?;
    if section.shown == 0 && section.skipped > 0 {
        let lines = quote::count(usize::try_from(section.skipped).unwrap_or(usize::MAX), "line");
        return Err(Failure::new(format!("{name} has only {lines}; give an offset below that.")));
    }
    let facts = Facts {
        path: path.to_string_lossy().into_owned(),
        offset: section.skipped,
        lines: section.shown,
        total_lines: section.total,
        more: section.more,
        encoding: opened.layout.name(),
    };
    Ok(with_facts(ToolStatus::Ok, words(section, &opened), &facts))
}

fn open(workspace: &Workspace, path: &Path, stop: &Stop) -> Result<Found, Failure> {
    let name = workspace.show(path);
    let mut file = watched(files::open(workspace, path)?, stop);
    let start = files::beginning(&mut file).map_err(|error| Failure::io("read", &name, &error))?;
    let size = file.source.metadata().map_or(start.len() as u64, |found| found.len());
    if let Some(outcome) = binary::look(path, &name, &start, size) {
        return Ok(Found::Other(outcome));
    }
    let layout = sniff(&start).unwrap_or_default();
    let whole = files::is_whole(&start);
    if whole {
        workspace.saw(path, Digest::of(&start));
    }
    let mut start = Cursor::new(start);
    start.set_position(layout.bom_len() as u64);
    let source: Box<dyn Read> = if whole { Box::new(start) } else { Box::new(start.chain(file)) };
    Ok(Found::Text(Opened { lines: Lines::new(source, layout), layout, whole }))
}

fn watched(source: File, stop: &Stop) -> Watched<File> {
    Watched { source, stop: stop.clone(), deadline: None }
}

fn read(opened: &mut Opened, input: &ViewInput) -> io::Result<Section> {
    let mut section = Section::default();
    let offset = input.offset.unwrap_or(0);
    while section.skipped < offset && opened.lines.next(0)?.is_some() {
        section.skipped += 1;
    }
    fill(opened, &mut section, input.limit.unwrap_or(LINES).max(1))?;
    if opened.whole {
        section.total = Some(count(opened, &section)?);
    }
    Ok(section)
}

/// Reads lines until there are enough, or no more.
fn fill(opened: &mut Opened, section: &mut Section, limit: u64) -> io::Result<()> {
    while let Some(line) = opened.lines.next(LINE_CHARS)? {
        let numbered = number(section.skipped + section.shown + 1, &line);
        if section.shown == limit || section.text.len() + numbered.len() > SECTION {
            section.more = true;
            return Ok(());
        }
        section.text.push_str(&numbered);
        section.shown += 1;
    }
    Ok(())
}

fn number(number: u64, line: &Line) -> String {
    let text = &line.text;
    match line.chars.saturating_sub(LINE_CHARS) {
        0 => format!("{number:>6}\t{text}\n"),
        cut => format!("{number:>6}\t{text} [... {cut} more characters in this line]\n"),
    }
}

/// How many lines there are in all. The one that no longer fitted has been read already.
fn count(opened: &mut Opened, section: &Section) -> io::Result<u64> {
    let mut total = section.skipped + section.shown + u64::from(section.more);
    while opened.lines.next(0)?.is_some() {
        total += 1;
    }
    Ok(total)
}

fn words(section: Section, opened: &Opened) -> String {
    let mut text = section.text;
    if section.shown == 0 {
        text.push_str("[empty file]\n");
    }
    if section.more {
        let next = section.skipped + section.shown;
        let of = section.total.map(|total| format!(" of {total}")).unwrap_or_default();
        text.push_str(&format!("[lines {}-{next}{of}; to read on, ", section.skipped + 1));
        text.push_str(&format!("view it again with offset {next}]\n"));
    }
    if opened.lines.damaged() {
        text.push_str("[not valid text in its encoding: what cannot be read is shown as \u{fffd}]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::workspace::Known;

    #[track_caller]
    fn check(content: &[u8], offset: Option<u64>, limit: Option<u64>, expected: &str) {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        std::fs::write(workspace.root().join("a"), content).unwrap();
        let input = ViewInput { file_path: "a".into(), offset, limit };
        let text = match view(&workspace, &input, &Stop::default()) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn sections_are_numbered_and_say_how_to_read_on() {
        check(b"one\ntwo\n", None, None, "     1\tone\n     2\ttwo\n");
        check(b"a\r\nb\r\n", Some(1), None, "     2\tb\n");
        let on = "[lines 2-2 of 3; to read on, view it again with offset 2]\n";
        check(b"a\nb\nc", Some(1), Some(1), &format!("     2\tb\n{on}"));
        check(b"a\nb\n", Some(2), None, "a has only 2 lines; give an offset below that.");
        check(b"", None, None, "[empty file]\n");
    }

    #[test]
    fn encodings_are_read_and_binary_files_are_not() {
        check(b"\xef\xbb\xbfx", None, None, "     1\tx\n");
        check(b"\xff\xfex\0\n\0", None, None, "     1\tx\n");
        check(b"\0\x01\x02", None, None, "a is a binary file (3 bytes); use bash to look into it.");
        let damage = "[not valid text in its encoding: what cannot be read is shown as \u{fffd}]\n";
        check(b"\xe9\n", None, None, &format!("     1\t\u{fffd}\n{damage}"));
    }

    #[test]
    fn long_lines_and_long_sections_are_cut() {
        let cut = format!("     1\t{} [... 5 more characters in this line]\n", "x".repeat(LINE_CHARS));
        check("x".repeat(LINE_CHARS + 5).as_bytes(), None, None, &cut);
        let lines = format!("{}\n", "y".repeat(LINE_CHARS)).repeat(150);
        let shown = SECTION / (LINE_CHARS + 8);
        let mut expected: String =
            (1..=shown).map(|n| format!("{n:>6}\t{}\n", "y".repeat(LINE_CHARS))).collect();
        expected += &format!("[lines 1-{shown} of 150; to read on, view it again with offset {shown}]\n");
        check(lines.as_bytes(), None, None, &expected);
    }

    #[test]
    fn a_huge_file_is_streamed_and_not_remembered() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let path = workspace.root().join("huge");
        let line = "z".repeat(1023) + "\n";
        std::fs::write(&path, line.repeat(17 * 1024)).unwrap();
        let input = ViewInput { file_path: "huge".into(), offset: Some(17 * 1024 - 1), limit: None };
        let outcome = view(&workspace, &input, &Stop::default()).unwrap();
        assert_eq!(outcome.text, format!(" 17408\t{line}"));
        assert_eq!(workspace.knows(&path, Digest::of(line.repeat(17 * 1024).as_bytes())), Known::Never);
    }
}
