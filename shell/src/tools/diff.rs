//! What a change looks like: lines that were added and removed, as a unified diff of bounded size.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// How many bytes of a diff are kept.
const KEPT: usize = 100_000;
/// How long the smallest diff is looked for before a larger one will do.
const TIME: Duration = Duration::from_millis(500);
/// How many bytes of text are compared. Of longer ones all between the first line and the last that differ counts as
/// changed: comparing costs some fifty times the memory.
const COMPARED: usize = 1 << 20;

/// What differs between two texts.
pub(super) struct Diff {
    pub(super) additions: usize,
    pub(super) removals: usize,
    /// The unified diff, as far as it is kept.
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// The difference between two texts, with the names that they have in its head.
pub(super) fn between(old: &str, new: &str, from: &str, to: &str) -> Diff {
    let mut diff = if old.len().max(new.len()) <= COMPARED {
        exact(old, new, from, to)
    } else {
        rough(old, new, from, to)
    };
    diff.is_cut |= cut(&mut diff.text);
    diff
}

fn exact(old: &str, new: &str, from: &str, to: &str) -> Diff {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let text = diff.unified_diff().context_radius(3).header(from, to).to_string();
    Diff { additions: count(ChangeTag::Insert), removals: count(ChangeTag::Delete), text, is_cut: false }
}

/// One piece, without lines around it.
fn rough(old: &str, new: &str, from: &str, to: &str) -> Diff {
    let before: usize = old
        .split_inclusive('\n')
        .zip(new.split_inclusive('\n'))
        .take_while(same)
        .map(|(line, _)| line.len())
        .sum();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after: usize =
        lines_back(old_rest).zip(lines_back(new_rest)).take_while(same).map(|(line, _)| line.len()).sum();
    let removed = &old_rest[..old_rest.len() - after];
    let added = &new_rest[..new_rest.len() - after];
    let first = old[..before].split_inclusive('\n').count() + 1;
    let (removals, additions) = (removed.split_inclusive('\n').count(), added.split_inclusive('\n').count());
    let start = |lines| if lines == 0 { first - 1 } else { first };
    let head = format!(
        "--- {from}\n+++ {to}\n@@ -{},{removals} +{},{additions} @@\n",
        start(removals),
        start(additions)
    );
    let mut text = head;
    push(&mut text, '-', removed);
    push(&mut text, '+', added);
    let whole = text.len() + removals + additions;
    Diff { additions, removals, is_cut: whole < removed.len() + added.len(), text }
}

fn same(pair: &(&str, &str)) -> bool {
    pair.0 == pair.1
}

/// The lines of a text from its end on, each with its line end.
fn lines_back(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let last = rest.char_indices().next_back()?.0;
        let start = rest[..last].rfind('\n').map_or(0, |at| at + 1);
        let line = &rest[start..];
        rest = &rest[..start];
        Some(line)
    })
}

/// Adds lines, but not many more than are kept.
fn push(text: &mut String, sign: char, lines: &str) {
    for line in lines.split_inclusive('\n') {
        if text.len() > KEPT {
            return;
        }
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Cuts a diff that is too long after the last line that fits.
fn cut(diff: &mut String) -> bool {
    if diff.len() <= KEPT {
        return false;
    }
    let fits = diff.as_bytes().iter().take(KEPT).rposition(|byte| *byte == b'\n');
    diff.truncate(fits.map_or(0, |at| at + 1));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_between_lines() {
        for text in ["x\u{e9}\n".repeat(KEPT), "x\u{e9}\n".repeat(COMPARED)] {
            let diff = between("", &text, "/dev/null", "f");
            assert!(diff.is_cut && diff.text.ends_with("+x\u{e9}\n") && diff.text.len() <= KEPT);
            assert_eq!((diff.additions, diff.removals), (text.lines().count(), 0));
        }
    }

    #[test]
    fn long_texts_are_compared_at_their_ends() {
        let lines = |name: &str| (0..100_000).map(|number| format!("{name} {number}\n")).collect::<String>();
        let (head, tail) = (lines("head"), lines("tail"));
        for (old, new, says) in [
            ("a\nb\n", "a\nc\nd\n", "@@ -100002,1 +100002,2 @@\n-b\n+c\n+d\n"),
            ("a\n", "", "@@ -100001,1 +100000,0 @@\n-a\n"),
            ("", "a\n", "@@ -100000,0 +100001,1 @@\n+a\n"),
            ("a\na\n", "a\n", "@@ -100002,1 +100001,0 @@\n-a\n"),
        ] {
            let diff = between(&format!("{head}{old}{tail}"), &format!("{head}{new}{tail}"), "f", "f");
            assert_eq!(diff.text, format!("--- f\n+++ f\n{says}"));
            assert!(!diff.is_cut);
        }
        let diff = between(&format!("{head}a"), &format!("{head}b\n"), "f", "f");
        assert!(diff.text.ends_with("-a\n\\ No newline at end of file\n+b\n"), "{}", diff.text);
    }
}
