//! What the tools have really found during a tour, read from the request that brings their results.
//!
//! The formats of results are for models and may change, so every line is taken for what it plainly is or not at all.
//! What is made of the findings is in `tour` and `report`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::current;
use super::tree::{self, Tree};
use crate::content::{Block, ToolCall, ToolOutcome, ToolStatus};
use crate::model::{CallResult, Item, ModelRequest};
use crate::provider::excerpt::one_line;
use crate::tools::{self, ToolInput};

/// The files that say what a project is.
pub(super) const MANIFESTS: [&str; 4] = ["Cargo.toml", "package.json", "pyproject.toml", "go.mod"];

/// The pattern that finds entry points.
pub(super) const ENTRIES: &str = r"fn main\(|def main\(|func main\(|int main\(";

/// The pattern that finds what is left to do.
pub(super) const LEFT: &str = r"\b(TODO|FIXME)\b";

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Survey<'a> {
    /// What the person asked.
    pub(super) question: &'a str,
    /// What `ls` listed.
    pub(super) tree: Tree,
    /// The READMEs and manifests that `glob` found, the nearest first.
    pub(super) named: Vec<&'a str>,
    /// Where entry points are, as `path:line`; none if nobody has searched.
    pub(super) entries: Option<Vec<String>>,
    /// Where something is left to do; none if nobody has searched.
    pub(super) left: Option<Vec<String>>,
    /// The file that was read, and its lines.
    pub(super) read: Option<(String, Vec<&'a str>)>,
    /// Whether reading a file has been tried.
    pub(super) tried: bool,
    /// The calls that did not work, each as a sentence.
    pub(super) failures: Vec<String>,
}

/// Reads what has been found since the person's question.
pub(super) fn survey(request: &ModelRequest) -> Survey<'_> {
    let mut survey = Survey::default();
    let mut calls: Vec<&ToolCall> = Vec::new();
    for item in current(request) {
        match item {
            Item::User { text, .. } => survey.question = text,
            Item::Assistant { blocks, .. } => calls = blocks.iter().filter_map(call).collect(),
            Item::Results(results) => results.iter().for_each(|result| survey.add(&calls, result)),
        }
    }
    survey.named.sort_by_key(|path| (path.matches('/').count(), *path));
    survey
}

fn call(block: &Block) -> Option<&ToolCall> {
    match block {
        Block::Call(call) => Some(call),
        Block::Text(_) | Block::Reasoning(_) => None,
    }
}

impl<'a> Survey<'a> {
    /// Whether nothing has been found to go on with.
    pub(super) fn is_empty(&self) -> bool {
        self.tree.files.is_empty() && self.tree.directories == 0 && self.named.is_empty()
    }

    /// The file that says most about the project: a README, else a manifest, else any that may be text.
    pub(super) fn best_file(&self) -> Option<&str> {
        let all = || self.named.iter().copied().chain(self.tree.files.iter().map(String::as_str));
        all()
            .find(|path| is_readme(path))
            .or_else(|| all().find(|path| is_manifest(path)))
            .or_else(|| all().find(|path| !is_binary(path)))
    }

