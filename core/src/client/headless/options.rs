//! What a run is to do and how it reports, and what is gathered for it once it has begun.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::Attachment;
use crate::ids::SessionId;
use crate::prompt::Prompt;
use crate::tools::Rule;

/// What a run is to do and how it reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The prompt; its run id names the run.
    pub prompt: Prompt,
    /// The session that it is for.
    pub session: Which,
    /// The id of the session that is made from that one, if it is to be left as it is.
    pub fork: Option<SessionId>,
    /// Whether what was kept before is to be had.
    pub earlier: Earlier,
    /// Whether the answer is also kept in a file.
    pub keeps: bool,
    /// How it reports.
    pub format: Format,
    /// Whether text is printed as it comes (format text only).
    pub live: bool,
    /// Whether standard output is a terminal, which must not be made to obey the text.
    pub terminal: bool,
    /// Whether progress is kept to itself (format text only).
    pub quiet: bool,
    /// Whether a failed tool makes the run fail.
    pub fail_on_tool_error: bool,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The version of the program.
    pub version: String,
    /// The working directory, for the first line.
    pub cwd: String,
    /// What to warn about at the start.
    pub warnings: Vec<String>,
}

/// What a run needs beside its command line: gathered after its first line, because it may take time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// The prompt's text: what stood on the command line and what came on standard input.
    pub text: String,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
    /// What is permitted for always where it works.
    pub rules: Vec<Rule>,
    /// What stands in the place of the principles in the system prompt.
    pub system: Option<String>,
    /// The JSON Schema that the answer must satisfy, as JSON text.
    #[serde(default)]
    pub schema: Option<String>,
    /// What there is to say about how it came together.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The session that a run is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// A new one with that id.
    New(SessionId),
    /// The one that changed last; a new one with that id if there is none.
    Latest(SessionId),
    /// The one whose id begins so.
    Prefix(String),
}

/// Where sessions are that were kept before, seen from where this run's would be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Earlier {
    /// There, so that they can be gone on with.
    Reachable,
    /// Perhaps in a place that cannot be used: that there is none here says nothing.
    Unknown,
    /// In that place, which can be read and not written to.
    ReadOnly(String),
}

/// How a run reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The answer.
    Text,
    /// One JSON object at the end.
    Json,
    /// A JSON object a line, as it happens.
    Jsonl,
}
