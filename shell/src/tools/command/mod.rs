//! What a shell command would execute and touch, found out without running it.
//!
//! A command is taken apart into the words of everything that it executes, as deep as lists, substitutions, nested shells
//! and programs that run others go, and into the paths and hosts that are named. What is not literally there, or is written
//! in a way that is not known for certain, makes the result incomplete, and the core asks about what is incomplete. Then
//! what was found is not all; it is still what a rule that denies is held against.
//!
//! The grammar is tree-sitter's, which is made for editors: it forgives, and some of what it makes of a text is not what
//! bash makes of it. So [`syntax`] refuses every text for which the two are not known to agree.
//!
//! | | |
//! | --- | --- |
//! | `syntax` | a text to a tree, and whether the tree can be relied on |
//! | `walk`, `assign`, `redirect` | a tree to what is executed, assigned and redirected |
//! | `word` | a word to its text, if that is literally there |
//! | `run`, `wrappers`, `shells`, `find`, `git` | programs that execute what they are given |
//! | `known` | what is known of other programs |
//! | `hosts`, `places` | words to hosts, and to paths, seen from wherever the command may have gone |
//!
//! What a program does of its own accord is not looked at: `make` and `./test.sh` are commands like any other. Nor are
//! programs in other languages: a command with code in it, as `python -c` or `awk`, is opaque. So is every command of which
//! it is known what it is called with and not what it does then; that is said beside the command, and whoever allows that
//! very command has allowed it. What its words look like is a guess, for the rules that deny.

mod assign;
mod find;
mod git;
mod hosts;
mod known;
mod places;
mod redirect;
mod run;
mod shells;
#[cfg(test)]
mod soundness;
mod syntax;
#[cfg(test)]
mod table;
mod walk;
mod word;
mod wrappers;

use std::path::Path;

use hostler_core::tools::{BashInput, Intent, Opaque};

use self::places::Places;
use self::shells::Dialect;
use self::word::Word;
use super::workspace::Workspace;

/// How many commands are taken apart at most.
const MAX_COMMANDS: usize = 500;
/// How deep shells may be in shells, and programs that run others in each other.
const MAX_NESTING: usize = 24;

/// Finds out what a command would do.
pub(super) fn inspect(workspace: &Workspace, input: &BashInput) -> Intent {
    let directory = workspace.resolve(input.working_dir.as_deref().unwrap_or("."));
    let Ok(directory) = directory else { return Intent::default() };
    let mut found = Found::new(workspace.root(), &directory.path);
    found.script(&input.command, Dialect::Bash);
    found.into_intent()
}

/// What has been found so far.
#[derive(Debug)]
struct Found {
    commands: Vec<Vec<String>>,
    opaque: Vec<Opaque>,
    /// What opaque commands may do; nothing in what is a guess itself.
    guess: Option<Box<Found>>,
    is_guess: bool,
    /// How many commands were noted, guesses included.
    noted: usize,
    /// Whether there was more than is looked at.
    too_much: bool,
    hosts: Vec<String>,
    places: Places,
    complete: bool,
    nesting: usize,
    /// In how many loops and functions this is, whose commands may run more than once, and later than they stand.
    repeated: usize,
    /// In how many commands this is that get further words when they are executed.
    unfinished: usize,
}

impl Found {
    fn new(root: &Path, directory: &Path) -> Self {
        Self::at(Places::new(root, directory))
    }

    fn at(places: Places) -> Self {
        Self {
            commands: Vec::new(),
            opaque: Vec::new(),
            guess: None,
            is_guess: false,
            noted: 0,
            too_much: false,
            hosts: Vec::new(),
            places,
            complete: true,
            nesting: 0,
            repeated: 0,
            unfinished: 0,
        }
    }

    /// Notes that what has been found is not all.
    fn unsure(&mut self) {
        self.complete = false;
    }

    /// Notes that there is more than is looked at.
    fn enough(&mut self) {
        self.too_much = true;
        self.unsure();
    }

    /// Notes that a command does what is not known, whatever its arguments are or because of these. Where it is not even
    /// known what it is called with, what has been found is not all.
    fn opaque(&mut self, words: &[Word], always: bool) {
        let command: Option<Vec<_>> = words.iter().map(|word| word.literal().map(str::to_owned)).collect();
        match command {
            Some(command) if self.unfinished == 0 => {
                let opaque = Opaque { command, always };
                if !self.opaque.contains(&opaque) {
                    self.opaque.push(opaque);
                }
            }
            Some(_) | None => self.unsure(),
        }
    }

    /// Looks into what may be executed and may as well be data.
    fn perhaps(&mut self, look: impl FnOnce(&mut Self)) {
        if self.is_guess {
            return look(self);
        }
        let new = || Box::new(Self { is_guess: true, ..Self::at(self.places.without_paths()) });
        let mut guess = self.guess.take().unwrap_or_else(new);
        (guess.nesting, guess.repeated, guess.noted) = (self.nesting, self.repeated, self.noted);
        look(&mut guess);
        self.noted = guess.noted;
        if guess.too_much {
            self.enough();
        }
        self.guess = Some(guess);
    }

    /// Looks into something that is nested in what is being looked at, unless that goes too deep.
    fn within(&mut self, look: impl FnOnce(&mut Self)) {
        if self.nesting >= MAX_NESTING || self.noted >= MAX_COMMANDS {
            return self.enough();
        }
        self.nesting += 1;
        look(self);
        self.nesting -= 1;
    }

    fn into_intent(mut self) -> Intent {
        let guess = self.guess.take().map(|mut guess| {
            guess.places.also_from(&self.places);
            // More paths than are looked at are no guess.
            self.complete &= !guess.places.is_full();
            Box::new(guess.into_intent())
        });
        let mut intent = self.places.into_intent(self.commands, self.opaque);
        intent.guess = guess;
        for host in self.hosts {
            if !intent.hosts.contains(&host) {
                intent.hosts.push(host);
            }
        }
        intent.complete &= self.complete;
        intent
    }
}
