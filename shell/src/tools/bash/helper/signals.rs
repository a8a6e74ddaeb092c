//! The helper's signals: it hears of children that end, and of nothing else.
#![allow(unsafe_code, reason = "no safe crate in the tree has signalfd and the signal mask")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

/// A descriptor that can be read when a child has changed, once [`hold_all`] holds the signal back.
pub(super) fn of_children() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set, which outlives the calls; the descriptor is new and has no other owner.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Holds back every signal that can be. What this process starts from here on would inherit that.
pub(super) fn hold_all() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset initialises the set, which outlives the calls; nobody asks for the old mask.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
        // It fails only for a set or a way of setting it that does not exist.
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), ptr::null_mut());
    }
}
