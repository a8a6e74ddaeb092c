//! What stands for a text that is hidden: as long in bytes and characters, blank where it was blank, and the same for the
//! same text.
//!
//! A placeholder follows from the order in which texts are met, never from what they say, so that nobody can find a text
//! by hiding guesses. What patterns of rules are about, which are paths, hosts and commands, is hidden in parts, so that what
//! is hidden is fitted by what it was fitted by; how, and what that tells, is said in `names` and `commands`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::commands::Commands;
use super::names::Names;
use super::shape::{Fillers, Shapes, WIDER, places};
use crate::digest;

/// What a character of one byte becomes: every printable one except the two that JSON escapes. The first stands for
/// nothing in particular; the others tell texts of one shape apart.
const NARROW: &str =
    "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+*=~:;,!?#$%&@/|^<>()[]{}`'";

/// All placeholders of a record.
#[derive(Debug)]
pub(super) struct Placeholders {
    fillers: Fillers,
    /// By the text, and by whether words in it that decide something were left standing.
    known: BTreeMap<(bool, String), String>,
    shapes: Shapes,
    names: Names,
    hosts: Names,
    commands: Commands,
    /// The digests of what is hidden, and of what stands for it.
    digests: BTreeMap<String, String>,
    /// Words that a tool's schema lists, which say nothing of anybody.
    pub(super) words: BTreeSet<String>,
}

impl Default for Placeholders {
    fn default() -> Self {
        Self {
            fillers: Fillers { narrow: NARROW.chars().collect(), wide: WIDER },
            known: BTreeMap::new(),
            shapes: Shapes::default(),
            names: Names::of_paths(),
            hosts: Names::of_hosts(),
            commands: Commands::new(),
            digests: BTreeMap::new(),
            words: BTreeSet::new(),
        }
    }
}

impl Placeholders {
    /// What stands for a text.
    pub(super) fn hide(&mut self, text: &str) -> String {
        self.hide_but(text, &[])
    }

    /// The same, but these phrases are left standing.
    pub(super) fn hide_but(&mut self, text: &str, phrases: &[&str]) -> String {
        // A text that is a name is known by what stands for that, unless it is one that may have to stay blank.
        if let Some(name) = self.names.known(text).filter(|_| phrases.is_empty() && text.trim() == text) {
            return name.clone();
        }
        let key = (!phrases.is_empty(), text.to_string());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let places = places(text, &kept(text, phrases));
        let hidden = self.shapes.fresh(&places, &self.fillers, |hidden| !self.names.is_given(hidden));
        self.known.insert(key, hidden.clone());
        hidden
    }

    /// There is this path.
    pub(super) fn learn_path(&mut self, path: &str) {
        self.names.learn(path);
    }

    /// There is this pattern of paths.
    pub(super) fn learn_pattern(&mut self, pattern: &str) {
        self.names.learn_pattern(pattern);
    }

    /// There is this host or pattern of hosts.
    pub(super) fn learn_host(&mut self, host: &str) {
        self.hosts.learn_pattern(&host.to_ascii_lowercase());
    }

    /// There is a command of these words.
    pub(super) fn learn_words(&mut self, words: Vec<String>) {
        self.commands.learn(words);
    }

    /// There is this pattern of commands.
    pub(super) fn learn_command(&mut self, pattern: &str) {
        self.commands.learn_pattern(pattern);
    }

    /// All that rules are about is known. Nothing may be hidden before.
    pub(super) fn settle(&mut self) {
        self.names.settle();
        self.hosts.settle();
        self.commands.settle();
    }

    /// What stands for a path.
    pub(super) fn hide_path(&mut self, path: &str) -> String {
        self.names.hide(path)
    }

    /// What stands for a pattern of paths.
    pub(super) fn hide_pattern(&mut self, pattern: &str) -> String {
        self.names.hide_pattern(pattern)
    }

    /// What stands for a word of a command.
    pub(super) fn hide_word(&mut self, word: &str) -> String {
        self.commands.hide_word(word)
    }

    /// What stands for a pattern of commands.
    pub(super) fn hide_command(&mut self, pattern: &str) -> String {
        self.commands.hide_pattern(pattern)
    }

    /// What stands for a host or a pattern of hosts. Hosts are the same in capital letters.
    pub(super) fn hide_host(&mut self, host: &str) -> String {
        self.hosts.hide_pattern(&host.to_ascii_lowercase())
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
        placeholders.learn_pattern("/home/secret*.txt");
        placeholders.learn_path("/home/me/secret-1.txt");
        placeholders.settle();
        assert_eq!(placeholders.hide_path("/home/me/a*b"), "/xxxx/xx/xxx");
        assert_eq!(placeholders.hide_pattern(r"/home/me/a\*b"), r"/xxxx/xx/x\xx");
        assert_eq!(placeholders.hide_pattern("/home/me/**"), "/xxxx/xx/**");
        let [pattern, path] =
            [placeholders.hide_pattern("/home/secret*.txt"), placeholders.hide_path("/home/me/secret-1.txt")];
        let letters: Vec<_> = pattern.split('*').collect();
        assert!(letters[0].starts_with("/xxxx/") && !pattern.contains("secret"), "{pattern}");
        assert_eq!(path, alloc::format!("/xxxx/xx/{}xx{}", &letters[0][6..], letters[1]));
        assert_eq!(placeholders.hide("secret-1.txt"), path[9..]);
    }

    #[test]
    fn a_pattern_of_commands_or_hosts_still_fits_what_it_fitted() {
        let mut placeholders = Placeholders::default();
        placeholders.learn_command("cargo t*");
        for words in ["cargo test", "git total"] {
            placeholders.learn_words(words.split(' ').map(String::from).collect());
        }
        placeholders.settle();
        assert_eq!(placeholders.hide_command("git log 'a b' *"), "git xxx '0 0' *");
        let words = ["git", "log", "a b", "-n3"].map(|word| placeholders.hide_word(word));
        assert_eq!(words, ["git", "xxx", "0 0", "-xx"]);
        let pattern = placeholders.hide_command("cargo t*");
        let word = placeholders.hide_word("test");
        assert!(
            pattern != "cargo t*" && pattern == alloc::format!("cargo {}*", &word[..1]),
            "{pattern} {word}"
        );
        assert!(word.ends_with("xxx") && placeholders.hide_word("total") == "xxxxx", "{word}");
        assert_eq!(placeholders.hide_host("*.example.com"), "*.xxxxxxx.xxx");
        assert_eq!(placeholders.hide_host("API.example.com"), "axx.xxxxxxx.xxx");
    }

    #[test]
    fn a_phrase_that_decides_something_is_left_standing() {
        let mut placeholders = Placeholders::default();
        let hidden = placeholders.hide_but("Your Prompt Is Too Long: secret", &["prompt is too long"]);
        assert_eq!(hidden, "xxxxxPrompt Is Too Longxxxxxxxx");
    }
}
