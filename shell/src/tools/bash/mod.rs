//! `bash`: runs a command in a shell of its own.
//!
//! A call ends when the shell ends, is cancelled or has used up its time, whatever the processes that it started still
//! do, and none of them outlives it. What is guaranteed depends on the system:
//!
//! | | Linux | macOS, Linux without `/proc` |
//! | --- | --- | --- |
//! | a call ends | all processes end, wherever they have gone | those of its process group end |
//! | hostler is killed with `kill -9` | all processes end within 2 s | all live on |
//! | the terminal | cannot be reached | can be opened as `/dev/tty` |
//!
//! On Linux a helper watches over each command: see `helper`. A process that belongs to another user, as after `sudo`,
//! cannot be ended by anybody; the call ends nevertheless, and says so. A helper has a guard, so that a command may kill or
//! stop either of them and still be ended. One that kills both in one breath gets away with what has begun a session of
//! its own and lost its parents; only a sandbox could prevent that.

mod ending;
mod environment;
mod grouped;
#[cfg(target_os = "linux")]
mod helped;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod hunt;
mod output;
#[cfg(target_os = "linux")]
mod processes;
mod program;
mod reader;
mod running;
mod shown;
mod spool;
mod tree;
#[cfg(target_os = "linux")]
mod wire;

pub use self::program::supervise;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_core::content::ToolOutcome;
use hostler_core::tools::BashInput;

use self::ending::Ending;
use self::running::Running;
use self::spool::Spool;
use self::tree::{NotStarted, Way};
use super::control::Control;
use super::names;
use super::outcome::{Failure, cancelled, settle};
use super::workspace::Workspace;

/// Runs a command.
pub(super) async fn bash(workspace: &Workspace, input: &BashInput, mut control: Control) -> ToolOutcome {
    if control.cancelled.is_cancelled() {
        return cancelled();
    }
    let directory = match directory(workspace, input) {
        Ok(directory) => directory,
        Err(failure) => return settle(Err(failure)),
    };
    if input.command.contains('\0') {
        let sentence = "The command has a NUL character in it, which no command can have; leave it out.";
        return settle(Err(Failure::new(sentence)));
    }
    let limit = input.limit();
    let (limit_time, output) = (Duration::from_secs(limit), workspace.output());
    match carry_out(&input.command, &directory, output, &mut control, limit_time).await {
        Ok(ending) => ending.into_outcome(limit),
        Err(error) => settle(Err(Failure::new(format!(
            "The command could not be started ({error}); check that it is not too long."
        )))),
    }
}

/// Runs a command under a helper, or in a process group if there is none or it cannot do its work.
async fn carry_out(
    command: &str,
    directory: &Path,
    output: Option<PathBuf>,
    control: &mut Control,
    limit: Duration,
) -> io::Result<Ending> {
    match Running::start(Way::Helper, command, directory, Spool::to(output.clone()))?
        .finish(control, limit)
        .await
    {
        Err(NotStarted::Unable) => {}
        Err(NotStarted::Failed(error)) => return Err(error),
        Ok(ending) => return Ok(ending),
    }
    match Running::start(Way::Group, command, directory, Spool::to(output))?.finish(control, limit).await {
        Err(NotStarted::Unable) => Err(io::ErrorKind::Unsupported.into()),
        Err(NotStarted::Failed(error)) => Err(error),
        Ok(ending) => Ok(ending),
    }
}

fn directory(workspace: &Workspace, input: &BashInput) -> Result<PathBuf, Failure> {
    let path = workspace.resolve(input.working_dir.as_deref().unwrap_or("."))?.path;
    if path.is_dir() { Ok(path) } else { Err(names::not_a_directory(workspace, &path)) }
}

#[cfg(test)]
mod tests;
