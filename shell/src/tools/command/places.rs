//! Words to paths, seen from wherever the command may have gone.
//!
//! A command may be in the directory where it began and in every one that it goes to: whether a `cd` succeeded, or in which
//! of two branches it stood, is not known. So each relative path is taken for one in each of them.

use std::path::{Component, Path, PathBuf};

use hostler_core::tools::{Access, Argument, Intent, Opaque, PathUse};

use crate::tools::paths;

/// How many directories are kept apart.
const MAX_DIRECTORIES: usize = 8;
/// How many paths are looked at.
const MAX_PATHS: usize = 2_000;
/// How long a path may be; no system takes longer ones.
const MAX_LENGTH: usize = 4_096;
/// How many parts of a word are looked at.
const MAX_PARTS: usize = 20;
/// Files that are there for everybody and keep nothing.
const NOWHERE: &[&str] =
    &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/urandom"];
/// Directories whose programs need not be asked about for being read.
const PROGRAMS: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// The paths of a command.
#[derive(Debug)]
pub(super) struct Places {
    root: PathBuf,
    directories: Vec<PathBuf>,
    mentions: Vec<Mention>,
    complete: bool,
    /// Whether there were more paths than are looked at.
    full: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mention {
    path: String,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Read,
    Write,
    /// A word of a command. If it need not be a path, it is one only if it looks like one or is one.
    Argument {
        access: Access,
        surely: bool,
    },
}

impl Places {
    pub(super) fn new(root: &Path, directory: &Path) -> Self {
        let mut places = Self {
            root: root.to_owned(),
            directories: vec![directory.to_owned()],
            mentions: Vec::new(),
            complete: true,
            full: false,
        };
        if directory != root {
            places.read(&directory.to_string_lossy());
        }
        places
    }

    /// The same directories, with no path seen from them.
    pub(super) fn without_paths(&self) -> Self {
        let (root, directories) = (self.root.clone(), self.directories.clone());
        Self { root, directories, mentions: Vec::new(), complete: true, full: false }
    }

    /// What is seen from here is seen from those directories too.
    pub(super) fn also_from(&mut self, other: &Self) {
        for directory in &other.directories {
            if !self.directories.contains(directory) {
                self.directories.push(directory.clone());
            }
        }
    }

    /// Whether there were more paths than are looked at.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// A file that is read.
    pub(super) fn read(&mut self, path: &str) {
        self.mention(path, Role::Read);
    }

    /// A file that is written.
    pub(super) fn write(&mut self, path: &str) {
        self.mention(path, Role::Write);
    }

    /// A file that is looked at, if it is one.
    pub(super) fn look_at(&mut self, path: &str) {
        self.argument(path, Access::Read, false);
    }

    /// A program that is executed by its path.
    pub(super) fn program(&mut self, path: &str) {
        let is_usual = PROGRAMS
            .iter()
            .any(|directory| path.strip_prefix(directory).is_some_and(|name| !name.contains('/')));
        if !is_usual {
            self.argument(path, Access::Read, true);
        }
    }

    /// A word of a command, and what is in it: values of options, parts of lists. `surely` if it is a path by itself.
    pub(super) fn argument(&mut self, word: &str, access: Access, surely: bool) {
        if !word.starts_with('-') {
            self.mention(word, Role::Argument { access, surely });
        } else if word.starts_with("--") {
            // Behind `--` it may be the name of a directory.
            if word.contains('/') {
                self.mention(word, Role::Argument { access, surely: false });
            }
        } else if word.len() > 2 {
            self.mention(word.get(2..).unwrap_or_default(), Role::Argument { access, surely: false });
        }
        let parts = word.match_indices(['=', ':', ',', '@']).map(|(at, _)| &word[at + 1..]);
        self.complete &= parts.clone().count() <= MAX_PARTS;
        for part in parts.take(MAX_PARTS) {
            self.mention(part, Role::Argument { access, surely: false });
            let end = part.find([':', ',']).unwrap_or(part.len());
            if end < part.len() {
                self.mention(&part[..end], Role::Argument { access, surely: false });
            }
        }
        if let Some((first, _)) = word.split_once([':', ',']) {
            self.mention(first, Role::Argument { access, surely: false });
        }
    }

