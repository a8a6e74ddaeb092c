//! `git`, whose options before the command hide which command it is, and some of whose commands execute others.

use super::Found;
use super::known::Access;
use super::word::Word;

/// Options before the command that change nothing of what is judged.
const FLAGS: &[&str] = &[
    "--no-pager",
    "-P",
    "--bare",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-optional-locks",
    "--version",
    "-v",
    "--help",
    "-h",
];

/// Options before the command that have a value.
const VALUED: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"];

/// Commands that execute others, or talk to programs that do.
const EXECUTES: &[&str] = &[
    "bisect",
    "credential",
    "daemon",
    "difftool",
    "filter-branch",
    "for-each-repo",
    "help",
    "hook",
    "http-backend",
    "instaweb",
    "mergetool",
    "p4",
    "send-email",
    "shell",
    "submodule",
    "svn",
    "upload-pack",
    "receive-pack",
    "web--browse",
];

/// Beginnings of options of commands that execute, in the shortest form that git takes for them, or that set how it works.
const EXECUTING_OPTIONS: &[&str] =
    &["--up", "--rec", "--exe", "--ext", "--open", "--tool", "--template", "--config", "--ed", "--sh"];

impl Found {
    /// Takes apart how git is called.
    pub(super) fn git(&mut self, words: &[Word]) {
        let begin = self.global_options(words);
        self.uses("", words);
        let Some(command) = words.get(begin) else { return };
        if begin > 1 {
            // What it is called without those options, which is what rules speak of.
            let mut plain = vec![Word::known("git")];
            plain.extend_from_slice(&words[begin..]);
            self.record(&plain);
        }
        let Some(command) = command.literal() else { return };
        self.command_of_git(command, &words[begin + 1..]);
    }

    fn global_options(&mut self, words: &[Word]) -> usize {
        let mut index = 1;
        while let Some(word) = words.get(index).filter(|word| word.text.starts_with('-')) {
            let text = word.text.as_str();
            let (name, attached) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
            if FLAGS.contains(&text) {
                index += 1;
            } else if VALUED.contains(&name) {
                if name == "-C" {
                    self.moved_to(words.get(index + 1));
                } else if !matches!(name, "--work-tree" | "--namespace") {
                    // Where settings come from, which can name programs.
                    self.unsure();
                }
                index += if attached || name == "--exec-path" { 1 } else { 2 };
            } else {
                self.unsure();
                index += 1;
            }
        }
        index
    }

    fn command_of_git(&mut self, command: &str, arguments: &[Word]) {
        let text = |word: &Word| word.text.clone();
        let executes = |word: &Word| {
            EXECUTING_OPTIONS.iter().any(|begin| word.text.starts_with(begin)) || word.text.contains("ext::")
        };
        let short: &[&str] = match command {
            "clone" => &["-u", "-c"],
            "rebase" => &["-x", "-i"],
            "grep" => &["-O"],
            "difftool" => &["-x"],
            _ => &[],
        };
        let by_letter = |word: &Word| short.iter().any(|option| word.text.starts_with(option));
        if EXECUTES.contains(&command) || arguments.iter().any(|word| executes(word) || by_letter(word)) {
            self.unsure();
        }
        let first = arguments.first().map(text).unwrap_or_default();
        match (command, first.as_str()) {
            ("bisect", "run") if arguments.len() > 1 => self.run(arguments[1..].to_vec()),
            ("submodule", "foreach") => arguments[1..].iter().for_each(|word| self.script_of(&word.text)),
            ("rebase", _) => self.executed_in_between(arguments),
            ("config", _)
                if !arguments.iter().any(|word| matches!(word.text.as_str(), "--get" | "--list" | "-l")) =>
            {
                self.unsure();
            }
            _ => {}
        }
    }

    /// `rebase -x`, for the rules that deny.
    fn executed_in_between(&mut self, arguments: &[Word]) {
        for pair in arguments.windows(2) {
            if matches!(pair[0].text.as_str(), "-x" | "--exec") {
                self.script_of(&pair[1].text);
            }
        }
        for word in arguments {
            if let Some(text) = word.text.strip_prefix("--exec=").or_else(|| word.text.strip_prefix("-x")) {
                self.script_of(text);
            }
        }
    }

    fn moved_to(&mut self, directory: Option<&Word>) {
        match directory.and_then(Word::literal) {
            Some(path) => {
                self.places.argument(path, Access::Read, true);
                self.go(path);
            }
            None => self.unsure(),
        }
    }

    /// `cd` and `pushd`.
    pub(super) fn moved(&mut self, words: &[Word]) {
        let mut operands = words.iter().skip(1).skip_while(|word| word.text == "--");
        match (operands.next().and_then(Word::literal), operands.next()) {
            (Some(path), None) if !path.is_empty() && !path.starts_with(['-', '+']) => self.go(path),
            _ => self.unsure(),
        }
    }

    /// From here on the command may be in that directory, or still in those where it may have been.
    fn go(&mut self, path: &str) {
        let again = self.repeated > 0 && !path.starts_with('/');
        if again || !self.places.go(path) {
            self.unsure();
        }
    }
}
