//! Every mistake and misfortune that a person can meet, and what the program says about it: one sentence that tells what
//! happened and what to do. The sentences stand in the text files beside this, one page a subject, as somebody has looked at
//! them; `HOSTLER_RENEW=1 cargo test -p hostler-tests --test e2e errors` writes them anew.

mod configuration;
mod models;
mod network;
mod providers;
mod runs;
mod storage;
mod usage;

use std::fmt::Write;
use std::path::Path;

use hostler_tests::harness::{Finished, Home, Hostler, snapshot};

/// A page of things that go wrong.
struct Page {
    text: String,
}

impl Page {
    fn new() -> Self {
        Self { text: String::new() }
    }

    /// Something goes wrong with a command line.
    fn meet(&mut self, what: &str, home: &Home, command: Hostler<'_>) {
        let line = command.line();
        let finished = command.finish();
        self.met(what, home, &line, &finished);
    }

    /// Something went wrong with that command line.
    fn met(&mut self, what: &str, home: &Home, line: &str, finished: &Finished) {
        let code = finished.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        let lines = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        writeln!(self.text, "{what}\n  $ {}", masked(line, home)).unwrap();
        writeln!(self.text, "  {code}\n{}", masked(&lines(&finished.err), home)).unwrap();
        let told = finished.err.contains(|char: char| char.is_control() && char != '\n');
        assert!(!told, "{what}: nothing that a terminal would obey: {:?}", finished.err);
        assert!(!finished.err.is_empty(), "{what}: something is said");
    }

    /// Holds the page to its file.
    #[track_caller]
    fn is(self, name: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/e2e/errors/{name}.txt"));
        snapshot::check(&file, &self.text);
    }
}

/// The text without what is another in every run: places, addresses, ids and processes.
fn masked(text: &str, home: &Home) -> String {
    let text =
        text.replace(&home.root().display().to_string(), "$ROOT").replace("hostler-under-test", "hostler");
    let text = number_after(&text, "127.0.0.1:", "$PORT");
    let text = number_after(&text, "Process ", "$PID");
    let text = after(&text, "workspaces/", |char| char.is_ascii_hexdigit(), "$WORKSPACE");
    ids(&text)
}

fn number_after(text: &str, before: &str, name: &str) -> String {
    after(text, before, |char| char.is_ascii_digit(), name)
}

/// Puts a name in the place of what comes after some words, as far as it is made of such characters.
fn after(text: &str, before: &str, is_part: fn(char) -> bool, name: &str) -> String {
    let mut pieces = text.split(before);
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(is_part);
        let name = if rest.len() < piece.len() { name } else { "" };
        masked.extend([before, name, rest]);
    }
    masked
}

/// Puts a name in the place of each random id.
fn ids(text: &str) -> String {
    const LENGTH: usize = 36;
    let is_id = |piece: &str| {
        piece.char_indices().all(|(at, char)| match at {
            8 | 13 | 18 | 23 => char == '-',
            _ => char.is_ascii_hexdigit(),
        })
    };
    let (mut masked, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        match rest.get(..LENGTH).filter(|piece| is_id(piece)) {
            Some(piece) => {
                masked.push_str("$ID");
                rest = &rest[piece.len()..];
            }
            None => {
                masked.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    masked
}
