//! Programs that execute the command that their arguments are, once their own options are over.

use super::Found;
use super::known;
use super::word::Word;

/// How the options of such a program are read.
struct Wrapper {
    name: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with one.
    valued: &'static str,
    long: &'static [&'static str],
    long_valued: &'static [&'static str],
    /// How many words come before the command.
    operands: usize,
    /// Whether variables may be set before the command.
    assigns: bool,
}

const PLAIN: Wrapper =
    Wrapper { name: "", flags: "", valued: "", long: &[], long_valued: &[], operands: 0, assigns: false };

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "u",
        long: &["ignore-environment", "null", "debug"],
        long_valued: &["unset"],
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", flags: "cfw", long: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { name: "nice", flags: "0123456789", valued: "n", long_valued: &["adjustment"], ..PLAIN },
    Wrapper { name: "ionice", flags: "t", valued: "cn", long_valued: &["class", "classdata"], ..PLAIN },
    Wrapper { name: "stdbuf", valued: "ioe", long_valued: &["input", "output", "error"], ..PLAIN },
    Wrapper { name: "time", flags: "pv", assigns: true, ..PLAIN },
    Wrapper { name: "command", flags: "p", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "exec", flags: "cl", valued: "a", ..PLAIN },
    Wrapper {
        name: "sudo",
        flags: "EHSkn",
        valued: "ug",
        long: &["non-interactive", "preserve-env", "set-home", "stdin"],
        long_valued: &["user", "group"],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "doas", flags: "n", valued: "u", ..PLAIN },
    Wrapper {
        name: "xargs",
        flags: "0rtpx",
        valued: "nPLsIdE",
        long: &["null", "no-run-if-empty", "verbose", "interactive", "exit"],
        long_valued: &["max-args", "max-procs", "max-chars", "delimiter"],
        ..PLAIN
    },
    Wrapper { name: "taskset", flags: "c", long: &["cpu-list"], operands: 1, ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper { name: "chronic", ..PLAIN },
    Wrapper { name: "unbuffer", flags: "p", ..PLAIN },
    Wrapper { name: "caffeinate", flags: "dimsu", valued: "tw", ..PLAIN },
];

/// Whether a program is one of those.
pub(super) fn is_known(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

impl Found {
    /// A command that executes another one, which its arguments are.
    pub(super) fn wrapped(&mut self, name: &str, words: &[Word]) {
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
            return self.unsure();
        };
        if name == "command" && words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) {
            return;
        }
        let Some(mut begin) = wrapper.command_of(words) else { return self.unknown_options(words) };
        while let Some(variable) = words.get(begin).filter(|_| wrapper.assigns).and_then(variable) {
            self.assigned(&variable);
            begin += 1;
        }
        let (own, command) = words.split_at(begin.min(words.len()));
        self.uses("", own);
        if name == "xargs" {
            self.fed(words, own, command);
        } else if !command.is_empty() {
            self.run(command.to_vec());
        }
    }

    /// `xargs`: its command gets further words from its standard input. Where that can only read, whatever they are, it is
    /// enough that somebody allows both.
    fn fed(&mut self, words: &[Word], own: &[Word], command: &[Word]) {
        let program = command.first().and_then(Word::literal).unwrap_or_default();
        // With this option the program itself may come from there.
        let replaces = own.iter().skip(1).any(|word| word.text.contains('I'));
        if replaces || !known::only_reads(program.rsplit('/').next().unwrap_or(program)) {
            self.unsure();
        } else {
            self.opaque(words, true);
        }
        if !command.is_empty() {
            self.unfinished += 1;
            self.run(command.to_vec());
            self.unfinished -= 1;
        }
    }

    /// Whatever may be the command is looked at, for the rules that deny.
    fn unknown_options(&mut self, words: &[Word]) {
        self.unsure();
        self.uses("", words);
        self.what_may_be_executed(words, 3);
        // `env -S 'a b'`, `--split-string=a b`.
        for word in words.iter().skip(1).filter(|word| word.text.starts_with('-')) {
            let value =
                word.text.trim_start_matches(|letter| letter != ' ' && letter != '=' && letter != 'S');
            if let Some(text) = value.get(1..).filter(|text| !text.is_empty()) {
                self.script_of(text);
            }
        }
    }
}

/// The name of the variable that a word sets, if it is such a word: unlike a shell, programs take any name for one.
fn variable(word: &Word) -> Option<String> {
    let (name, _) = word.text.split_once('=')?;
    (!name.is_empty()).then(|| name.to_owned())
}

impl Wrapper {
    /// Where its command begins, unless there are options that are not known.
    fn command_of(&self, words: &[Word]) -> Option<usize> {
        let mut index = 1;
        while let Some(word) = words.get(index) {
            let text = word.literal()?;
            match text.strip_prefix("--") {
                Some("") => return Some(index + 1 + self.operands),
                Some(long) => index += self.long_option(long)?,
                None if text == "-" && self.name == "env" => index += 1,
                None if text.len() > 1 && text.starts_with('-') => index += self.short_options(&text[1..])?,
                None => break,
            }
        }
        Some(index + self.operands)
    }

    /// How many words a long option takes up.
    fn long_option(&self, text: &str) -> Option<usize> {
        match text.split_once('=') {
            Some((name, _)) => (self.long_valued.contains(&name) || name == "preserve-env").then_some(1),
            None if self.long.contains(&text) => Some(1),
            None => self.long_valued.contains(&text).then_some(2),
        }
    }

    /// How many words a cluster of short options takes up.
    fn short_options(&self, letters: &str) -> Option<usize> {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let attached = at + letter.len_utf8() < letters.len();
                return Some(if attached { 1 } else { 2 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}
