//! The end of a tour: what the tools found, in a few lines that hold nothing else.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::survey::{Survey, base, extension, is_manifest, is_readme};
use crate::provider::excerpt::one_line;
use crate::quote::count;

/// How many names a line gives at most.
const NAMES: usize = 5;

/// How many lines `grep` finds at most.
const MATCHES: usize = 100;

/// What is said at the end of the tour.
pub(super) fn report(survey: &Survey<'_>) -> String {
    let findings = findings(survey);
    let start =
        if findings.is_empty() { "The tools found nothing here." } else { "This is what the tools found:" };
    let mut lines = Vec::from([start.to_string()]);
    if !findings.is_empty() {
        lines.push(bullets(&findings));
    }
    if !survey.failures.is_empty() {
        lines.push(format!("Not everything worked:\n{}", bullets(&survey.failures)));
    }
    lines.push(closing(survey.question));
    lines.join("\n\n")
}

fn bullets(lines: &[String]) -> String {
    let bullets: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    bullets.join("\n")
}

fn findings(survey: &Survey<'_>) -> Vec<String> {
    let all = [project(survey), contents(survey), manifests(survey), entries(survey), left(survey)];
    all.into_iter().flatten().collect()
}

fn project(survey: &Survey<'_>) -> Option<String> {
    let (path, lines) = survey.read.as_ref()?;
    let name = if is_manifest(path) { manifest_name(lines) } else { heading(lines) };
    let Some(name) = name.map(|name| one_line(&name, 100)).filter(|name| !name.is_empty()) else {
        return Some(format!("I read {path}, which names no project."));
    };
    let what = if is_manifest(path) || is_readme(path) { "Project" } else { "A file" };
    let start = first_words(lines).filter(|_| is_readme(path));
    let quote = start.map(|words| format!(", which says: \"{}\"", one_line(words, 160))).unwrap_or_default();
    Some(format!("{what}: {name} (from {path}{quote})"))
}

fn contents(survey: &Survey<'_>) -> Option<String> {
    let (files, directories) = (survey.tree.files.len(), survey.tree.directories);
    if files + directories == 0 {
        return None;
    }
    let total = format!(
        "{} and {}",
        count(files, "file"),
        if directories == 1 { "1 directory".to_string() } else { format!("{directories} directories") }
    );
    Some(format!("Contents, two levels deep: {total}{}", kinds(&survey.tree.files)))
}

/// The most frequent endings of files.
fn kinds(files: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for ending in files.iter().filter_map(|path| extension(path)) {
        *counts.entry(ending).or_default() += 1;
    }
    let mut kinds: Vec<_> = counts.into_iter().collect();
    kinds.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    let shown: Vec<String> =
        kinds.iter().take(NAMES).map(|(ending, count)| format!("{count} .{ending}")).collect();
    if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
}

fn manifests(survey: &Survey<'_>) -> Option<String> {
    let mut paths: Vec<&str> = survey.named.iter().copied().filter(|path| is_manifest(path)).collect();
    if paths.is_empty() {
        paths = survey.tree.files.iter().map(String::as_str).filter(|path| is_manifest(path)).collect();
    }
    let kind = match base(paths.first()?) {
        "Cargo.toml" => " (Rust)",
        "package.json" => " (JavaScript or TypeScript)",
        "pyproject.toml" => " (Python)",
        "go.mod" => " (Go)",
        _ => "",
    };
    Some(format!("Manifests: {}{kind}", some_of(&paths)))
}

fn entries(survey: &Survey<'_>) -> Option<String> {
    let places: Vec<&str> = survey.entries.as_ref()?.iter().map(String::as_str).collect();
    Some(if places.is_empty() {
        "Entry points: none found".into()
    } else {
        format!("Entry points: {}", some_of(&places))
    })
}

fn left(survey: &Survey<'_>) -> Option<String> {
    let places = survey.left.as_ref()?;
    let first = places.first().map(|place| format!(", the first in {place}")).unwrap_or_default();
    let least = if places.len() >= MATCHES { "at least " } else { "" };
    Some(format!("Notes of work left to do: {least}{}{first}", count(places.len(), "line")))
}

fn some_of(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| one_line(name, 100)).collect();
    match names.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn closing(question: &str) -> String {
    let asked = match one_line(question, 200) {
        line if line.is_empty() => String::new(),
        line => format!("You asked: \"{line}\" "),
    };
    format!(
        "{asked}I cannot answer that, because I am a script that gives the same tour whatever it is asked. Choose a \
         language model with --model provider/model to get an answer."
    )
}

/// The first heading of a text, in Markdown, in HTML or underlined; else its first line.
fn heading(lines: &[&str]) -> Option<String> {
    let marked = lines.iter().find_map(|line| {
        let line = line.trim();
        let hashed = line.strip_prefix('#').map(|rest| rest.trim_matches(['#', ' ']).to_string());
        hashed.or_else(|| line.starts_with("<h1").then(|| without_tags(line))).filter(|name| !name.is_empty())
    });
    let is_title = |pair: &&[&str]| is_rule(pair[1]) && !pair[0].trim().is_empty() && !is_rule(pair[0]);
    let underlined = || lines.windows(2).find(is_title).map(|pair| pair[0].to_string());
    let first = || lines.iter().find(|line| !line.trim().is_empty()).map(|line| line.to_string());
    marked.or_else(underlined).or_else(first)
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

fn without_tags(line: &str) -> String {
    line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect()
}

/// The first line of plain text after the first line.
fn first_words<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let plain = |line: &&&str| line.starts_with(|c: char| c.is_alphanumeric()) && !is_rule(line);
    let after_title = lines.iter().position(|line| !line.trim().is_empty())? + 1;
    lines.get(after_title..)?.iter().find(plain).copied()
}

/// The project's name as a manifest gives it: `name = "x"`, `"name": "x"` or `module x`.
fn manifest_name(lines: &[&str]) -> Option<String> {
    lines.iter().find_map(|line| {
        let line = line.trim();
        if let Some(module) = line.strip_prefix("module ") {
            return Some(module.trim().to_string());
        }
        let rest = line.strip_prefix("name").or_else(|| line.strip_prefix("\"name\""))?.trim_start();
        let value = rest.strip_prefix(['=', ':'])?.trim_start().strip_prefix('"')?;
        value.split('"').next().map(String::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<String>, expected: Option<&str>) {
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn headings_are_found() {
        check(heading(&["", "[![badge](x)](y)", "# The *Name* #", "## Use"]), Some("The *Name*"));
        check(heading(&["The Name", "========"]), Some("The Name"));
        check(heading(&["<p>", "<h1 align=\"center\"><b>The</b> Name</h1>"]), Some("The Name"));
        check(heading(&["", "just text"]), Some("just text"));
        check(heading(&["#", "---", ""]), Some("#"));
        check(heading(&[]), None);
    }

    #[test]
    fn names_are_found_in_manifests() {
        check(manifest_name(&["[package]", "name = \"hostler\""]), Some("hostler"));
        check(manifest_name(&["{", "  \"name\": \"left-pad\","]), Some("left-pad"));
        check(manifest_name(&["module example.org/x", ""]), Some("example.org/x"));
        check(manifest_name(&["[workspace]", "names = \"x\"", "name.workspace = true"]), None);
    }

    #[test]
    fn kinds_are_counted_the_most_frequent_first() {
        let files = ["a.rs", "b.rs", "c.md", ".gitignore", "LICENSE", "d.toml"].map(String::from);
        assert_eq!(kinds(&files), " (2 .rs, 1 .md, 1 .toml)");
        assert_eq!(kinds(&["LICENSE".to_string()]), "");
    }
}
