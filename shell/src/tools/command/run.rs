//! A command that is executed: it is noted, and if it executes others, so are those.

use super::Found;
use super::known::{self, Access};
use super::walk::RESERVED;
use super::word::Word;
use super::{MAX_COMMANDS, hosts, shells, wrappers};

/// How many words of a program that executes what it is given are looked at as the beginning of a command.
const GUESSES: usize = 8;

impl Found {
    /// Notes a command and everything that it executes in turn.
    pub(super) fn run(&mut self, words: Vec<Word>) {
        // `time` is a word of the shell and no program, unless it is alone.
        if words.len() == 1 || words.first().is_some_and(|word| word.text != "time") {
            self.record(&words);
        }
        let Some(program) = words.first().and_then(Word::literal) else { return };
        let name = program.rsplit('/').next().unwrap_or(program).to_owned();
        if program.contains('/') {
            self.places.program(program);
        }
        self.within(|found| found.executed(&name, &words));
    }

    /// Notes a command.
    pub(super) fn record(&mut self, words: &[Word]) {
        if words.iter().any(|word| !word.known) {
            self.unsure();
        }
        if self.noted >= MAX_COMMANDS {
            return self.enough();
        }
        self.noted += 1;
        self.commands.push(words.iter().map(|word| word.text.clone()).collect());
    }

    fn executed(&mut self, name: &str, words: &[Word]) {
        match name {
            // `time ! command`, for one.
            _ if RESERVED.contains(&name) => {
                self.unsure();
                self.run(words[1..].to_vec());
            }
            "cd" | "pushd" => self.moved(words),
            "eval" => self.eval(words),
            "trap" => self.trap(words),
            "find" | "gfind" => self.find(words),
            "git" => self.git(words),
            "set" => self.set(words),
            "read" | "getopts" | "export" | "declare" | "typeset" | "readonly" | "local" | "unset"
            | "printf" => {
                self.variables(name, words);
            }
            "test" | "[" => self.tested(words),
            "sed" | "gsed" => self.sed(words),
            _ if known::CHANGES_MEANING.contains(&name) => self.unsure(),
            _ if shells::is_shell(name) => self.shell(name, words),
            _ if wrappers::is_known(name) => self.wrapped(name, words),
            _ if known::RUNNERS.contains(&name) => self.some_runner(name, words),
            _ if known::is_interpreter(name) => self.interpreter(name, words),
            "curl" | "wget" => self.uses(name, &hosts::without_addresses(name, words, 1)),
            _ => self.uses(name, words),
        }
        self.hosts_of(name, words);
    }

    /// A program that executes what it is given, in a way that is not known here: what may be meant is noted, for the rules
    /// that deny.
    fn some_runner(&mut self, name: &str, words: &[Word]) {
        self.opaque(words, true);
        self.uses("", &known::without_code(name, words));
        self.perhaps(|found| {
            found.uses("", words);
            found.what_may_be_executed(words, GUESSES);
        });
    }

    /// Whatever among the words may be a command, or a script, for the rules that deny.
    pub(super) fn what_may_be_executed(&mut self, words: &[Word], count: usize) {
        let begins = words.iter().enumerate().skip(1).filter(|(_, word)| !word.text.starts_with('-'));
        for (index, word) in begins.take(count) {
            match word.literal() {
                Some(text) if text.contains([' ', ';']) => self.script_of(text),
                _ => self.run(words[index..].to_vec()),
            }
        }
    }

