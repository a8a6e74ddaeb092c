//! Standard output and standard error, each written on a thread of its own: a reader that is slow is waited for without
//! anything else having to wait, and one that is gone is noticed.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Errno;
use tokio::sync::{mpsc, oneshot};

use super::whole;

/// How many pieces may be on their way to the reader.
const UNDER_WAY: usize = 16;

/// The writing end.
pub(super) struct Output {
    pieces: Option<mpsc::Sender<String>>,
    ended: oneshot::Receiver<Ended>,
    /// Tells of a reader that goes away while there is nothing to write.
    gone: Option<oneshot::Receiver<()>>,
    over: bool,
    /// Why there is no thread that writes.
    hindrance: Option<io::Error>,
}

/// How writing ended.
enum Ended {
    /// Everything was written.
    Written,
    /// The reader is gone.
    Gone,
    /// It cannot be written for another reason.
    Failed(String),
}

/// Why nothing more is written.
pub(super) enum Lost {
    /// The reader is gone.
    Closed,
    /// It cannot be written for another reason.
    Failed(String),
}

impl Output {
    /// Starts a writer. `out` is what it writes to. Must be called inside a tokio runtime.
    pub(super) fn start(out: impl Write + AsFd + Send + 'static) -> Self {
        Self::start_with(out, |body| thread::Builder::new().name("writer".to_owned()).spawn(body).map(drop))
    }

    /// The same with what starts a thread. Where there is no room for one, everything else waits for the reader: it is no
    /// more than the last lines of a run that cannot go on.
    fn start_with(
        out: impl Write + AsFd + Send + 'static,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
    ) -> Self {
        let (pieces, receiver) = mpsc::channel(UNDER_WAY);
        let (said, ended) = oneshot::channel();
        // A thread that is not started takes nothing with it.
        let work = Arc::new(Mutex::new(Some((out, receiver, said))));
        let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let by_thread = work.clone();
        let body = move || {
            if let Some((out, receiver, said)) = take(&by_thread) {
                // Whoever started the writer may be gone.
                let _ = said.send(write(out, receiver));
            }
        };
        let hindrance = spawn(Box::new(body)).err();
        if hindrance.is_some()
            && let Some((mut out, mut receiver, said)) = take(&work)
        {
            tokio::spawn(async move {
                let mut ended = Ended::Written;
                while let (Ended::Written, Some(piece)) = (&ended, receiver.recv().await) {
                    ended = put(&mut out, &piece);
                }
                let _ = said.send(ended);
            });
        }
        Self { pieces: Some(pieces), ended, gone: None, over: false, hindrance }
    }

    /// Why there is no thread that writes, once.
    pub(super) fn hindrance(&mut self) -> Option<io::Error> {
        self.hindrance.take()
    }

    /// The same, and a reader that goes away is noticed also while there is nothing to write.
    pub(super) fn watched(out: impl Write + AsFd + Send + 'static) -> Self {
        Self { gone: watch(&out), ..Self::start(out) }
    }

    /// Ends when nothing more can be written.
    pub(super) async fn lost(&mut self) -> Lost {
        if self.over {
            return std::future::pending().await;
        }
        let lost = tokio::select! {
            biased;
            ended = &mut self.ended => lost(ended),
            () = told(&mut self.gone) => Some(Lost::Closed),
        };
        let Some(lost) = lost else { return std::future::pending().await };
        self.over = true;
        self.pieces = None;
        lost
    }

    /// Ends when there is room for a piece.
    pub(super) fn ready(&self) -> impl Future<Output = ()> + use<> {
        let pieces = self.pieces.clone();
        async move {
            if let Some(pieces) = pieces {
                // Room and nobody to read it are both reasons to go on.
                let _ = pieces.reserve().await;
            }
        }
    }

    /// Hands a piece over, or gives it back if there is no room. With the reader gone it is dropped.
    pub(super) fn offer(&self, piece: String) -> Option<String> {
        match self.pieces.as_ref()?.try_send(piece) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => None,
            Err(mpsc::error::TrySendError::Full(piece)) => Some(piece),
        }
    }

    /// Waits until all is written, or cannot be, and says why if it cannot. May be given up and asked again.
    pub(super) async fn finish(&mut self) -> Option<Lost> {
        self.pieces = None;
        if self.over {
            return Some(Lost::Closed);
        }
        let ended = (&mut self.ended).await;
        self.over = true;
        lost(ended)
    }
}

