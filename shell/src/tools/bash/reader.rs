//! Reads what a command prints, keeps what is kept of it, and shows what is shown.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::Instant;

use super::output::Output;
use super::shown::Shown;
use super::spool::Spool;
use crate::tools::control::Progress;

/// How much is read at a time: as much as a pipe holds.
const PIECE: usize = 64 * 1024;
/// How much is read at most of what was written before the end: more than a pipe holds.
const LEFT_OVER: usize = 1024 * 1024;

/// The reading end of a command's output.
pub(super) struct Reader {
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
    output: Output,
    shown: Shown,
}

impl Reader {
    /// A reader, and the end into which the command writes.
    /// What is too much for a result goes to the spool.
    pub(super) fn open(spool: Spool) -> io::Result<(Self, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let (buffer, output, shown) = (vec![0; PIECE], Output::new(spool), Shown::new());
        Ok((Self { pipe, open: true, buffer, output, shown }, writer))
    }

    /// Whether somebody may still write.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Waits for something to read, or to show, and does so. Ends never if there is nothing more to come.
    pub(super) async fn step(&mut self, progress: &Progress) {
        tokio::select! {
            biased;
            () = self.shown.due() => self.shown.show(Instant::now(), progress),
            read = self.pipe.read(&mut self.buffer), if self.open => self.took(read, progress),
            else => std::future::pending().await,
        }
    }

    /// Reads what is there without waiting for more, and returns all that was kept.
    pub(super) fn finish(mut self, progress: &Progress) -> Output {
        let mut total = 0;
        while self.open && total < LEFT_OVER {
            match rustix::io::read(&self.pipe, self.buffer.as_mut_slice()) {
                Ok(length) => {
                    total += length;
                    self.took(Ok(length), progress);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => self.open = false,
            }
        }
        self.shown.show(Instant::now(), progress);
        self.output
    }

    fn took(&mut self, read: io::Result<usize>, progress: &Progress) {
        match read {
            Ok(0) | Err(_) => self.open = false,
            Ok(length) => {
                let text = self.output.add(&self.buffer[..length]);
                self.shown.add(&text, Instant::now(), progress);
            }
        }
    }
}
