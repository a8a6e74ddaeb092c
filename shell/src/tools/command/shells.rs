//! Shells in shells: `bash -c`, `sh -c`, `eval`, `trap`.

use super::Found;
use super::word::Word;

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Bash's.
    Bash,
    /// What is common to shells of Bourne's kind.
    Plain,
    /// Another one, in which the same text may mean something else.
    Other,
}

const BASH: &[&str] = &["bash", "rbash"];
const PLAIN: &[&str] = &["sh", "dash", "ash", "ksh", "mksh", "yash"];
const OTHER: &[&str] =
    &["zsh", "fish", "csh", "tcsh", "nu", "xonsh", "elvish", "pwsh", "powershell", "cmd.exe"];

impl Dialect {
    fn of(name: &str) -> Option<Self> {
        match name {
            _ if BASH.contains(&name) => Some(Self::Bash),
            _ if PLAIN.contains(&name) => Some(Self::Plain),
            _ if OTHER.contains(&name) => Some(Self::Other),
            _ => None,
        }
    }

    /// Whether a text is known to mean in this language what it means in bash.
    pub(super) fn agrees(self, source: &str) -> bool {
        match self {
            Self::Bash => true,
            Self::Plain => {
                !["$'", "$\"", "<(", ">(", "<<<", "|&", "&>", ">&", "[[", "((", "function", "\\", "=~"]
                    .iter()
                    .any(|only_bash| source.replace("2>&1", "").contains(only_bash))
            }
            Self::Other => false,
        }
    }
}

/// Whether a program is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    Dialect::of(name).is_some()
}

impl Found {
    /// A shell that is given a script, the name of one, or nothing, so that it reads its standard input.
    pub(super) fn shell(&mut self, name: &str, words: &[Word]) {
        let Some(dialect) = Dialect::of(name) else { return self.unsure() };
        let mut is_script = false;
        let mut index = 1;
        while let Some(word) = words.get(index) {
            index += 1;
            match word.text.as_str() {
                "--norc" | "--noprofile" | "--posix" | "--login" => {}
                "--" => break,
                "--version" if words.len() == 2 => return,
                options if options.len() > 1 && options.starts_with(['-', '+']) && word.known => {
                    let letters = &options[1..];
                    is_script |=
                        options.starts_with('-') && !options.starts_with("--") && letters.contains('c');
                    index += letters.matches('o').count();
                    if !letters.chars().all(|letter| "euxvnlco".contains(letter)) {
                        self.unsure();
                    }
                }
                _ => {
                    index -= 1;
                    break;
                }
            }
        }
        match words.get(index) {
            Some(script) if is_script => match script.literal() {
                Some(text) => self.script(text, dialect),
                None => self.unsure(),
            },
            // The name of a script, which is a program like any other.
            Some(_) => self.uses("", words),
            None => self.unsure(),
        }
    }

    /// A text that is executed as it is.
    pub(super) fn script_of(&mut self, text: &str) {
        self.script(text, Dialect::Bash);
    }

    pub(super) fn eval(&mut self, words: &[Word]) {
        let texts: Option<Vec<_>> = words.iter().skip(1).map(Word::literal).collect();
        match texts {
            Some(texts) if texts.first().is_none_or(|text| !text.starts_with('-')) => {
                self.script_of(&texts.join(" "))
            }
            _ => self.unsure(),
        }
    }

    /// What is executed later is looked at; when is not known.
    pub(super) fn trap(&mut self, words: &[Word]) {
        self.unsure();
        if let Some(text) = words.get(1).and_then(Word::literal) {
            self.script_of(text);
        }
    }
}
