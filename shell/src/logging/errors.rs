//! Lines on standard error.

use std::io::{self, ErrorKind, Write};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Writes them all, also to what somebody else has set not to wait; says whether they could be written.
pub(super) fn write(lines: &str) -> bool {
    let mut rest = lines.as_bytes();
    while !rest.is_empty() {
        match io::stderr().write(rest) {
            Ok(0) => return false,
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::new(&io::stderr(), PollFlags::OUT)], None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(_) => return false,
                }
            }
            Err(_) => return false,
        }
    }
    true
}
