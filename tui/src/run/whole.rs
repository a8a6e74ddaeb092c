//! Lines that go into a pipe whole or not at all, because this process may have to end, or be killed, while the reader takes
//! nothing, and nobody can take back half a line.
//!
//! Of up to [`AT_ONCE`] bytes the system says so itself. More are written once the pipe is empty and large enough, so that
//! they find room without waiting. Only what is longer than the largest pipe that a process may have is written as it goes.

use std::io;
use std::os::fd::AsFd;

/// How many bytes go into any pipe at once.
const AT_ONCE: usize = 4096;

/// Waits until a pipe has room for so many bytes at once. Of what is no pipe it knows nothing.
#[cfg(target_os = "linux")]
pub(super) fn wait_for_room(out: &impl AsFd, bytes: usize) -> io::Result<()> {
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, ioctl_fionread};
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    /// How long the reader is left alone between two looks; twice as long after each, up to the second.
    const LOOKS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

    if bytes <= AT_ONCE {
        return Ok(());
    }
    // What has no size of this kind is no pipe.
    let Ok(size) = fcntl_getpipe_size(out) else { return Ok(()) };
    if size < bytes {
        // A pipe that cannot be so large takes the line in pieces.
        let _ = fcntl_setpipe_size(out, bytes);
    }
    let mut pause = LOOKS.0;
    while ioctl_fionread(out)? > 0 {
        thread::sleep(pause);
        pause = (pause * 2).min(LOOKS.1);
        // A pipe without a reader is never empty.
        let mut fds = [PollFd::new(out, PollFlags::empty())];
        match poll(&mut fds, Some(&Timespec::default())) {
            Ok(_) if fds[0].revents().contains(PollFlags::ERR) => {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Elsewhere nobody knows how much is in a pipe.
#[cfg(not(target_os = "linux"))]
pub(super) fn wait_for_room(_out: &impl AsFd, _bytes: usize) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_long_line_waits_until_nothing_is_in_its_way() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        wait_for_room(&writer, AT_ONCE).unwrap();
        writer.write_all(b"before").unwrap();
        let (said, done) = mpsc::channel();
        std::thread::spawn(move || {
            wait_for_room(&writer, 300_000).unwrap();
            said.send(rustix::pipe::fcntl_getpipe_size(&writer).unwrap()).unwrap();
        });
        assert!(done.try_recv().is_err());
        reader.read_exact(&mut [0; 6]).unwrap();
        assert!(done.recv().unwrap() >= 300_000, "and has all the room that it needs");
    }

    #[test]
    fn a_reader_that_goes_away_is_not_waited_for() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"before").unwrap();
        drop(reader);
        assert_eq!(wait_for_room(&writer, AT_ONCE + 1).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_is_no_pipe_takes_anything() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        wait_for_room(&one, 1 << 20).unwrap();
        wait_for_room(&std::fs::File::open("/dev/null").unwrap(), 1 << 20).unwrap();
    }
}
