//! What stands for a text that is hidden: as long in bytes and characters, blank where it was blank, and the same for the
//! same text.
//!
//! A placeholder follows from the order in which texts are met, never from what they say, so that nobody can find a text
//! by hiding guesses.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{digest, tools};

/// What a character of one byte becomes: every printable one except the two that JSON escapes. The first stands for
/// nothing in particular; the others tell texts of one shape apart.
const NARROW: &[u8; 92] =
    b"xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+*=~:;,!?#$%&@/|^<>()[]{}`'";

/// What longer characters become, by how many bytes they have: where a stretch of such characters begins, and how many
/// of it are used.
const WIDER: [(u32, u32); 3] = [(0x0400, 0x130), (0x4e00, 0x5000), (0x1f300, 0x300)];

/// All placeholders of a record.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// By the text, and by whether words in it that decide something were left standing.
    known: BTreeMap<(bool, String), String>,
    /// By the words of commands.
    of_commands: BTreeMap<String, String>,
    /// How many texts of each shape there are.
    shapes: BTreeMap<String, u64>,
    /// The digests of what is hidden, and of what stands for it.
    digests: BTreeMap<String, String>,
    /// Words that a tool's schema lists, which say nothing of anybody.
    pub(super) words: BTreeSet<String>,
}

impl Placeholders {
    /// What stands for a text.
    pub(super) fn hide(&mut self, text: &str) -> String {
        self.hide_but(text, &[])
    }

    /// The same, but these phrases are left standing.
    pub(super) fn hide_but(&mut self, text: &str, phrases: &[&str]) -> String {
        let key = (!phrases.is_empty(), text.to_string());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let kept = kept(text, phrases);
        let hidden = self.fresh(text, &kept);
        self.known.insert(key, hidden.clone());
        hidden
    }

    /// What stands for a path: each name in it is hidden by itself, so that what lies in a directory still does.
    pub(super) fn hide_path(&mut self, path: &str) -> String {
        path.split('/').map(|name| self.hide(name)).collect::<Vec<_>>().join("/")
    }

    /// What stands for a pattern of paths. One that only one path fits is what only the hidden path fits.
    pub(super) fn hide_pattern(&mut self, pattern: &str) -> String {
        let hide = |name: &str| match tools::literal(name) {
            Some(name) => tools::escaped(&self.hide(&name)),
            None if name.bytes().all(|byte| byte == b'*') => name.to_string(),
            None => self.hide(name),
        };
        pattern.split('/').map(hide).collect::<Vec<_>>().join("/")
    }

    /// What stands for a word of a command. Decisions ask which of a few programs it names and whether it is a plain name, so
    /// those programs and what makes a word no plain name are left standing.
    pub(super) fn hide_word(&mut self, word: &str) -> String {
        if tools::tells(word) {
            return word.to_string();
        }
        if let Some(known) = self.of_commands.get(word) {
            return known.clone();
        }
        let odd = word.char_indices().filter(|(_, char)| !char.is_alphanumeric());
        let hidden = self.fresh(word, &odd.map(|(at, _)| at).collect());
        self.of_commands.insert(word.to_string(), hidden.clone());
        hidden
    }

    /// What stands for a text that has not been met.
    fn fresh(&mut self, text: &str, kept: &BTreeSet<usize>) -> String {
        let count = self.shapes.entry(fill(text, kept, 0)).or_default();
        let hidden = fill(text, kept, *count);
        *count += 1;
        hidden
    }

    /// What stands for a pattern of commands: each word in it is hidden by itself, as those of commands are.
    pub(super) fn hide_command(&mut self, pattern: &str) -> String {
        let hide = |word: &str| match tools::literal(word) {
            Some(word) => tools::escaped(&tools::line(&[self.hide_word(&unquoted(&word))])),
            None => word.split('*').map(|part| self.hide_word(part)).collect::<Vec<_>>().join("*"),
        };
        words(pattern).into_iter().map(hide).collect::<Vec<_>>().join(" ")
    }

    /// What stands for a host or a pattern of hosts: each name in it is hidden by itself.
    pub(super) fn hide_host(&mut self, host: &str) -> String {
        let hide = |name: &str| if name == "*" { name.to_string() } else { self.hide(name) };
        host.split('.').map(hide).collect::<Vec<_>>().join(".")
    }

    /// From here on the digest of a text becomes the digest of what stands for it.
    pub(super) fn pair_digests(&mut self, text: &str, hidden: &str) {
        self.pair(digest::of(text.as_bytes()), digest::of(hidden.as_bytes()));
    }

    /// From here on a digest becomes another.
    pub(super) fn pair(&mut self, digest: String, hidden: String) {
        self.digests.insert(digest, hidden);
    }

    /// What stands for a digest. That of a text that is not in the record is a text itself.
    pub(super) fn digest(&mut self, digest: &str) -> String {
        let known = self.digests.get(digest).cloned();
        known.unwrap_or_else(|| self.hide(digest))
    }
}