    /// Several options behind one dash, of which the last may have its value behind it, as in `tar -cf/tmp/x`.
    pub(super) fn cluster(&mut self, word: &str, access: Access) {
        let letters = word.find('/').unwrap_or(word.len());
        let begins = word.char_indices().map(|(at, _)| at).skip(3).take_while(|at| *at <= letters);
        for at in begins {
            self.mention(&word[at..], Role::Argument { access, surely: false });
        }
    }

    fn mention(&mut self, path: &str, role: Role) {
        if path.is_empty() || path.len() > MAX_LENGTH || NOWHERE.contains(&path) {
            return;
        }
        let mention = Mention { path: path.to_owned(), role };
        if self.mentions.contains(&mention) {
            return;
        }
        if self.mentions.len() >= MAX_PATHS {
            (self.complete, self.full) = (false, true);
            return;
        }
        self.mentions.push(mention);
    }

    /// From here on, the command may also be in that directory. Nothing if it cannot be known which that is.
    pub(super) fn go(&mut self, path: &str) -> bool {
        // `cd` looks for relative names in the directories of this variable first.
        let is_searched = !path.starts_with(['/', '.']) && std::env::var_os("CDPATH").is_some();
        if is_searched || path.starts_with('~') {
            return false;
        }
        self.read(path);
        for directory in self.directories.clone() {
            let Ok(place) = paths::resolve(&directory, path) else { return false };
            // After a link, `cd ..` leads back over the link and not to the parent of what it leads to.
            if Some(&place.path) != plain(&directory.join(path)).as_ref() {
                return false;
            }
            if !self.directories.contains(&place.path) {
                self.directories.push(place.path);
            }
        }
        self.directories.len() <= MAX_DIRECTORIES
    }

    /// All of it as an intent, with commands whose programs are files seen from the directories as well.
    pub(super) fn into_intent(mut self, commands: Vec<Vec<String>>, opaque: Vec<Opaque>) -> Intent {
        let mut intent = Intent {
            commands: Vec::new(),
            root: self.root.to_string_lossy().into_owned(),
            ..Intent::default()
        };
        for words in commands {
            self.everywhere(words, &mut intent.commands);
        }
        for Opaque { command, always } in opaque {
            let mut seen = Vec::new();
            self.everywhere(command, &mut seen);
            seen.into_iter().for_each(|command| add(&mut intent.opaque, Opaque { command, always }));
        }
        for mention in std::mem::take(&mut self.mentions) {
            for path in self.meant(&mention) {
                match mention.role {
                    Role::Read => add(&mut intent.reads, path),
                    Role::Write => add(&mut intent.writes, path),
                    Role::Argument { access, .. } => add(&mut intent.arguments, Argument { path, access }),
                }
            }
        }
        intent.complete = self.complete;
        intent
    }

    /// A program that is a relative path is another one in another directory.
    fn everywhere(&mut self, words: Vec<String>, commands: &mut Vec<Vec<String>>) {
        let is_relative =
            words.first().is_some_and(|program| program.contains('/') && !program.starts_with('/'));
        let moved = self.directories.iter().any(|directory| *directory != self.root);
        if !is_relative || !moved {
            return add(commands, words);
        }
        for directory in &self.directories {
            let mut seen = words.clone();
            match paths::resolve(directory, &words[0]) {
                Ok(place) => seen[0] = place.path.to_string_lossy().into_owned(),
                Err(_) => self.complete = false,
            }
            add(commands, seen);
        }
    }

    fn meant(&mut self, mention: &Mention) -> Vec<PathUse> {
        let surely = !matches!(mention.role, Role::Argument { surely: false, .. });
        let mut meant = Vec::new();
        for directory in &self.directories {
            let full = directory.join(&mention.path);
            let looks_like_one = mention.path.contains('/') || mention.path.starts_with('.');
            if !surely && !looks_like_one && full.symlink_metadata().is_err() {
                continue;
            }
            match paths::resolve(directory, &mention.path) {
                Ok(place) => {
                    add(&mut meant, PathUse { inside: place.path.starts_with(&self.root), ..place.to_use() });
                }
                // What need not be a path need not lead anywhere.
                Err(_) if !surely => {}
                Err(_) => self.complete = false,
            }
        }
        meant
    }
}

/// A path without `..`, if there are no links before one.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => {
                plain.push(other);
                if plain.is_symlink() {
                    return None;
                }
            }
        }
    }
    Some(plain)
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
