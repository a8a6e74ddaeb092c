//! Rules as people write them: `bash(git log *)`, `write(src/**)`, `host(example.com)`, `view`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::glob;
use super::intent::Access;
use crate::config::nearest::nearest;
use crate::quote::quoted;
use crate::tools::spec;

/// What is to happen when something is about to be done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rule {
    /// What is to happen.
    pub action: Action,
    /// What it is about.
    pub subject: Subject,
}

/// What a rule makes of what it is about, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It may be done.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It may not be done, whoever would permit it.
    Deny,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// All that a tool does that no other rule is about: `bash`.
    Tool(String),
    /// Commands: `bash(git log *)`. `*` stands for anything, and ` *` at the end for nothing as well. Words are quoted where a
    /// shell would need it, with single quotes.
    Command(String),
    /// Paths: `read(/etc/**)`, `write(src/*.rs)`, `path(.env)`, whatever tool uses them. `*` and `?` stay within a name, `**`
    /// goes through directories. A pattern without `/` is a name in whatever directory; one that does not begin with `/`
    /// begins in the workspace.
    Path {
        /// What is done with the path.
        access: Access,
        /// The pattern.
        pattern: String,
    },
    /// Hosts: `host(example.com)`, `host(*.example.com)`.
    Host(String),
}

/// A rule that makes no sense, and what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// It has no shape that is known.
    #[error(
        "{} is not a rule; write a tool's name, bash(COMMAND), read(PATH), write(PATH), path(PATH) or host(NAME).",
        quoted(.0)
    )]
    Shape(String),
    /// It is about a tool that does not exist.
    #[error("There is no tool named {} to make a rule about; the tools are: {known}.", quoted(.name))]
    UnknownTool {
        /// What was written.
        name: String,
        /// What there is.
        known: String,
    },
    /// A tool has no rule of that shape.
    #[error(
        "{} is not a rule; what stands in parentheses is a command after bash, a path after read, write or path, and a \
         name after host.",
        quoted(.0)
    )]
    Kind(String),
    /// The name before what it is about is written otherwise.
    #[error("{} is not a rule; did you mean {}?", quoted(.written), quoted(.meant))]
    Near {
        /// What was written.
        written: String,
        /// What is likely meant.
        meant: String,
    },
    /// The pattern would never match.
    #[error("The rule {} would never apply: {problem}.", quoted(.rule))]
    Pattern {
        /// What was written.
        rule: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Rule {
    /// A rule that does this about what is described by the text. `home` is where `~/` begins, if that is known.
    pub fn parse(action: Action, text: &str, home: Option<&str>) -> Result<Self, BadRule> {
        Subject::parse(text, home).map(|subject| Self { action, subject })
    }
}

impl Subject {
    /// Reads what a rule is about. `home` is where `~/` begins, if that is known.
    pub fn parse(text: &str, home: Option<&str>) -> Result<Self, BadRule> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else { return tool(text) };
        let Some(pattern) = rest.strip_suffix(')') else { return Err(BadRule::Shape(text.to_owned())) };
        let (name, pattern) = (name.trim_end(), pattern.trim());
        let bad = |problem| Err(BadRule::Pattern { rule: text.to_owned(), problem });
        if pattern.is_empty() {
            return bad("there is nothing between its parentheses");
        }
        let is_quoted = ['"', '\'', '`']
            .iter()
            .any(|quote| pattern.strip_prefix(*quote).is_some_and(|rest| rest.ends_with(*quote)));
        // A command may well begin with a word in single quotes and end with another one.
        if is_quoted && !(name == "bash" && pattern.starts_with('\'')) {
            return bad(
                "leave out the quotes around what stands in parentheses; a name that really has them is written with \\ before the first",
            );
        }
        match name {
            "bash" if pattern.ends_with(":*") => bad("write a space before its last *, not a colon"),
            "bash" => Ok(Self::Command(pattern.to_owned())),
            "read" | "view" | "ls" | "glob" | "grep" => path(Access::Read, text, pattern, home),
            "write" | "edit" | "multiedit" => path(Access::Write, text, pattern, home),
            "path" => path(Access::Any, text, pattern, home),
            "host" if pattern.contains(['/', ':', ' ']) => bad("a host is a name alone, such as example.com"),
            "host" => Ok(Self::Host(pattern.to_ascii_lowercase())),
            _ => Err(misspelt(text, name, pattern).unwrap_or_else(|| BadRule::Kind(text.to_owned()))),
        }
    }
}

fn tool(name: &str) -> Result<Subject, BadRule> {
    if matches!(name, "read" | "path" | "host") || !name.chars().all(is_name) || name.is_empty() {
        return Err(BadRule::Shape(name.to_owned()));
    }
    let specs = spec::specs();
    let is_known = specs.iter().any(|spec| spec.name == name);
    if !is_known && !name.starts_with("mcp_") {
        if let Some(meant) = nearest(name, specs.iter().map(|spec| spec.name.as_str())) {
            return Err(BadRule::Near { written: name.to_owned(), meant: meant.to_owned() });
        }
        return Err(BadRule::UnknownTool { name: name.to_owned(), known: spec::names() });
    }
    Ok(Subject::Tool(name.to_owned()))
}

