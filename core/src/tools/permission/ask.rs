//! What of a call needs permission, for a person to read and to grant.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::glob;
use super::intent::{Access, Intent, Opaque, PathUse};
use super::judge::reads;
use super::line::line;
use super::rule::{Action, Rule, Subject};

/// How many letters of a part are shown in a sentence.
const SHOWN: usize = 300;

/// A call that needs permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The tool.
    pub tool: String,
    /// What needs permission, each by itself. What is allowed anyway is not among it.
    pub parts: Vec<Part>,
    /// The rules that would have let the call pass: what is granted by whoever permits it for more than once, and to be
    /// shown to them as it is. Empty if it can only be permitted this once.
    pub grants: Vec<Rule>,
    /// Whether it would have passed if the whole tool were allowed, where it is not known what the call does and so no
    /// grants say it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub whole: bool,
}

/// A part of a call that is judged by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A command is executed, with those words.
    Command(Vec<String>),
    /// That command does what cannot be known beforehand.
    Opaque(Opaque),
    /// A path is used.
    Path {
        /// The path.
        path: PathUse,
        /// What is done with it.
        access: Access,
        /// Whether it is an argument of a command, and not something done beside it.
        argument: bool,
    },
    /// A host is talked to.
    Host(String),
    /// The tool is used, and nothing more is known of what for.
    Tool,
    /// Something is done that cannot be known beforehand.
    Rest,
}

impl Ask {
    /// What the model is told where nobody can be asked.
    pub fn nobody(&self) -> String {
        let tool = &self.tool;
        let what = self.what();
        let advice = match self.allows().as_slice() {
            [] if self.whole => format!("{} with --allow {tool}, or everything with --yolo", all_of(tool)),
            [] if self.is_unknown() => "everything with --yolo".to_string(),
            [] => "it with --yolo".to_string(),
            rules => format!("it with {}, or everything with --yolo", rules.join(" ")),
        };
        format!(
            "Permission denied: {tool} needs permission to {what}, and nobody can be asked in this run. Nothing was done. (The \
             user can allow {advice}.)"
        )
    }

    /// Whether some of what the call does is not known, so that no rule about less than its tool could be about it.
    pub fn is_unknown(&self) -> bool {
        self.parts.contains(&Part::Rest)
    }

    /// The rules for `--allow` that would have let the call pass, or none.
    pub fn would_do(&self) -> Vec<String> {
        let of_tool = self.whole && self.grants.is_empty();
        let grants = self.grants.iter().map(|rule| rule.subject.to_string());
        grants.chain(of_tool.then(|| self.tool.clone())).collect()
    }

    /// What needs permission, as the end of a sentence: `run ls /etc, and read /etc`.
    pub fn what(&self) -> String {
        let parts: Vec<_> = self.parts.iter().map(ToString::to_string).collect();
        match parts.as_slice() {
            [] => "be used".to_string(),
            [only] => only.clone(),
            [first, second] => format!("{first}, and {second}"),
            [first, second, rest @ ..] => format!("{first}, {second}, and {} more", rest.len()),
        }
    }

    /// The grants with each path widened to all of its directory; what is shown to whoever may grant that.
    pub fn by_directory(&self) -> Vec<Rule> {
        let widen = |rule: &Rule| {
            let Subject::Path { access, pattern } = &rule.subject else { return rule.clone() };
            let directory = pattern.rsplit_once('/').map_or("", |(directory, _)| directory);
            Rule {
                action: rule.action,
                subject: Subject::Path { access: *access, pattern: format!("{directory}/**") },
            }
        };
        let mut rules: Vec<_> = self.grants.iter().map(widen).collect();
        rules.dedup();
        rules
    }

    /// The grants as arguments of a command line, if they are few.
    fn allows(&self) -> Vec<String> {
        let options = || self.grants.iter().map(|rule| line(&["--allow".into(), rule.subject.to_string()]));
        if self.grants.len() > 2 { Vec::new() } else { options().collect() }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(words) => write!(f, "run {}", short(&line(words))),
            Self::Opaque(opaque) => write!(f, "run {}, which may do anything", short(&line(&opaque.command))),
            Self::Path { path, access: Access::Read, .. } => write!(f, "read {}", short(&path.path)),
            Self::Path { path, access: Access::Write, .. } => write!(f, "write {}", short(&path.path)),
            Self::Path { path, access: Access::Any, .. } => write!(f, "use {}", short(&path.path)),
            Self::Host(host) => write!(f, "talk to {}", short(host)),
            Self::Tool => f.write_str("be used"),
            Self::Rest => f.write_str("do what cannot be known beforehand"),
        }
    }
}

fn short(text: &str) -> String {
    let mut letters = text.chars();
    let begin: String = letters.by_ref().take(SHOWN).collect();
    if letters.next().is_some() { format!("{begin}…") } else { begin }
}

/// All that a tool does, in the words of an advice.
pub(crate) fn all_of(tool: &str) -> &str {
    if tool == "bash" { "all commands" } else { "all of it" }
}