    /// A program that takes code from its arguments or its standard input, unless it is given a file.
    fn interpreter(&mut self, name: &str, words: &[Word]) {
        let harmless =
            |word: &Word| known::is_harmless_option(name, &word.text) || !word.text.starts_with('-');
        let file = words.iter().skip(1).position(|word| !word.text.starts_with('-'));
        let before = words.iter().skip(1).take(file.unwrap_or(usize::MAX));
        let asks_only = words.len() == 2 && known::ends_it(name, &words[1].text);
        let module = words.get(1).is_some_and(|word| word.text == "-m")
            && words.get(2).is_some_and(|word| known::HARMLESS_MODULES.contains(&word.text.as_str()));
        if asks_only || module || (file.is_some() && before.into_iter().all(harmless)) {
        } else if words.windows(2).skip(1).any(|pair| known::is_code_option(name, &pair[0].text)) {
            self.opaque(words, false);
        } else {
            // What it is given on its standard input stands in no word.
            self.unsure();
        }
        self.uses(name, words);
    }

    /// Options of the shell: some change how words are read.
    fn set(&mut self, words: &[Word]) {
        if !words.iter().skip(1).all(|word| known::SET_OPTIONS.contains(&word.text.as_str())) {
            self.unsure();
        }
    }

    /// Variables that are named by words. One with brackets has an expression in them.
    fn variables(&mut self, name: &str, words: &[Word]) {
        for (index, word) in words.iter().enumerate().skip(1) {
            let is_option = word.text.starts_with('-');
            match name {
                "printf" if index == 1 && is_option && word.text != "--" => self.unsure(),
                "printf" => {}
                "read" if matches!(word.text.as_str(), "-r" | "-s" | "-rs") => {}
                _ if is_option => self.unsure(),
                _ => self.assigned(word.text.split('=').next().unwrap_or_default()),
            }
        }
    }

    fn tested(&mut self, words: &[Word]) {
        let is_odd =
            |word: &Word| word.text.contains('[') || known::ARITHMETIC_TESTS.contains(&word.text.as_str());
        if words.iter().skip(1).any(is_odd) {
            self.unsure();
        }
        self.uses("test", words);
    }

    /// `sed` has commands that execute and write; a script is known if it only prints, deletes or replaces.
    fn sed(&mut self, words: &[Word]) {
        let mut operands = words.iter().skip(1).filter(|word| !word.text.starts_with('-'));
        let options = words.iter().skip(1).filter(|word| word.text.starts_with('-'));
        let script = operands.next().and_then(Word::literal).is_some_and(known::is_plain_sed);
        if !script || !options.into_iter().all(|word| known::SED_OPTIONS.contains(&word.text.as_str())) {
            // A script from a file or from standard input stands in no word.
            let has_file = words.iter().any(|word| word.text.starts_with('-') && word.text.contains('f'));
            if has_file { self.unsure() } else { self.opaque(words, false) }
        }
        let files: Vec<_> = operands.cloned().collect();
        let is_cluster = |text: &str| text.starts_with('-') && !text.starts_with("--");
        let in_place = words
            .iter()
            .any(|word| (is_cluster(&word.text) && word.text.contains('i')) || word.text.starts_with("--i"));
        let access = if in_place { Access::Any } else { Access::Read };
        files.iter().for_each(|file| self.places.argument(&file.text, access, true));
        if !script {
            self.uses("", words);
        }
    }

    /// The paths among the words of a program.
    pub(super) fn uses(&mut self, name: &str, words: &[Word]) {
        if (1..words.len()).any(|at| known::executes(name, at, &words[at].text)) {
            self.opaque(words, false);
        }
        // Whoever does not only read files may take what it reads there for code.
        if known::usage(name).is_some_and(|usage| !usage.all_are_paths) && words.iter().any(is_given) {
            self.unsure();
        }
        let Some(usage) = known::usage(name) else { return };
        let skip = 1 + usize::from(usage.first_is_pattern && known::begins_with_pattern(words));
        for word in words.iter().skip(skip).filter(|word| word.known) {
            self.places.argument(&word.text, usage.access, usage.all_are_paths);
            if known::may_be_cluster(name, &word.text) {
                self.places.cluster(&word.text, usage.access);
            }
        }
    }
}

/// Whether a word names what a program is given while it runs, such as `/dev/stdin`.
fn is_given(word: &Word) -> bool {
    ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].iter().any(|place| word.text.contains(place))
}
