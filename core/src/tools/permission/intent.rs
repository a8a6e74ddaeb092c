//! What a tool call would touch, found out by the shell.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// What a tool call would do, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The commands that it would execute, each as its words.
    pub commands: Vec<Vec<String>>,
    /// The paths that it would read.
    pub reads: Vec<PathUse>,
    /// The paths that it would write.
    pub writes: Vec<PathUse>,
    /// The paths that words of its commands name. Whoever permits the command permits those inside the workspace with
    /// it, as long as no rule about paths says otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// The hosts that it would talk to.
    pub hosts: Vec<String>,
    /// Those of its commands that do what cannot be known, although it is known what they are called with. What they do is
    /// not in the rest of this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
    /// What those commands may do, as far as their words look like it. It takes no permission, since it may as well be data,
    /// and is there for the rules that deny or ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<Box<Intent>>,
    /// Whether the above is all of it. What cannot be understood whole is never taken for harmless.
    pub complete: bool,
    /// The workspace, absolute: where relative paths in rules begin.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
}

/// A command that does what cannot be known beforehand, and nothing else about it is in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Its words, each as the program gets it.
    pub command: Vec<String>,
    /// Whether that is so whatever its arguments are, as with `docker`; or because of these, as with `git -c`.
    pub always: bool,
}

/// A path that a tool call would touch, links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathUse {
    /// The path, absolute.
    pub path: String,
    /// Whether it lies inside the workspace.
    pub inside: bool,
}

/// A path among the words of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// The path.
    pub path: PathUse,
    /// What the command does with it.
    pub access: Access,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is read.
    Read,
    /// It is written, made or removed.
    Write,
    /// Both, or it is not known which.
    Any,
}