/// What may stand before parentheses.
const BEFORE: &[&str] =
    &["bash", "read", "write", "path", "host", "view", "ls", "glob", "grep", "edit", "multiedit"];

/// Says what was meant by a rule whose name is one that there is but for a slip, such as that of other programs, `Bash(ls:*)`.
fn misspelt(text: &str, name: &str, pattern: &str) -> Option<BadRule> {
    let name = nearest(name, BEFORE.iter().copied())?;
    let pattern = match pattern.strip_suffix(":*").filter(|_| name == "bash") {
        Some(command) => format!("{command} *"),
        None => pattern.to_owned(),
    };
    Some(BadRule::Near { written: text.to_owned(), meant: format!("{name}({pattern})") })
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn path(access: Access, text: &str, pattern: &str, home: Option<&str>) -> Result<Subject, BadRule> {
    let bad = |problem| Err(BadRule::Pattern { rule: text.to_owned(), problem });
    let pattern = match (pattern.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", glob::escaped(home.trim_end_matches('/')))
        }
        (Some(_), _) => return bad("~ is not known here; give the path in full"),
        (None, _) => pattern.to_owned(),
    };
    if pattern.split('/').any(|part| part == "..") {
        return bad("a path that goes up with .. is never met; give the path in full");
    }
    if has_choice(&pattern) {
        return bad(
            "braces stand for themselves; write a rule for each choice, or \\{ for a name that has a brace",
        );
    }
    Ok(Subject::Path { access, pattern: tidy(&pattern) })
}

/// Whether there are braces in it as shells know them, `{a,b}` or `{1..9}`.
fn has_choice(pattern: &str) -> bool {
    let mut open = Vec::new();
    let mut letters = pattern.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '{' => open.push(at),
            '}' if open.pop().is_some_and(|open| {
                pattern[open..at].contains([',']) || pattern[open..at].contains("..")
            }) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// The pattern as paths are: with one slash where several were written, and without `.` on the way. One at the beginning
/// says that the pattern begins in the workspace.
fn tidy(pattern: &str) -> String {
    let mut tidied = String::with_capacity(pattern.len());
    for (nth, part) in pattern.split('/').enumerate() {
        if nth == 0 {
            tidied.push_str(part);
        } else if !part.is_empty() && part != "." {
            if !tidied.ends_with('/') {
                tidied.push('/');
            }
            tidied.push_str(part);
        } else if !tidied.ends_with('/') {
            tidied.push('/');
        }
    }
    tidied
}

impl Rule {
    /// The same rule for the place that its path leads to, where a rule denies or asks: what is judged are paths without links
    /// in them. `lead` says where the path leads that the pattern begins with, before its first wildcard; nothing if that is
    /// where it seems to be. `None` if there is no such other rule.
    pub fn behind(&self, lead: impl FnOnce(&str) -> Option<String>) -> Option<Self> {
        let Subject::Path { access, pattern } = &self.subject else { return None };
        if self.action == Action::Allow {
            return None;
        }
        let (mut begin, mut end) = (String::new(), 0);
        for part in pattern.split_inclusive('/') {
            let Some(name) = glob::literal(part) else { break };
            begin.push_str(&name);
            end += part.len();
        }
        let begin = begin.trim_end_matches('/');
        if begin.is_empty() || begin == "." {
            return None;
        }
        let place = lead(begin)?;
        let rest = pattern[end..].trim_start_matches('/');
        let place = glob::escaped(place.trim_end_matches('/'));
        let pattern = if rest.is_empty() && !place.is_empty() { place } else { format!("{place}/{rest}") };
        Some(Self { action: self.action, subject: Subject::Path { access: *access, pattern } })
    }
}

impl Rule {
    /// The only path that a rule allows, where it allows one alone: whoever writes a directory means what is in it, perhaps.
    pub fn only_path(&self) -> Option<String> {
        match &self.subject {
            Subject::Path { pattern, .. } if self.action == Action::Allow && !pattern.ends_with('/') => {
                glob::literal(pattern)
            }
            Subject::Tool(_) | Subject::Command(_) | Subject::Path { .. } | Subject::Host(_) => None,
        }
    }

    /// The same rule for all that is in the directory that its path is. Of other rules it is the same one.
    pub fn in_it(&self) -> Self {
        let mut rule = self.clone();
        if let Subject::Path { pattern, .. } = &mut rule.subject {
            *pattern = format!("{}/**", pattern.trim_end_matches('/'));
        }
        rule
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => f.write_str(name),
            Self::Command(pattern) => write!(f, "bash({pattern})"),
            Self::Path { access: Access::Read, pattern } => write!(f, "read({pattern})"),
            Self::Path { access: Access::Write, pattern } => write!(f, "write({pattern})"),
            Self::Path { access: Access::Any, pattern } => write!(f, "path({pattern})"),
            Self::Host(pattern) => write!(f, "host({pattern})"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            Action::Allow => "allow",
            Action::Ask => "ask",
            Action::Deny => "deny",
        };
        write!(f, "{action} {}", self.subject)
    }
}