/// Whether two outputs lead to the same terminal, so that what is written to them is seen in one order.
pub(super) fn on_one_terminal(
    out: &(impl AsFd + io::IsTerminal),
    errors: &(impl AsFd + io::IsTerminal),
) -> bool {
    let same = |out: Stat, errors: Stat| (out.st_dev, out.st_ino) == (errors.st_dev, errors.st_ino);
    out.is_terminal()
        && errors.is_terminal()
        && fstat(out).ok().zip(fstat(errors).ok()).is_some_and(|(out, errors)| same(out, errors))
}

/// Watches for a reader that goes away, on a thread of its own that goes with the process. Only where somebody reads: a
/// file has no reader, and who leaves a terminal says so with a signal.
fn watch(out: &impl AsFd) -> Option<oneshot::Receiver<()>> {
    let kind = FileType::from_raw_mode(fstat(out).ok()?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::Socket) {
        return None;
    }
    // It is asked for nothing, so that it only tells that nobody is there any more.
    let own = out.as_fd().try_clone_to_owned().ok()?;
    let (said, gone) = oneshot::channel();
    let body = move || {
        loop {
            let mut fds = [PollFd::new(&own, PollFlags::empty())];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Ok(_) if fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                    // The run may be over.
                    let _ = said.send(());
                    return;
                }
                // What cannot be watched is noticed when it is written to.
                Ok(_) | Err(_) => return,
            }
        }
    };
    thread::Builder::new().name("watcher".to_owned()).spawn(body).is_ok().then_some(gone)
}

/// Ends when that is told, and never if nobody can tell it any more.
async fn told(gone: &mut Option<oneshot::Receiver<()>>) {
    if let Some(waiting) = gone.as_mut() {
        if waiting.await.is_ok() {
            return;
        }
        *gone = None;
    }
    std::future::pending().await
}

fn lost(ended: Result<Ended, oneshot::error::RecvError>) -> Option<Lost> {
    match ended {
        Ok(Ended::Written) => None,
        Ok(Ended::Gone) | Err(_) => Some(Lost::Closed),
        Ok(Ended::Failed(why)) => Some(Lost::Failed(why)),
    }
}

fn write(mut out: impl Write + AsFd, mut pieces: mpsc::Receiver<String>) -> Ended {
    while let Some(piece) = pieces.blocking_recv() {
        match put(&mut out, &piece) {
            Ended::Written => {}
            lost @ (Ended::Gone | Ended::Failed(_)) => return lost,
        }
    }
    Ended::Written
}

fn put(out: &mut (impl Write + AsFd), piece: &str) -> Ended {
    match write_all(out, piece.as_bytes()) {
        Ok(()) => Ended::Written,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ended::Gone,
        Err(error) => Ended::Failed(error.to_string()),
    }
}

/// Writes all of it, also to what somebody else has set not to wait.
fn write_all(out: &mut (impl Write + AsFd), mut bytes: &[u8]) -> io::Result<()> {
    whole::wait_for_room(out, bytes.len())?;
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) => wait_for_room(out, error)?,
        }
    }
    loop {
        match out.flush() {
            Ok(()) => return Ok(()),
            Err(error) => wait_for_room(out, error)?,
        }
    }
}

fn wait_for_room(out: &impl AsFd, error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock => match poll(&mut [PollFd::new(out, PollFlags::OUT)], None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        },
        _ => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_does_not_wait_is_waited_for() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        writer.set_nonblocking(true).unwrap();
        let (pieces, receiver) = mpsc::channel(1);
        let text = "0123456789".repeat(200_000);
        let sent = text.clone();
        let sender = std::thread::spawn(move || pieces.blocking_send(sent).is_ok());
        let writing = std::thread::spawn(move || matches!(write(writer, receiver), Ended::Written));
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert!(sender.join().unwrap() && writing.join().unwrap() && read == text);
    }

    #[tokio::test]
    async fn without_room_for_a_thread_the_last_lines_are_written_all_the_same() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        let mut output = Output::start_with(writer, |_| Err(ErrorKind::WouldBlock.into()));
        assert!(output.hindrance().is_some());
        assert!(output.offer("one\n".to_owned()).is_none() && output.offer("two\n".to_owned()).is_none());
        assert!(output.finish().await.is_none());
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "one\ntwo\n");
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_is_noticed_while_there_is_nothing_to_write() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut output = Output::watched(File::from(std::os::fd::OwnedFd::from(writer)));
        drop(reader);
        assert!(matches!(output.lost().await, Lost::Closed));
    }

    #[test]
    fn a_full_disk_is_no_reader_that_went_away() {
        let (pieces, receiver) = mpsc::channel(1);
        pieces.try_send("x".to_owned()).unwrap();
        drop(pieces);
        let full = File::options().write(true).open("/dev/full").unwrap();
        assert!(matches!(write(full, receiver), Ended::Failed(why) if why.contains("No space left")));
    }
}
