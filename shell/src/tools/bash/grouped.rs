//! A command that runs in a process group: where there is no helper.
//!
//! It is what macOS has, and Linux without `/proc`. Signalling the group reaches what the command has started, except what
//! has left the group, as `setsid`, daemons and shells with job control do. Such processes live on, and all of them do
//! if hostler itself is killed with `kill -9`. The command keeps hostler's terminal, though not as its input.

use std::io::{self, ErrorKind, PipeWriter};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::environment;

/// How often the group is killed: a process may have been born in the meantime.
const ROUNDS: u32 = 3;
/// How long to wait before looking again if the group is empty: its members are not ours to wait for.
const PAUSE: Duration = Duration::from_millis(5);

/// A command's process group. Dropping it kills the group.
pub(super) struct Grouped {
    child: Child,
    group: Option<Pid>,
    status: Option<ExitStatus>,
    /// How often it is still to be killed, once that has begun.
    rounds: Option<u32>,
}

impl Grouped {
    /// Starts a command with bash, or with sh where there is no bash.
    pub(super) fn start(command: &str, directory: &Path, output: PipeWriter) -> io::Result<Self> {
        let child = match spawn("bash", command, directory, output.try_clone()?) {
            Err(error) if error.kind() == ErrorKind::NotFound => spawn("sh", command, directory, output),
            spawned => spawned,
        }?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, group, status: None, rounds: None })
    }

    /// Waits for the shell's end.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.wait().await.ok();
        }
        self.status
    }

    /// Waits until the group is empty, or has been killed as often as makes sense: what was killed counts as a member
    /// until its parent takes note of it, which may take as long as it likes.
    pub(super) async fn gone(&mut self) {
        self.ended().await;
        while self.group.is_some_and(|group| test_kill_process_group(group).is_ok()) && self.rounds != Some(0)
        {
            if let Some(rounds) = &mut self.rounds {
                *rounds -= 1;
                self.signal(Signal::KILL);
            }
            sleep(PAUSE).await;
        }
        // From here on the id may belong to others.
        self.group = None;
    }

    /// Tells all of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        // A stopped process does not hear of anything else before it goes on.
        self.signal(Signal::CONT);
    }

    /// Kills all of the group.
    pub(super) fn kill(&mut self) {
        self.rounds = Some(ROUNDS);
        self.signal(Signal::KILL);
    }

    /// How the shell has ended, if it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be empty by now.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Grouped {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Starts a shell that leads a process group of its own. `--` keeps a command that begins with a dash from being taken
/// for options.
fn spawn(shell: &str, command: &str, directory: &Path, output: PipeWriter) -> io::Result<Child> {
    Command::new(shell)
        .args(["-c", "--", command])
        .current_dir(directory)
        .env_clear()
        .envs(environment::passed_on(std::env::vars_os()))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()
}
