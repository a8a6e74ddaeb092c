//! A command while it is running: its output is read, and it is ended when that is asked for or its time is over.
//!
//! However that comes about, its processes are told to end, killed if they do not, and left alone if even that does not
//! end them, so that a call always comes to its end.
//!
//! Both of its outputs go into one pipe, so they come in the order in which they were written.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::ending::{Ending, Reason};
use super::reader::Reader;
use super::spool::Spool;
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

/// A command that has been started. Dropping it kills its processes.
pub(super) struct Running {
    tree: Tree,
    gone: bool,
    reader: Reader,
}

impl Running {
    /// Starts a command, of whose output more is kept in the spool than in its result.
    pub(super) fn start(way: Way, command: &str, directory: &Path, spool: Spool) -> io::Result<Self> {
        let (reader, writer) = Reader::open(spool)?;
        let tree = Tree::start(way, command, directory, writer)?;
        Ok(Self { tree, gone: false, reader })
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
        let output = self.reader.finish(&control.progress);
        Ok(Ending { reason, status: self.tree.status(), abandoned: !self.gone, output })
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
                () = self.reader.step(&control.progress) => {}
            }
        }
    }

    /// Reads until nobody holds the pipe any more, but not for long.
    async fn until_closed(&mut self, deadline: Instant, progress: &Progress) {
        while self.reader.is_open() {
            tokio::select! {
                biased;
                () = sleep_until(deadline) => return,
                () = self.reader.step(progress) => {}
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
                () = self.reader.step(progress) => {}
            }
        }
    }
}
