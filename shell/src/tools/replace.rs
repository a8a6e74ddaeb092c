//! Replacing text in a text: where it occurs, and what to say when that is nowhere or too often.

use super::files;
use super::nearest;
use super::quote;
use super::text::{is_crlf, to_crlf};

/// How many of too many places are named.
const NAMED: usize = 10;

/// What to replace by what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement<'a> {
    /// What there is; not empty.
    pub(super) old: &'a str,
    /// What there shall be.
    pub(super) new: &'a str,
    /// Every occurrence instead of the only one.
    pub(super) all: bool,
}

/// Replaces; returns the new text and how often it was replaced, or a sentence about why not, without its subject.
pub(super) fn replace(text: &str, asked: Replacement<'_>) -> Result<(String, usize), String> {
    // A model writes LF whatever the file has.
    let with_returns = (to_crlf(asked.old), to_crlf(asked.new));
    let crlf = Replacement { old: &with_returns.0, new: &with_returns.1, all: asked.all };
    let suits = if is_crlf(text) || !text.contains(asked.old) { crlf } else { asked };
    let times = match places(text, suits.old).take(2).count() {
        0 => return Err(nearest::describe(text, asked.old)),
        1 => 1,
        _ if asked.all => text.matches(suits.old).count(),
        _ => return Err(too_often(text, suits.old)),
    };
    if !fits(text, suits, times) {
        let limit = quote::size(files::WHOLE);
        return Err(format!("would be larger than {limit} then; change it with bash."));
    }
    Ok((text.replacen(suits.old, suits.new, times), times))
}

/// Where a text occurs, places that overlap included.
fn places<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text[from..].find(old)?;
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
        Some(at)
    })
}

/// Whether the new text could be read again. What a model asks for may be a million times what there is.
fn fits(text: &str, asked: Replacement<'_>, times: usize) -> bool {
    let grows = asked.new.len().saturating_sub(asked.old.len()).saturating_mul(times);
    u64::try_from(text.len().saturating_add(grows)).is_ok_and(|length| length <= files::WHOLE)
}

fn too_often(text: &str, old: &str) -> String {
    let mut lines: Vec<_> = places(text, old).take(NAMED).map(|at| line_of(text, at).to_string()).collect();
    let times = places(text, old).count();
    if times > NAMED {
        lines.push("...".to_owned());
    }
    format!(
        "has old_string {} (lines {}); add lines around it to tell them apart, or set replace_all.",
        quote::count(times, "time"),
        lines.join(", ")
    )
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, old: &str, new: &str, all: bool, expected: Result<(&str, usize), &str>) {
        let replaced = replace(text, Replacement { old, new, all });
        match (&replaced, expected) {
            (Ok((text, times)), Ok(expected)) => assert_eq!((text.as_str(), *times), expected),
            (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{reason}"),
            _ => panic!("{replaced:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn the_only_occurrence_is_replaced() {
        check("a b c", "b", "x", false, Ok(("a x c", 1)));
        check("a b c", "b ", "", false, Ok(("a c", 1)));
        check("a b b", "b", "x", false, Err("2 times (lines 1, 1)"));
        check("a\nb\nb", "b", "x", true, Ok(("a\nx\nx", 2)));
        check("aaa", "aa", "x", false, Err("2 times"));
        check("aaa", "aa", "x", true, Ok(("xa", 1)));
        check("\u{e9}\u{e9}", "\u{e9}", "x", true, Ok(("xx", 2)));
        check("a", "b", "x", false, Err("does not have old_string"));
        let (many, long) = ("a".repeat(1 << 12), "b".repeat(1 << 13));
        check(&many, "a", &long, true, Err("would be larger than 16 MiB"));
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, Ok(("x\r\ny\r\nz\r\nc\r\n", 1)));
        check("a\r\nb\r\n", "b", "x\ny", false, Ok(("a\r\nx\r\ny\r\n", 1)));
        check("a\r\nb\r\n", "a\r\nb", "x\r\ny", false, Ok(("x\r\ny\r\n", 1)));
        check("a\nb\n", "b", "x\ny", false, Ok(("a\nx\ny\n", 1)));
        check("a\r\nb\nc\n", "b\nc", "x\ny", false, Ok(("a\r\nx\ny\n", 1)));
        check("a\r\nb\r\nc\n", "a\nb", "x\ny", false, Ok(("x\r\ny\r\nc\n", 1)));
    }
}