    fn add(&mut self, calls: &[&ToolCall], result: &'a CallResult) {
        let Some(call) = calls.iter().find(|call| call.id == result.call) else { return };
        let input = tools::read(&call.name, &call.input).ok();
        self.tried |= matches!(input, Some(ToolInput::View(_)));
        if result.outcome.status != ToolStatus::Ok {
            return self.failures.push(failure(&call.name, &result.outcome));
        }
        let text = result.outcome.text.as_str();
        match input {
            Some(ToolInput::Ls(_)) => self.tree = tree::read(text),
            Some(ToolInput::Glob(_)) => self.named = text.lines().filter_map(named).collect(),
            Some(ToolInput::Grep(grep)) if grep.pattern == ENTRIES => self.entries = Some(hits(text)),
            Some(ToolInput::Grep(_)) => self.left = Some(hits(text)),
            Some(ToolInput::View(view)) => self.read = Some((view.file_path, lines(text))),
            _ => {}
        }
    }
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a path is that of a README.
pub(super) fn is_readme(path: &str) -> bool {
    base(path).to_ascii_lowercase().starts_with("readme")
}

/// Whether a path is that of a manifest.
pub(super) fn is_manifest(path: &str) -> bool {
    MANIFESTS.contains(&base(path))
}

/// The part of a file's name after the last dot, if there is one before it too.
pub(super) fn extension(path: &str) -> Option<&str> {
    base(path)
        .rsplit_once('.')
        .filter(|(stem, ending)| !stem.is_empty() && !ending.is_empty())
        .map(|(_, ending)| ending)
}

fn is_binary(path: &str) -> bool {
    let known = [
        "png", "jpg", "jpeg", "gif", "ico", "webp", "pdf", "zip", "gz", "xz", "tar", "woff", "woff2", "ttf",
        "bin",
    ];
    extension(path).is_some_and(|ending| known.contains(&ending.to_ascii_lowercase().as_str()))
}

/// A line of `glob` that is what was looked for.
fn named(line: &str) -> Option<&str> {
    let path = line.trim().trim_start_matches("./");
    (is_readme(path) || is_manifest(path)).then_some(path)
}

/// The places that `grep` found, as `path:line`.
fn hits(text: &str) -> Vec<String> {
    text.lines().filter_map(hit).collect()
}

fn hit(line: &str) -> Option<String> {
    let (path, rest) = line.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (numbered && !path.trim().is_empty())
        .then(|| format!("{}:{number}", path.trim().trim_start_matches("./")))
}

/// The lines of a file, without the numbers that `view` puts before them.
fn lines(text: &str) -> Vec<&str> {
    let numbered = |line: &'_ str| {
        let (number, _) = line.split_once('\t')?;
        let digits = number.trim();
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(number.len() + 1)
    };
    text.lines().filter_map(|line| line.get(numbered(line)?..)).collect()
}

fn failure(tool: &str, outcome: &ToolOutcome) -> String {
    let what = match outcome.status {
        ToolStatus::Ok | ToolStatus::Error => "failed",
        ToolStatus::Denied => "was not allowed",
        ToolStatus::Cancelled => "was cancelled",
        ToolStatus::Interrupted => "was interrupted",
        ToolStatus::NotReached => "was not run",
    };
    format!("{tool} {what} ({})", one_line(&outcome.text, 160))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_results_are_what_they_plainly_are() {
        assert_eq!(hit("src/main.rs:12: fn main() {"), Some("src/main.rs:12".into()));
        assert_eq!(hit("./a.py:3:def main():"), Some("a.py:3".into()));
        for line in [
            "",
            "3 matches",
            "src/main.rs:",
            "a:b:c",
            ":3: x",
            "Note: 12: x y".trim_start_matches("Note: 12"),
        ] {
            assert_eq!(hit(line), None, "{line}");
        }
        assert_eq!(lines("     1\t# A\n    12\t\tb\nplain\nx\ty\n(12 lines)"), ["# A", "\tb"]);
        assert_eq!(
            ["./x/README.md", "Cargo.toml", "No files", "x.rs"].map(named),
            [Some("x/README.md"), Some("Cargo.toml"), None, None]
        );
    }

    #[test]
    fn the_best_file_says_most() {
        let check = |named: &[&'static str], files: &[&str], expected: Option<&str>| {
            let tree = Tree { files: files.iter().map(|path| String::from(*path)).collect(), directories: 0 };
            let survey = Survey { named: named.to_vec(), tree, ..Survey::default() };
            assert_eq!(survey.best_file(), expected, "{named:?} {files:?}");
        };
        check(&["Cargo.toml", "a/README.md"], &[], Some("a/README.md"));
        check(&["go.mod"], &["readme"], Some("readme"));
        check(&["go.mod"], &["a.c"], Some("go.mod"));
        check(&[], &["a.PNG", ".zip", "b.c"], Some(".zip"));
        check(&[], &["a.png"], None);
        check(&[], &[], None);
    }
}
