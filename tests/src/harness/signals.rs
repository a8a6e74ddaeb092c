//! Signals, to and in the program.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, kill_process};

/// A signal that a test sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

impl Signal {
    /// The exit code of a run that was ended by it.
    pub fn code(self) -> i32 {
        128 + self.number()
    }

    fn number(self) -> i32 {
        match self {
            Self::Hangup => libc::SIGHUP,
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Kill => libc::SIGKILL,
        }
    }

    /// Sends it to one process.
    pub(super) fn send(self, process: u32) {
        let named = match self {
            Self::Hangup => rustix::process::Signal::HUP,
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
        };
        let process =
            i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process has an id above zero");
        kill_process(process, named).expect("the program was not waited for, so it can be signalled");
    }
}

/// Lets a command begin with the signals that end a run ignored or not. Whoever runs the tests may have ignored some,
/// as `nohup` and background jobs do, and that is inherited.
#[allow(unsafe_code, reason = "no safe crate sets the disposition of a signal between fork and exec")]
pub(super) fn set(command: &mut Command, ignored: Vec<Signal>) {
    let dispositions: Vec<_> = [Signal::Hangup, Signal::Interrupt, Signal::Terminate]
        .map(|signal| {
            (signal.number(), if ignored.contains(&signal) { libc::SIG_IGN } else { libc::SIG_DFL })
        })
        .into();
    let set = move || {
        for (number, disposition) in &dispositions {
            // SAFETY: signal(2) may be called between fork and exec, and neither value is a handler of ours.
            if unsafe { libc::signal(*number, *disposition) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure only calls signal(2) and reads a vector that was made before the fork.
    unsafe { command.pre_exec(set) };
}
