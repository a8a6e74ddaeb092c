//! `git`, whose options before the command hide which command it is, and some of whose commands execute others.

use super::Found;
use super::hosts;
use super::known::{self, Access};
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

/// Commands that do what they say, unless an option says otherwise. All others, also those that are not of git itself, may
/// execute something or write wherever they like.
const PLAIN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "prune",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
];

/// Beginnings of options of commands that execute, or that set how it works.
const EXECUTING_OPTIONS: &[&str] = &[
    "--up",
    "--rec",
    "--exe",
    "--ext",
    "--open",
    "--tool",
    "--template",
    "--config",
    "--ed",
    "--sh",
    "--unsafe",
];

/// Those options in full: git takes whatever begins only one of a command's options for that one.
const IN_FULL: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--open-files-in-pager",
    "--template",
    "--config",
    "--edit",
    "--interactive",
    "--unsafe-paths",
];

/// Options that begin like one of those and only say what is shown, or what is looked at, by the command.
const SHOWING_OPTIONS: &[(&str, &[&str])] = &[
    ("add", &["--update"]),
    ("blame", &["--show-email", "--show-name", "--show-number", "--show-stats"]),
    ("branch", &["--show-current"]),
    ("config", &["--show-origin", "--show-scope"]),
    ("diff", &["--shortstat"]),
    ("diff-index", &["--shortstat"]),
    ("diff-tree", &["--shortstat"]),
    ("for-each-ref", &["--shell"]),
    ("grep", &["--extended-regexp", "--recurse-submodules", "--show-function"]),
    ("ls-files", &["--recurse-submodules"]),
    ("log", &["--shortstat", "--extended-regexp", "--show-pulls", "--show-linear-break", "--show-notes"]),
    (
        "rev-parse",
        &[
            "--short",
            "--show-cdup",
            "--show-object-format",
            "--show-prefix",
            "--show-superproject-working-tree",
            "--show-toplevel",
        ],
    ),
    ("rev-list", &["--extended-regexp", "--show-pulls"]),
    ("shortlog", &["--extended-regexp"]),
    ("show", &["--shortstat", "--show-notes"]),
    ("stash", &["--shortstat"]),
    ("status", &["--short", "--show-stash"]),
    ("symbolic-ref", &["--short"]),
];

/// Commands that talk to the host of an address, so that it is no path to them.
const REMOTE: &[&str] = &["clone", "fetch", "ls-remote", "push", "pull"];

/// Options with which `git config` only reads, whatever stands behind them: it refuses to do more than one thing at once.
const READING_CONFIG: &[&str] = &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"];

/// Options of `git config` that say where to look and how to show what is there.
const CONFIG_FLAGS: &[&str] = &[
    "--global",
    "--local",
    "--system",
    "--worktree",
    "-z",
    "--null",
    "--name-only",
    "--show-origin",
    "--show-scope",
    "--bool",
    "--int",
    "--path",
];

