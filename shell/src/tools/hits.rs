//! What a search has found so far, file by file.

use std::io;

use grep_searcher::{Searcher, Sink, SinkFinish, SinkMatch};

/// How many matches are shown.
pub(super) const MATCHES: usize = 100;
/// How many characters of a line are shown.
const LINE_CHARS: usize = 500;

/// The matches so far. Those of the current file count only when it has turned out not to be binary.
#[derive(Debug, Default)]
pub(super) struct Hits {
    text: String,
    matches: usize,
    files: usize,
    binary: usize,
    full: bool,
    current: Current,
}

#[derive(Debug, Default)]
struct Current {
    name: String,
    text: String,
    matches: usize,
    more: bool,
    binary: bool,
}

impl Hits {
    /// Begins a file with that name.
    pub(super) fn begin(&mut self, name: String) {
        self.current = Current { name, ..Current::default() };
    }

    /// Ends the file that was begun.
    pub(super) fn end(&mut self) {
        let current = std::mem::take(&mut self.current);
        if current.binary {
            self.binary += 1;
        } else {
            self.text.push_str(&current.text);
            self.matches += current.matches;
            self.files += usize::from(current.matches > 0);
            self.full |= current.more;
        }
    }

    /// Whether there is more than is shown.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// How many matches are shown.
    pub(super) fn matches(&self) -> usize {
        self.matches
    }

    /// How many files they are in.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// How many files were left out because they are binary.
    pub(super) fn binary(&self) -> usize {
        self.binary
    }

    /// The matches as text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let room = MATCHES.saturating_sub(self.matches);
        let current = &mut self.current;
        if current.matches == room {
            current.more = true;
            return Ok(false);
        }
        current.matches += 1;
        let (name, number, text) = (&current.name, found.line_number().unwrap_or(0), cut(found.bytes()));
        current.text += &format!("{name}:{number}: {text}\n");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.current.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.current.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

fn cut(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{} [...]", &line[..end]),
        None => line.to_owned(),
    }
}
