//! `bash`: runs a command in a shell of its own.
//!
//! A call ends when the shell ends, is cancelled or has used up its time, whatever the processes that it started still
//! do; those of its process group are killed then. A process that has left the group, as `setsid` does, is not followed
//! yet.

mod ending;
mod environment;
mod group;
mod output;
mod running;

use std::path::PathBuf;
use std::time::Duration;

use hostler_core::content::ToolOutcome;
use hostler_core::tools::BashInput;

use self::running::Running;
use super::control::Control;
use super::names;
use super::outcome::{Failure, cancelled, settle};
use super::workspace::Workspace;

/// How many seconds a command may take unless the call says otherwise.
const TIMEOUT: u64 = 120;
/// How many seconds a command may take at most.
const MAX_TIMEOUT: u64 = 3600;

/// Runs a command.
pub(super) async fn bash(workspace: &Workspace, input: &BashInput, mut control: Control) -> ToolOutcome {
    if control.cancelled.is_cancelled() {
        return cancelled();
    }
    let started = directory(workspace, input).and_then(|directory| {
        Running::start(&input.command, &directory).map_err(|error| {
            Failure::new(format!(
                "The command could not be started ({error}); check that it is not too long."
            ))
        })
    });
    let limit = input.timeout.unwrap_or(TIMEOUT).clamp(1, MAX_TIMEOUT);
    match started {
        Ok(running) => running.finish(&mut control, Duration::from_secs(limit)).await.into_outcome(limit),
        Err(failure) => settle(Err(failure)),
    }
}

fn directory(workspace: &Workspace, input: &BashInput) -> Result<PathBuf, Failure> {
    let path = workspace.resolve(input.working_dir.as_deref().unwrap_or("."))?.path;
    if path.is_dir() { Ok(path) } else { Err(names::not_a_directory(workspace, &path)) }
}

#[cfg(test)]
mod tests;
