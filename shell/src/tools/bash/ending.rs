//! How a command ended, and how that is put.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use hostler_core::content::{ToolOutcome, ToolStatus};
use serde::Serialize;

use super::output::Output;
use crate::tools::outcome::with_facts;

/// What is said of a command whose exit code got lost.
const UNKNOWN: &str = "[exit code unknown: the process that watched over the command was killed]";
/// What is said if something goes on running.
const ABANDONED: &str = "[some of its processes could not be ended and may still run]";

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// By itself.
    Exited,
    /// It was cancelled.
    Cancelled,
    /// Its time was over.
    TimedOut,
}

/// The end of a command.
pub(super) struct Ending {
    /// Why it ended.
    pub(super) reason: Reason,
    /// The shell's exit status; none if the system could not tell.
    pub(super) status: Option<ExitStatus>,
    /// Whether some of its processes could not be ended.
    pub(super) abandoned: bool,
    /// What it printed.
    pub(super) output: Output,
}

#[derive(Serialize)]
struct Facts {
    exit_code: Option<i32>,
    signal: Option<i32>,
    truncated: bool,
    output_bytes: u64,
    output_file: Option<String>,
    timed_out: bool,
    cancelled: bool,
    abandoned: bool,
}

impl Ending {
    /// The outcome of the call; `limit` is how many seconds it had.
    pub(super) fn into_outcome(self, limit: u64) -> ToolOutcome {
        let Self { reason, status, abandoned, output } = self;
        let told = output.finish();
        let facts = Facts {
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            truncated: told.is_cut,
            output_bytes: told.bytes,
            output_file: told.file,
            timed_out: reason == Reason::TimedOut,
            cancelled: reason == Reason::Cancelled,
            abandoned,
        };
        let (kind, mut remark) = judge(reason, &facts, limit);
        if abandoned {
            remark.push_str(ABANDONED);
        }
        with_facts(kind, words(&told.text, &remark), &facts)
    }
}

fn judge(reason: Reason, facts: &Facts, limit: u64) -> (ToolStatus, String) {
    match (reason, facts.exit_code, facts.signal) {
        (Reason::Cancelled, ..) => (ToolStatus::Cancelled, "[cancelled]".to_owned()),
        (Reason::TimedOut, ..) => (ToolStatus::Error, format!("[timed out after {limit} s]")),
        (Reason::Exited, Some(0), _) => (ToolStatus::Ok, String::new()),
        (Reason::Exited, Some(code), _) => (ToolStatus::Error, format!("[exit code {code}]")),
        (Reason::Exited, None, Some(signal)) => (ToolStatus::Error, format!("[killed by signal {signal}]")),
        (Reason::Exited, None, None) => (ToolStatus::Error, UNKNOWN.to_owned()),
    }
}

fn words(output: &str, remark: &str) -> String {
    let output = output.trim_end_matches('\n');
    let output = if output.trim().is_empty() { "[no output]" } else { output };
    if remark.is_empty() { output.to_owned() } else { format!("{output}\n{remark}") }
}