/// The words of a pattern of commands, each as it is written.
fn words(pattern: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_between = |char: char| {
        is_quoted ^= char == '\'';
        char == ' ' && !is_quoted
    };
    pattern.split(is_between).collect()
}

/// A word without the quotes that a shell needs.
fn unquoted(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => inner.replace(r"'\''", "'"),
        None => word.to_string(),
    }
}

/// The stretches of a text that stay: blanks at both ends and the phrases. Decisions ask for no more than whether a text
/// is blank, how long it is, and which of a few phrases an error has in it.
fn kept(text: &str, phrases: &[&str]) -> BTreeSet<usize> {
    let lower = text.to_ascii_lowercase();
    let begin = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let found = phrases.iter().flat_map(|phrase| {
        let at = lower.match_indices(phrase);
        at.flat_map(|(at, phrase)| at..at + phrase.len()).collect::<BTreeSet<_>>()
    });
    (0..begin).chain(end..text.len()).chain(found).collect()
}

/// The text with its characters replaced by the digits of a number.
fn fill(text: &str, kept: &BTreeSet<usize>, mut number: u64) -> String {
    let mut filled = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        // What JSON escapes stays as it is, so that a text is as long within JSON as without.
        if char.is_control() || matches!(char, '"' | '\\') || kept.contains(&at) {
            filled.push(char);
        } else {
            filled.push(digit(char.len_utf8(), &mut number));
        }
    }
    filled
}

fn digit(bytes: usize, number: &mut u64) -> char {
    let mut next = |count: u64| {
        let digit = *number % count;
        *number /= count;
        digit
    };
    match bytes.checked_sub(2).and_then(|wide| WIDER.get(wide)) {
        None => NARROW.get(next(NARROW.len() as u64) as usize).map_or('x', |byte| char::from(*byte)),
        Some((first, count)) => char::from_u32(first + next(u64::from(*count)) as u32).unwrap_or('x'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_as_long_and_the_same_for_the_same_text() {
        let mut placeholders = Placeholders::default();
        for text in ["", "a", "  two words\n", "naïve", "日本語 und 😀", "line\nline\t\"quoted\" \\ "] {
            let hidden = placeholders.hide(text);
            assert_eq!(
                (hidden.len(), hidden.chars().count()),
                (text.len(), text.chars().count()),
                "{text:?}"
            );
            assert_eq!(hidden.trim().is_empty(), text.trim().is_empty(), "{text:?}");
            assert_eq!(placeholders.hide(text), hidden);
        }
        assert_eq!(placeholders.hide("  two words\n"), "  xxxxxxxxx\n");
    }

    #[test]
    fn other_texts_have_other_placeholders() {
        let mut placeholders = Placeholders::default();
        let all = (' '..='~').map(|char| placeholders.hide(&char.to_string()));
        assert_eq!(all.collect::<BTreeSet<_>>().len(), 95);
        let all = (0..5_000).map(|n| placeholders.hide(&alloc::format!("{n:05}")));
        assert_eq!(all.collect::<BTreeSet<_>>().len(), 5_000);
    }

    #[test]
    fn names_in_a_path_are_hidden_one_by_one_and_a_pattern_still_fits() {
        let mut placeholders = Placeholders::default();
        let path = placeholders.hide_path("/home/me/a*b");
        assert_eq!(path, "/xxxx/xx/xxx");
        assert_eq!(placeholders.hide_pattern("/home/me/a\\*b"), path);
        assert_eq!(placeholders.hide_pattern("/home/me/**"), "/xxxx/xx/**");
        assert!(!placeholders.hide_pattern("/home/secret*.txt").contains("secret"));
    }

    #[test]
    fn a_pattern_of_commands_or_hosts_still_fits_what_it_fitted() {
        let mut placeholders = Placeholders::default();
        assert_eq!(placeholders.hide_command("git log 'a b' *"), "git xxx 'x x' *");
        let words = ["git", "log", "a b", "-n3"].map(|word| placeholders.hide_word(word));
        assert_eq!(words, ["git", "xxx", "x x", "-xx"]);
        assert_eq!(placeholders.hide_command("git secret -m*"), "git xxxxxx -x*");
        assert_eq!(placeholders.hide_host("*.example.com"), "*.xxxxxxx.axx");
        assert_eq!(placeholders.hide_host("api.example.com"), "bxx.xxxxxxx.axx");
    }

    #[test]
    fn a_phrase_that_decides_something_is_left_standing() {
        let mut placeholders = Placeholders::default();
        let hidden = placeholders.hide_but("Your Prompt Is Too Long: secret", &["prompt is too long"]);
        assert_eq!(hidden, "xxxxxPrompt Is Too Longxxxxxxxx");
    }
}
