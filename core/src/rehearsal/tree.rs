//! A directory listing as the `ls` tool prints it, read without relying on how exactly it does.
//!
//! Deeper lines are indented more, directories end in a slash or have deeper lines below them, and branches drawn with
//! lines or dashes are fine. What reads like a remark is left out.

use alloc::string::String;
use alloc::vec::Vec;

/// What a listing names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// The paths of the files, in the listing's order.
    pub(super) files: Vec<String>,
    /// How many directories there are.
    pub(super) directories: usize,
}

/// An entry of a listing, with how far its line is indented.
struct Entry {
    indent: usize,
    path: String,
    directory: bool,
}

/// Reads a listing.
pub(super) fn read(listing: &str) -> Tree {
    let mut entries: Vec<Entry> = Vec::new();
    // The entries that the next line may be in, outermost first.
    let mut open: Vec<usize> = Vec::new();
    for (indent, name) in listing.lines().filter_map(line) {
        while open.last().is_some_and(|&at| entries[at].indent >= indent) {
            open.pop();
        }
        let path = match open.last() {
            Some(&parent) => {
                entries[parent].directory = true;
                join(&entries[parent].path, name)
            }
            None if entries.is_empty() && is_root(name) => String::new(),
            None => name.into(),
        };
        open.push(entries.len());
        let directory = path.is_empty() || path.ends_with('/');
        entries.push(Entry { indent, path, directory });
    }
    sorted(entries)
}

fn sorted(entries: Vec<Entry>) -> Tree {
    let mut tree = Tree::default();
    for entry in entries.into_iter().filter(|entry| !entry.path.is_empty()) {
        if entry.directory {
            tree.directories += 1;
        } else {
            tree.files.push(entry.path);
        }
    }
    tree
}

fn join(parent: &str, name: &str) -> String {
    let parent = parent.trim_end_matches('/');
    if parent.is_empty() { name.into() } else { alloc::format!("{parent}/{name}") }
}

/// The indentation and the name that a line holds.
fn line(text: &str) -> Option<(usize, &str)> {
    let drawn = |c: char| c.is_whitespace() || "│├└─|`".contains(c);
    let name = text.trim_start_matches(drawn);
    let name = ["-- ", "- ", "* "].iter().find_map(|bullet| name.strip_prefix(bullet)).unwrap_or(name);
    let indent = text.chars().count() - name.chars().count();
    // Where a link leads is not a part of its name.
    let name = name.split(" -> ").next().unwrap_or(name).trim();
    (!name.is_empty() && !is_remark(name)).then_some((indent, name))
}

/// Whether the first line names the directory that is listed and not something in it.
fn is_root(name: &str) -> bool {
    name == "." || name == "./" || name.starts_with('/') || name.ends_with(':')
}

/// Whether a line says something about the listing: in parentheses, or in a sentence.
fn is_remark(name: &str) -> bool {
    let ellipsis = name.starts_with('…') || name.starts_with("...");
    let aside = name.starts_with(['(', '[']) && name.ends_with([')', ']']);
    let sentence = name.ends_with(['.', ':', '!', '…']) || !name.contains(['.', '/']);
    ellipsis || aside || (name.split_whitespace().count() >= 3 && sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listing: &str, files: &[&str], directories: usize) {
        let tree = read(listing);
        assert_eq!(tree.files, files, "{listing}");
        assert_eq!(tree.directories, directories, "{listing}");
    }

    #[test]
    fn listings_of_every_look() {
        let files = ["src/a/b.rs", "src/main.rs", "my notes.md"];
        check("src/\n  a/\n    b.rs\n  main.rs\nmy notes.md\n", &files, 2);
        check("src\n\ta\n\t\tb.rs\n\tmain.rs\nmy notes.md", &files, 2);
        check("- src/\n  - a/\n    - b.rs\n  - main.rs\n- my notes.md", &files, 2);
        check("/home/x/\n  src/\n    a/\n      b.rs\n    main.rs\n  my notes.md", &files, 2);
        check(".\n├── src\n│   ├── a\n│   │   └── b.rs\n│   └── main.rs\n└── my notes.md", &files, 2);
        check(".\n|-- src\n|   |-- a\n|   |   `-- b.rs\n|   `-- main.rs\n`-- my notes.md", &files, 2);
        check("./\n  src/\n    a/\n      b.rs\n    main.rs\n  my notes.md -> src/a/b.rs\n", &files, 2);
        check("src/a/b.rs\nsrc/main.rs\nmy notes.md\n(3 entries)", &files, 0);
    }

    #[test]
    fn remarks_are_no_files() {
        check("", &[], 0);
        check("(empty)\n", &[], 0);
        check("./\n[nothing in it, or nothing that is not ignored]\n", &[], 0);
        check("The directory is empty.", &[], 0);
        check("No files found", &[], 0);
        check("/w/:\n", &[], 0);
        check(
            "a.rs\n... and 3 more\n[cut after 1000 entries]\nThere are more than 1000 entries.",
            &["a.rs"],
            0,
        );
        check("a.rs\n(odd) name.txt\n.hidden", &["a.rs", "(odd) name.txt", ".hidden"], 0);
    }
}
