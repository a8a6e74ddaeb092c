//! `grep`: lines by a regular expression, in the order of their files' names.
//!
//! Binary and ignored files are left out, links are not followed, and a search that takes too long says what it has.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use hostler_core::content::{ToolOutcome, ToolStatus};
use hostler_core::tools::GrepInput;
use serde::Serialize;

use super::files::open_at_once;
use super::glob;
use super::hits::{Hits, MATCHES};
use super::names;
use super::outcome::{Failure, Outcome, with_facts};
use super::threads::{Stop, Watched};
use super::walk::{Entries, is_file};
use super::workspace::Workspace;

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest line that is searched; files with longer ones are left out.
const LINE_BYTES: usize = 64 * 1024 * 1024;

#[derive(Serialize)]
struct Facts {
    path: String,
    matches: usize,
    files: usize,
    truncated: bool,
    timed_out: bool,
}

/// A search as it stands.
struct Search<'a> {
    workspace: &'a Workspace,
    matcher: RegexMatcher,
    include: Option<Include>,
    searcher: Searcher,
    hits: Hits,
    clock: Watched<()>,
    timed_out: bool,
}

/// Which files are searched.
struct Include {
    pattern: GlobMatcher,
    /// Whether it is about the file's path and not just its name.
    whole_path: bool,
}

