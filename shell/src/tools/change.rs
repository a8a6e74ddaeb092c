//! Changing a text file: what it is now, whether it may be changed, and what the change looks like.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;

use super::diff;
use super::files;
use super::outcome::Failure;
use super::quote;
use super::save::{self, NotSaved};
use super::text::{Layout, sniff};
use super::workspace::{Digest, Known, Workspace};

/// A text file as it is before it is changed.
#[derive(Debug)]
pub(super) struct Existing {
    /// Its text.
    pub(super) text: String,
    layout: Layout,
    digest: Digest,
}

/// What a change did, for people and programs.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    path: String,
    created: bool,
    /// How many lines were added.
    pub(super) additions: usize,
    /// How many lines were removed.
    pub(super) removals: usize,
    diff: String,
    diff_truncated: bool,
}

/// Reads a file that is to be changed; none if there is nothing.
pub(super) fn load(workspace: &Workspace, path: &Path) -> Result<Option<Existing>, Failure> {
    let missing = path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if missing {
        return Ok(None);
    }
    let name = workspace.show(path);
    let mut file = files::open(workspace, path)?;
    let bytes = files::beginning(&mut file).map_err(|error| Failure::io("read", &name, &error))?;
    if !files::is_whole(&bytes) {
        let limit = quote::size(files::WHOLE);
        return Err(Failure::new(format!("{name} is larger than {limit}; change it with bash.")));
    }
    let Some((layout, text)) = sniff(&bytes).and_then(|layout| Some((layout, layout.decode(&bytes)?))) else {
        return Err(Failure::new(format!("{name} is not a text in UTF-8 or UTF-16; change it with bash.")));
    };
    Ok(Some(Existing { text, layout, digest: Digest::of(&bytes) }))
}

impl Existing {
    /// Makes sure that the file is as it was last viewed. One without text has nothing to lose.
    pub(super) fn require_known(&self, workspace: &Workspace, path: &Path) -> Result<(), Failure> {
        let name = workspace.show(path);
        match workspace.knows(path, self.digest) {
            Known::Never if !self.text.is_empty() => {
                Err(Failure::new(format!("{name} has not been viewed; view it first, then change it.")))
            }
            Known::Changed => Err(changed(&name)),
            Known::Current | Known::Never => Ok(()),
        }
    }

    /// Takes note of the file's content, which whoever asked has just proved to know.
    pub(super) fn note(&self, workspace: &Workspace, path: &Path) {
        workspace.saw(path, self.digest);
    }
}

/// Gives a file that text in place of what it has.
pub(super) fn put(
    workspace: &Workspace,
    path: &Path,
    existing: Option<&Existing>,
    text: &str,
) -> Result<Facts, Failure> {
    let name = workspace.show(path);
    let bytes = existing.map_or(Layout::default(), |existing| existing.layout).encode(text);
    if !files::is_whole(&bytes) {
        let limit = quote::size(files::WHOLE);
        return Err(Failure::new(format!("{name} would be larger than {limit}; write it with bash.")));
    }
    let saved = match existing {
        Some(existing) => save::replace(path, &bytes, existing.digest),
        None => save::create(path, &bytes),
    };
    saved.map_err(|problem| match problem {
        NotSaved::Raced => changed(&name),
        NotSaved::Io(error) => Failure::io("written", &name, &error),
    })?;
    workspace.saw(path, Digest::of(&bytes));
    Ok(facts(path, &name, existing, text))
}

fn changed(name: &str) -> Failure {
    Failure::new(format!("{name} has changed since it was viewed; view it again, then change it."))
}

fn facts(path: &Path, name: &str, existing: Option<&Existing>, text: &str) -> Facts {
    let old = existing.map_or("", |existing| existing.text.as_str());
    let from = if existing.is_some() { name } else { "/dev/null" };
    let diff = diff::between(old, text, from, name);
    Facts {
        path: path.to_string_lossy().into_owned(),
        created: existing.is_none(),
        additions: diff.additions,
        removals: diff.removals,
        diff: diff.text,
        diff_truncated: diff.is_cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_as_a_diff() {
        let existing =
            Existing { text: "a\nb\nc\n".into(), layout: Layout::default(), digest: Digest::of(b"") };
        let facts = facts(Path::new("/w/f"), "f", Some(&existing), "a\nB\nc\nd\n");
        assert_eq!(facts.diff, "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n");
        assert_eq!((facts.additions, facts.removals, facts.created), (2, 1, false));
    }
}
