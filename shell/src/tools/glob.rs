//! `glob`: files by a pattern of their path, the newest first.
//!
//! A pattern is only ever matched against paths below the directory that is searched, so it cannot reach out of it. The
//! plain beginning of a pattern that is absolute or goes up is taken for a directory, and judged like one.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use hostler_core::content::ToolStatus;
use hostler_core::tools::GlobInput;
use serde::Serialize;

use super::names;
use super::outcome::{Failure, Outcome, with_facts};
use super::paths::Place;
use super::quote;
use super::threads::Stop;
use super::walk::Entries;
use super::workspace::Workspace;

/// How many files are shown.
const FILES: usize = 100;

#[derive(Serialize)]
struct Facts {
    path: String,
    files: usize,
    truncated: bool,
}

/// Finds files.
pub(super) fn glob(workspace: &Workspace, input: &GlobInput, stop: &Stop) -> Outcome {
    let (base, pattern) = base(workspace, input)?;
    let pattern = compile(&pattern)?;
    if !base.path.is_dir() {
        return Err(names::not_a_directory(workspace, &base.path));
    }
    let mut entries = Entries::below(workspace, &base.path, None, stop);
    let found = search(&mut entries, &base.path, &pattern);
    let facts = Facts {
        path: base.path.to_string_lossy().into_owned(),
        files: found.len(),
        truncated: found.len() > FILES,
    };
    Ok(with_facts(ToolStatus::Ok, words(workspace, &found) + &entries.remark(), &facts))
}

/// The directory to search and the pattern for the paths below it.
pub(super) fn base(workspace: &Workspace, input: &GlobInput) -> Result<(Place, String), Failure> {
    let given = Path::new(input.path.as_deref().unwrap_or("."));
    let (beginning, rest) = split(&input.pattern);
    if rest.is_empty() || rest.split('/').any(|part| part == "..") {
        let pattern = quote::text(&input.pattern);
        return Err(Failure::new(format!(
            "The pattern {pattern} cannot be used: say where to look with path, and give a pattern for what is below it."
        )));
    }
    let directory = given.join(beginning);
    Ok((workspace.resolve(&directory.to_string_lossy())?, rest))
}

/// Splits a pattern that is absolute or goes up into its plain beginning and the rest; others have no beginning.
fn split(pattern: &str) -> (PathBuf, String) {
    let mut parts: Vec<_> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let absolute = pattern.starts_with('/');
    let mut beginning = PathBuf::from(if absolute { "/" } else { "" });
    if absolute || parts.contains(&"..") {
        let special = |part: &&str| part.contains(['*', '?', '[', '{', '\\']);
        let plain = parts.iter().position(special).unwrap_or(parts.len().saturating_sub(1));
        beginning.extend(parts.drain(..plain));
    }
    (beginning, parts.join("/"))
}

/// Reads a pattern in which `*` stays within a directory and `**` does not.
pub(super) fn compile(pattern: &str) -> Result<GlobMatcher, Failure> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| {
        let problem = quote::text(&error.to_string());
        Failure::new(format!("The pattern is not valid ({problem}); correct it, or escape with a backslash."))
    })
}

/// The files that fit, the newest first.
fn search(entries: &mut Entries, base: &Path, pattern: &GlobMatcher) -> Vec<PathBuf> {
    let fits = |path: &Path| path.strip_prefix(base).is_ok_and(|path| pattern.is_match(path));
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()) && fits(entry.path()))
        .map(|entry| (Reverse(changed(entry.path())), entry.into_path()))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().and_then(|found| found.modified()).ok()
}

fn words(workspace: &Workspace, found: &[PathBuf]) -> String {
    let mut text: String =
        found.iter().take(FILES).map(|path| format!("{}\n", workspace.show(path))).collect();
    if found.is_empty() {
        text.push_str("[no files found]\n");
    }
    if found.len() > FILES {
        text.push_str(&format!("[{FILES} of {} files; narrow the pattern to see the others]\n", found.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::Duration;

    fn lay() -> std::io::Result<(tempfile::TempDir, Workspace)> {
        let directory = tempfile::tempdir()?;
        fs::create_dir_all(directory.path().join("work/src"))?;
        fs::write(directory.path().join("outside.rs"), "")?;
        let workspace = Workspace::open(&directory.path().join("work"))?;
        for (age, name) in ["src/new.rs", "src/b.rs", "src/a.rs", "old.md"].iter().enumerate() {
            let file = File::create(workspace.root().join(name))?;
            let hours = [0, 1, 1, 2][age];
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - hours * 3600))?;
        }
        Ok((directory, workspace))
    }

    #[track_caller]
    fn check(workspace: &Workspace, pattern: &str, path: Option<&str>, expected: &str) {
        let input = GlobInput { pattern: pattern.to_owned(), path: path.map(str::to_owned) };
        let text = match glob(workspace, &input, &Stop::default()) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        };
        assert!(text.contains(expected), "{pattern}: {text}");
        assert!(!text.contains("outside"), "{pattern}: {text}");
    }

    #[test]
    fn files_are_found_newest_first() -> std::io::Result<()> {
        let (_directory, workspace) = lay()?;
        let sources = "src/new.rs\nsrc/a.rs\nsrc/b.rs\n";
        for (pattern, path, expected) in [
            ("**/*.rs", None, sources),
            ("./src/*.{rs,md}", None, sources),
            ("*.rs", Some("src"), sources),
            ("*.rs", None, "[no files found]"),
            ("../work/src/*.rs", None, sources),
            ("*/../*.rs", None, "cannot be used"),
            ("..", None, "cannot be used"),
            ("", None, "cannot be used"),
            ("[", None, "not valid"),
            ("*", Some("old.md"), "is not a directory"),
        ] {
            check(&workspace, pattern, path, expected);
        }
        let absolute = format!("{}/src/*.rs", workspace.root().display());
        check(&workspace, &absolute, None, sources);
        Ok(())
    }

    #[test]
    fn a_pattern_that_goes_out_is_judged_by_where_it_goes() -> std::io::Result<()> {
        let (_directory, workspace) = lay()?;
        for (pattern, inside) in [("../*.rs", false), ("/etc/*", false), ("src/*", true), ("src/../*", true)]
        {
            let input = GlobInput { pattern: pattern.to_owned(), path: None };
            assert_eq!(base(&workspace, &input).map(|(place, _)| place.inside), Ok(inside), "{pattern}");
        }
        Ok(())
    }
}