/// Finds lines.
pub(super) fn grep(workspace: &Workspace, input: &GrepInput, stop: &Stop) -> Outcome {
    let base = workspace.resolve(input.path.as_deref().unwrap_or("."))?.path;
    let deadline = Instant::now().checked_add(LIMIT);
    let mut search = Search {
        workspace,
        matcher: matcher(input)?,
        include: input.include.as_deref().map(include).transpose()?,
        searcher: searcher(),
        hits: Hits::default(),
        clock: Watched { source: (), stop: stop.clone(), deadline },
        timed_out: false,
    };
    if !base.exists() {
        return Err(names::missing(workspace, &base));
    }
    let remark = search.go_through(&base);
    Ok(search.outcome(&base, &remark))
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, Failure> {
    if input.pattern.is_empty() {
        return Err(Failure::new(
            "The pattern is empty; give a regular expression or, with literal_text, a text.",
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).line_terminator(Some(b'\n')).fixed_strings(input.literal_text);
    builder.build(&input.pattern).map_err(|error| {
        let problem = error.to_string();
        Failure::new(format!(
            "The pattern is not a valid regular expression; correct it, or set literal_text to search for it as it \
             stands.\n{problem}"
        ))
    })
}

fn include(pattern: &str) -> Result<Include, Failure> {
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(Failure::new(
            "include must be a pattern for names below the directory that is searched; say where to look with path.",
        ));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    Ok(Include { pattern: glob::compile(pattern)?, whole_path: pattern.contains('/') })
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LINE_BYTES))
        .line_number(true)
        .build()
}

impl Include {
    fn fits(&self, base: &Path, path: &Path) -> bool {
        let below = path.strip_prefix(base).ok().filter(|below| self.whole_path && below != &Path::new(""));
        let name = path.file_name().map(Path::new);
        below.or(name).is_some_and(|path| self.pattern.is_match(path))
    }
}

impl Search<'_> {
    /// Searches all files; returns what is to be said about those that could not be.
    fn go_through(&mut self, base: &Path) -> String {
        let mut entries = Entries::below(self.workspace, base, None, &self.clock.stop);
        while let Some(entry) = entries.next()
            && !self.timed_out
            && !self.hits.is_full()
        {
            let path = entry.path();
            let wanted = self.include.as_ref().is_none_or(|include| include.fits(base, path));
            let failed = is_file(&entry) && wanted && self.look_into(path).is_err();
            self.timed_out = self.clock.is_over();
            entries.unread += usize::from(failed && !self.timed_out);
        }
        entries.remark()
    }

    fn look_into(&mut self, path: &Path) -> io::Result<()> {
        let source = open_at_once(path)?;
        let (stop, deadline) = (self.clock.stop.clone(), self.clock.deadline);
        self.hits.begin(self.workspace.show(path));
        let file = Watched { source, stop, deadline };
        let searched = self.searcher.search_reader(&self.matcher, file, &mut self.hits);
        self.hits.end();
        searched
    }

    fn outcome(self, base: &Path, remark: &str) -> ToolOutcome {
        let timed_out = self.timed_out;
        let facts = Facts {
            path: base.to_string_lossy().into_owned(),
            matches: self.hits.matches(),
            files: self.hits.files(),
            truncated: self.hits.is_full() || timed_out,
            timed_out,
        };
        let binary = self.hits.binary() > 0 && base.is_file();
        let mut text = self.hits.into_text();
        if facts.matches == 0 {
            text.push_str(if binary { "[a binary file, which is not searched]\n" } else { "[no matches]\n" });
        }
        if facts.matches == MATCHES && facts.truncated {
            text.push_str(&format!("[{MATCHES} matches; there are more, narrow the search]\n"));
        }
        if timed_out {
            text.push_str("[stopped after 5 s; search a smaller directory or give include]\n");
        }
        with_facts(ToolStatus::Ok, text + remark, &facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lay() -> io::Result<(tempfile::TempDir, Workspace)> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().join("work");
        fs::create_dir_all(root.join("src"))?;
        let files: [(&str, &[u8]); 6] = [
            ("work/src/a.rs", b"fn one() {}\nlet x = a.b();\n"),
            ("work/src/b.txt", b"fn two\r\n"),
            ("work/binary", b"fn three\n\0"),
            ("work/log", b"fn ignored\n"),
            ("work/.gitignore", b"log\n"),
            ("outside", b"fn outside\n"),
        ];
        for (name, content) in files {
            fs::write(directory.path().join(name), content)?;
        }
        fs::write(root.join("utf16"), b"\xff\xfef\0n\0 \0u\0\n\0")?;
        std::os::unix::fs::symlink("../outside", root.join("link"))?;
        let workspace = Workspace::open(&root)?;
        Ok((directory, workspace))
    }

    fn look(workspace: &Workspace, pattern: &str, path: Option<&str>, include: Option<&str>) -> String {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (literal_text, pattern) = match pattern.strip_prefix("literally ") {
            Some(pattern) => (true, pattern.to_owned()),
            None => (false, pattern.to_owned()),
        };
        let input = GrepInput { pattern, path: owned(path), include: owned(include), literal_text };
        match grep(workspace, &input, &Stop::default()) {
            Ok(outcome) => outcome.text,
            Err(failure) => failure.sentence().to_owned(),
        }
    }

    #[test]
    fn lines_are_found_where_they_may_be() -> io::Result<()> {
        let (_directory, workspace) = lay()?;
        let all = "src/a.rs:1: fn one() {}\nsrc/b.txt:1: fn two\nutf16:1: fn u\n";
        for (pattern, path, include, expected) in [
            ("^fn", None, None, all),
            ("fn two$", None, None, "src/b.txt:1: fn two\n"),
            ("fn", None, Some("*.rs"), "src/a.rs:1: fn one() {}\n"),
            ("fn", None, Some("src/*.txt"), "src/b.txt:1: fn two\n"),
            ("fn", Some("src/a.rs"), None, "src/a.rs:1: fn one() {}\n"),
            ("literally a.b()", None, None, "src/a.rs:2: let x = a.b();\n"),
            ("fn", Some("binary"), None, "[a binary file, which is not searched]\n"),
            ("nowhere", None, None, "[no matches]\n"),
            ("fn", Some("x"), None, "There is no x; use glob or ls to find it."),
        ] {
            assert_eq!(look(&workspace, pattern, path, include), expected, "{pattern} {path:?} {include:?}");
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_searched_for_is_said_clearly() -> io::Result<()> {
        let (_directory, workspace) = lay()?;
        for (pattern, include, reason) in [
            ("(", None, "not a valid regular expression"),
            ("", None, "The pattern is empty"),
            ("fn", Some("../*"), "include must be"),
            ("fn", Some("/etc/*"), "include must be"),
            ("fn", Some("["), "not valid"),
        ] {
            let text = look(&workspace, pattern, None, include);
            assert!(text.contains(reason), "{pattern} {include:?}: {text}");
        }
        Ok(())
    }

    #[test]
    fn many_matches_and_long_lines_are_cut() -> io::Result<()> {
        let (_directory, workspace) = lay()?;
        let long = format!("needle{}\n", "x".repeat(600));
        fs::write(workspace.root().join("many"), long.repeat(MATCHES))?;
        let line = format!(": needle{} [...]\n", "x".repeat(494));
        let text = look(&workspace, "needle", None, None);
        assert_eq!(text.matches(&line).count(), MATCHES);
        assert!(!text.contains("there are more"));
        fs::write(workspace.root().join("more"), "needle")?;
        assert!(look(&workspace, "needle", None, None).contains("[100 matches; there are more"));
        Ok(())
    }

    #[test]
    fn a_search_that_is_stopped_ends() -> io::Result<()> {
        let (_directory, workspace) = lay()?;
        let input = GrepInput { pattern: "fn".into(), path: None, include: None, literal_text: false };
        let mut search = Search {
            workspace: &workspace,
            matcher: matcher(&input).map_err(|_| io::ErrorKind::InvalidInput)?,
            include: None,
            searcher: searcher(),
            hits: Hits::default(),
            clock: Watched { source: (), stop: Stop::default(), deadline: Some(Instant::now()) },
            timed_out: false,
        };
        let remark = search.go_through(workspace.root());
        let text = search.outcome(workspace.root(), &remark).text;
        assert_eq!(text, "[no matches]\n[stopped after 5 s; search a smaller directory or give include]\n");
        Ok(())
    }
}