/// The parts of a call.
pub(super) fn parts(tool: &str, intent: &Intent) -> Vec<Part> {
    let path = |access, argument| move |path: &PathUse| Part::Path { path: path.clone(), access, argument };
    let mut parts: Vec<_> = intent.commands.iter().cloned().map(Part::Command).collect();
    parts.extend(intent.opaque.iter().filter(|opaque| counts(opaque, intent)).cloned().map(Part::Opaque));
    parts.extend(intent.writes.iter().map(path(Access::Write, false)));
    parts.extend(intent.hosts.iter().cloned().map(Part::Host));
    // A tool that does none of these and does not only read is more than what is known of it.
    let is_said = !parts.is_empty() || (reads(tool) && !intent.reads.is_empty());
    parts.extend((!is_said).then_some(Part::Tool));
    parts.extend(intent.reads.iter().map(path(Access::Read, false)));
    let argument = |argument: &super::Argument| path(argument.access, true)(&argument.path);
    parts.extend(intent.arguments.iter().map(argument));
    parts.extend((!intent.complete).then_some(Part::Rest));
    let mut different = Vec::with_capacity(parts.len());
    for part in parts {
        if !different.contains(&part) {
            different.push(part);
        }
    }
    different
}

/// Whether nothing stricter is said of the same command.
fn counts(opaque: &Opaque, intent: &Intent) -> bool {
    let is_stricter = |other: &Opaque| other.command == opaque.command && !other.always;
    !opaque.always || !intent.opaque.iter().any(is_stricter)
}

/// These parts without commands that are among them as opaque too: whoever allows a command although it may do anything
/// allows the command.
pub(super) fn once(mut parts: Vec<Part>) -> Vec<Part> {
    let opaque: Vec<_> = parts.iter().filter_map(Part::opaque).cloned().collect();
    parts.retain(|part| !matches!(part, Part::Command(words) if opaque.contains(words)));
    parts
}

impl Part {
    /// The words of a command that may do anything.
    fn opaque(&self) -> Option<&Vec<String>> {
        match self {
            Self::Opaque(opaque) => Some(&opaque.command),
            Self::Command(_) | Self::Path { .. } | Self::Host(_) | Self::Tool | Self::Rest => None,
        }
    }
}

/// The rules that allow all of these parts, or none if that cannot be said in rules.
pub(super) fn grants(parts: &[Part]) -> Vec<Rule> {
    let subjects: Option<Vec<_>> = parts.iter().map(subject).collect();
    let mut rules = Vec::new();
    for subject in subjects.unwrap_or_default() {
        let rule = Rule { action: Action::Allow, subject };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn subject(part: &Part) -> Option<Subject> {
    match part {
        Part::Command(words) => Some(Subject::Command(command(words))),
        Part::Opaque(opaque) => Some(Subject::Command(exactly(&opaque.command))),
        // A name that is not UTF-8 stands for several.
        Part::Path { path, .. } if path.path.contains('\u{fffd}') => None,
        Part::Path { path, access, .. } => {
            // So that the rule can be written as it is shown.
            let pattern = glob::escaped(&path.path).replace('{', "\\{");
            Some(Subject::Path { access: *access, pattern })
        }
        Part::Host(host) => Some(Subject::Host(glob::escaped(host))),
        Part::Tool | Part::Rest => None,
    }
}

/// Programs whose first word says what they do, so that the words after it may be others the next time.
const BY_WORD: &[&str] = &[
    "git", "cargo", "go", "jj", "hg", "npm", "pnpm", "yarn", "bun", "dotnet", "gradle", "mvn", "swift", "zig",
];

/// Of those, words that only say that another word follows.
const RUN_WORDS: &[(&str, &str)] =
    &[("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("git", "stash"), ("git", "remote")];

/// Of those, words that say too little: what follows is run, or changes what other commands do.
const TOO_LITTLE: &[(&str, &str)] = &[
    ("git", "bisect"),
    ("git", "config"),
    ("git", "rebase"),
    ("git", "submodule"),
    ("go", "run"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
    ("bun", "x"),
];

/// Programs that read what they are told to, which are paths and so judged by themselves.
const READERS: &[&str] =
    &["cat", "cd", "cut", "echo", "grep", "head", "ls", "pwd", "rg", "stat", "tail", "true", "wc", "which"];

/// The pattern of commands that a person permits with this one: what it begins with where that says what it does, else
/// exactly this one.
fn command(words: &[String]) -> String {
    match telling(words) {
        Some(words) => format!("{} *", line(words)),
        None => exactly(words),
    }
}

/// The pattern of that command and no other.
fn exactly(words: &[String]) -> String {
    glob::escaped(&line(words))
}

/// The first words of a command, if they say what it does.
fn telling(words: &[String]) -> Option<&[String]> {
    let program = words.first()?.as_str();
    let second = words.get(1).map_or("", String::as_str);
    let count = match (program, second) {
        _ if READERS.contains(&program) => 1,
        pair if !BY_WORD.contains(&program) || TOO_LITTLE.contains(&pair) => return None,
        pair if RUN_WORDS.contains(&pair) => 3,
        _ => 2,
    };
    words.get(..count).filter(|words| words.iter().all(|word| is_plain(word)))
}

/// Whether a word says something by itself of what a command does.
pub(crate) fn tells(word: &str) -> bool {
    let mut pairs = TOO_LITTLE.iter().chain(RUN_WORDS);
    READERS.contains(&word)
        || BY_WORD.contains(&word)
        || pairs.any(|(program, second)| *program == word || *second == word)
}

/// Whether a word is a name and nothing that is taken apart further, such as an option.
fn is_plain(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':' | '.'))
}
