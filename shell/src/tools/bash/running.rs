//! A command while it is running: its output is read, and it is ended when that is asked for or its time is over.
//!
//! However that comes about, its processes are told to end, killed if they do not, and left alone if even that does not
//! end them, so that a call always comes to its end.
//!
//! Both of its outputs go into one pipe, so they come in the order in which they were written.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};

use super::ending::{Ending, Reason};
use super::output::Output;
use super::tree::{NotStarted, Tree, Way};
use crate::tools::control::{Control, Progress};

/// How long output is waited for after the shell has ended; somebody else may hold the pipe.
const DRAIN: Duration = Duration::from_millis(50);
/// How long what the shell has left behind may take to end when it is told to.
const LEFT_BEHIND: Duration = Duration::from_millis(200);
/// How long a command may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(2);
/// How long the system may take to end what is killed, before it is abandoned.
const REAP: Duration = Duration::from_secs(1);
/// How much is read at most of what was written before the end: more than a pipe holds.
const LEFT_OVER: usize = 1024 * 1024;

/// A command that has been started. Dropping it kills its processes.
pub(super) struct Running {
    tree: Tree,
    gone: bool,
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
    output: Output,
}

impl Running {
    /// Starts a command.
    pub(super) fn start(way: Way, command: &str, directory: &Path) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let tree = Tree::start(way, command, directory, writer)?;
        let (buffer, output) = (vec![0; 64 * 1024], Output::default());
        Ok(Self { tree, gone: false, pipe, open: true, buffer, output })
    }

    /// Follows the command to its end, which comes in time.
    pub(super) async fn finish(
        mut self,
        control: &mut Control,
        limit: Duration,
    ) -> Result<Ending, NotStarted> {
        let reason = self.until_reason(control, limit).await?;
        let grace = match reason {
            Reason::Exited => {
                self.until_closed(Instant::now() + DRAIN, &control.progress).await;
                LEFT_BEHIND
            }
            Reason::Cancelled | Reason::TimedOut => GRACE,
        };
        self.tree.terminate();
        self.until_gone(Instant::now() + grace, &control.progress).await;
        if !self.gone {
            self.tree.kill();
            self.until_gone(Instant::now() + REAP, &control.progress).await;
        }
        self.read_left_over(&control.progress);
        Ok(Ending { reason, status: self.tree.status(), abandoned: !self.gone, output: self.output })
    }

    /// Reads until the shell ends, or there is a reason to end it.
    async fn until_reason(&mut self, control: &mut Control, limit: Duration) -> Result<Reason, NotStarted> {
        let deadline = Instant::now() + limit;
        loop {
            tokio::select! {
                biased;
                () = control.cancelled.wait() => return Ok(Reason::Cancelled),
                ended = self.tree.ended() => return ended.map(|_| Reason::Exited),
                () = sleep_until(deadline) => return Ok(Reason::TimedOut),
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    took(read, &self.buffer, &mut self.output, &mut self.open, &control.progress);
                }
            }
        }
    }

    /// Reads until nobody holds the pipe any more, but not for long.
    async fn until_closed(&mut self, deadline: Instant, progress: &Progress) {
        while self.open {
            tokio::select! {
                biased;
                () = sleep_until(deadline) => return,
                read = self.pipe.read(&mut self.buffer) => {
                    took(read, &self.buffer, &mut self.output, &mut self.open, progress);
                }
            }
        }
    }

    /// Reads until all processes are gone, but not for long.
    async fn until_gone(&mut self, deadline: Instant, progress: &Progress) {
        while !self.gone {
            tokio::select! {
                biased;
                () = sleep_until(deadline) => return,
                () = self.tree.gone() => self.gone = true,
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    took(read, &self.buffer, &mut self.output, &mut self.open, progress);
                }
            }
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