impl Found {
    /// Takes apart how git is called.
    pub(super) fn git(&mut self, words: &[Word]) {
        let begin = self.global_options(words);
        self.uses("git", &without_addresses(words, begin));
        let Some(command) = words.get(begin) else { return };
        if begin > 1 {
            // What it is called without those options, which is what rules speak of.
            let mut plain = vec![Word::known("git")];
            plain.extend_from_slice(&words[begin..]);
            self.record(&plain);
        }
        let Some(command) = command.literal() else { return };
        self.command_of_git(words, command, &words[begin + 1..]);
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
                    self.opaque(words, false);
                }
                index += if attached || name == "--exec-path" { 1 } else { 2 };
            } else {
                self.opaque(words, false);
                index += 1;
            }
        }
        index
    }

    fn command_of_git(&mut self, words: &[Word], command: &str, arguments: &[Word]) {
        let text = |word: &Word| word.text.clone();
        let executes = |word: &Word| {
            let name = word.text.split('=').next().unwrap_or_default();
            let is_short_for = |full: &&str| name.len() > 2 && full.starts_with(name);
            let by_option = EXECUTING_OPTIONS.iter().any(|begin| word.text.starts_with(begin))
                || IN_FULL.iter().any(is_short_for);
            // An address that names a command.
            let by_address = word.text.starts_with("ext::") || word.text.contains("=ext::");
            (by_option && !only_shows(command, name)) || by_address
        };
        // Letters may stand together behind one dash.
        let short: &[char] = match command {
            "clone" => &['u', 'c'],
            "rebase" => &['x', 'i'],
            "grep" => &['O'],
            _ => &[],
        };
        let has_letter = |word: &Word| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(short)
        };
        if !PLAIN.contains(&command) || arguments.iter().any(|word| executes(word) || has_letter(word)) {
            self.opaque(words, false);
        }
        let first = arguments.first().map(text).unwrap_or_default();
        match (command, first.as_str()) {
            ("bisect", "run") if arguments.len() > 1 => self.run(arguments[1..].to_vec()),
            ("submodule", "foreach") => arguments[1..].iter().for_each(|word| self.script_of(&word.text)),
            ("rebase", _) => self.executed_in_between(arguments),
            ("config", _) if !reads_config(arguments) => self.opaque(words, false),
            ("clone", _) => self.cloned(arguments),
            _ => {}
        }
        if REMOTE.contains(&command) || command == "archive" {
            self.reached(arguments);
        }
    }

    /// The hosts of `host:path` where an address may stand. Which word is the address is not sure behind options that may have a
    /// value.
    fn reached(&mut self, arguments: &[Word]) {
        let values = arguments.iter().filter(|word| word.text.starts_with("--"));
        let values = values.filter_map(|word| word.text.split_once('=')).map(|(_, value)| value);
        values.filter_map(host_before_path).for_each(|host| self.host(host));
        for (at, word) in arguments.iter().enumerate().filter(|(_, word)| !word.text.starts_with('-')) {
            host_before_path(&word.text).into_iter().for_each(|host| self.host(host));
            if at == 0 || known::stands_alone("git", &arguments[at - 1]) {
                return;
            }
        }
    }

    /// The directory that a clone makes: the one that is named behind the address, or one that is called like it.
    fn cloned(&mut self, arguments: &[Word]) {
        let Some((at, name)) =
            arguments.iter().enumerate().find_map(|(at, word)| Some((at, hosts::cloned(word.literal()?)?)))
        else {
            return;
        };
        self.places.argument(name, Access::Write, true);
        let named = arguments.iter().skip(at + 1).filter(|word| !word.text.starts_with('-'));
        named.for_each(|word| self.places.argument(&word.text, Access::Write, true));
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

/// The host of `host:path`, however it is written: what is behind the colon is a path also if it looks like a port.
fn host_before_path(address: &str) -> Option<&str> {
    let (host, _) = address.split_once(':').filter(|_| !address.contains("://"))?;
    let host = host.rsplit('@').next()?.trim_start_matches('[');
    // A colon behind a slash is one in a path.
    (!host.contains('/')).then_some(host)
}

/// Whether an option that begins like one that executes is known to be another one.
fn only_shows(command: &str, option: &str) -> bool {
    SHOWING_OPTIONS.iter().any(|(name, options)| *name == command && options.contains(&option))
}

/// Whether `git config` with those arguments reads and changes nothing: with nothing but a name it says what that is set to.
fn reads_config(arguments: &[Word]) -> bool {
    if !arguments.iter().all(|word| word.known) {
        return false;
    }
    // Further back such a word may be the value of another option, or of the variable.
    let mut rest =
        arguments.iter().map(|word| word.text.as_str()).skip_while(|text| CONFIG_FLAGS.contains(text));
    let is_name = |text: &str| !text.starts_with('-') && text.contains('.');
    match (rest.next(), rest.next()) {
        (Some(first), _) if READING_CONFIG.contains(&first) => true,
        (Some("get" | "list"), _) => true,
        (Some(name), None) => is_name(name),
        (Some(_) | None, _) => false,
    }
}

/// Words without the addresses that a command takes for hosts and never for paths.
fn without_addresses(words: &[Word], begin: usize) -> Vec<Word> {
    let text = |at: usize| words.get(at).and_then(Word::literal).unwrap_or_default();
    match text(begin) {
        command if REMOTE.contains(&command) => hosts::without_addresses("git", words, begin + 1),
        "remote" if matches!(text(begin + 1), "add" | "set-url") => {
            hosts::without_addresses("git", words, begin + 2)
        }
        _ => words.to_vec(),
    }
}
