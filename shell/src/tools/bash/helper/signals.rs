//! The helper's signals: it hears of children that end or stop, and of nothing else. And how it comes to have a guard.
#![allow(unsafe_code, reason = "no safe crate in the tree has signalfd, handlers, the signal mask and fork")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

/// What would end or stop the helper if it were sent, faults apart.
const UNWANTED: [libc::c_int; 16] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGXCPU,
    libc::SIGSTKFLT,
];

/// Lets signals do nothing to this process, and what they always do to the programs that it starts: handlers do not
/// survive the start of a program. What is ignored stays so, because whoever started hostler wants that of commands too.
pub(super) fn do_nothing() {
    let handler: extern "C" fn(libc::c_int) = nothing;
    for signal in UNWANTED {
        // SAFETY: both actions are values that outlive the calls, an action of zeros is a valid one, and the handler does
        // nothing at all.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &mut action) == 0 && action.sa_sigaction != libc::SIG_IGN
            {
                action = std::mem::zeroed();
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    }
}

extern "C" fn nothing(_: libc::c_int) {}

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

/// Makes two of this process, which must be the only thread of it: the new one, which gets nothing, and this one, which
/// gets the new one's id.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: there is no other thread that could hold a lock which the new process would wait for.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        id => Ok(Pid::from_raw(id)),
    }
}
