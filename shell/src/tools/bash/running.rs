//! A command while it is running: its output is read, and it is stopped when that is asked for or its time is over.
//!
//! Both of its outputs go into one pipe, so they come in the order in which they were written.

use std::io::{self, ErrorKind, PipeWriter};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use super::ending::{Ending, Reason};
use super::environment;
use super::group::Group;
use super::output::Output;
use crate::tools::control::{Control, Progress};

/// How long output is waited for after the shell has ended; somebody else may hold the pipe.
const DRAIN: Duration = Duration::from_millis(50);
/// How long a command may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long the system may take to end what was killed.
const REAP: Duration = Duration::from_secs(1);
/// How much is read at most of what was written before the end: more than a pipe holds.
const LEFT_OVER: usize = 1024 * 1024;

/// A command that has been started. Dropping it kills its process group.
pub(super) struct Running {
    // Dropped first, while the process cannot have been reaped.
    group: Group,
    child: Child,
    status: Option<ExitStatus>,
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
    output: Output,
}

impl Running {
    /// Starts a command with bash, or with sh where there is no bash.
    pub(super) fn start(command: &str, directory: &Path) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let child = match spawn("bash", command, directory, writer.try_clone()?) {
            Err(error) if error.kind() == ErrorKind::NotFound => spawn("sh", command, directory, writer),
            spawned => spawned,
        }?;
        Ok(Self {
            group: Group::led_by(child.id()),
            child,
            status: None,
            pipe,
            open: true,
            buffer: vec![0; 64 * 1024],
            output: Output::default(),
        })
    }

    /// Follows the command to its end, which comes in time.
    pub(super) async fn finish(mut self, control: &mut Control, limit: Duration) -> Ending {
        let reason = self.until_reason(control, limit).await;
        let drained = match reason {
            Reason::Exited => Instant::now() + DRAIN,
            Reason::Cancelled | Reason::TimedOut => {
                self.group.terminate();
                Instant::now() + GRACE
            }
        };
        self.until_quiet(drained, &control.progress).await;
        self.group.kill().await;
        self.until_reaped().await;
        self.read_left_over(&control.progress);
        self.group.release();
        Ending { reason, status: self.status, output: self.output }
    }

    /// Reads until the shell ends, or there is a reason to end it.
    async fn until_reason(&mut self, control: &mut Control, limit: Duration) -> Reason {
        let deadline = Instant::now() + limit;
        loop {
            tokio::select! {
                biased;
                () = control.cancelled.wait() => return Reason::Cancelled,
                status = self.child.wait() => {
                    self.status = status.ok();
                    return Reason::Exited;
                }
                () = sleep_until(deadline) => return Reason::TimedOut,
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    took(read, &self.buffer, &mut self.output, &mut self.open, &control.progress);
                }
            }
        }
    }

    /// Reads until nobody holds the pipe and the shell has ended, but not for long.
    async fn until_quiet(&mut self, deadline: Instant, progress: &Progress) {
        while self.open || self.status.is_none() {
            tokio::select! {
                biased;
                () = sleep_until(deadline) => return,
                status = self.child.wait(), if self.status.is_none() => match status {
                    Ok(status) => self.status = Some(status),
                    Err(_) => return,
                },
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    took(read, &self.buffer, &mut self.output, &mut self.open, progress);
                }
            }
        }
    }

    /// Waits for the killed shell. What the system cannot end now is reaped in the background whenever it ends.
    async fn until_reaped(&mut self) {
        if self.status.is_none() {
            let reaped = tokio::time::timeout(REAP, self.child.wait()).await;
            self.status = reaped.ok().and_then(Result::ok);
        }
    }

    /// Reads what is in the pipe without waiting for more.
    fn read_left_over(&mut self, progress: &Progress) {
        let mut total = 0;
        while self.open && total < LEFT_OVER {
            match rustix::io::read(&self.pipe, self.buffer.as_mut_slice()) {
                Ok(length) => {
                    total += length;
                    took(Ok(length), &self.buffer, &mut self.output, &mut self.open, progress);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => self.open = false,
            }
        }
    }
}

/// Takes in what came of reading the pipe.
fn took(read: io::Result<usize>, buffer: &[u8], output: &mut Output, open: &mut bool, progress: &Progress) {
    match read {
        Ok(0) | Err(_) => *open = false,
        Ok(length) => progress.piece(&output.add(&buffer[..length])),
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
