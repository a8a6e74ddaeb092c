//! The guard: it watches over the helper, as the helper does over the command.
//!
//! A command can kill or stop its own helper; it is a process of the same user. So the process that hostler starts is a
//! guard, and the helper is its child. The guard is a subreaper too: whatever the helper leaves behind when it is killed
//! becomes the guard's, and is ended. A helper that is stopped is made to go on. The other way round, the helper ends the
//! tree if its guard is gone, and the system wakes either of them when whoever started it has died.
//!
//! So one of the two may be killed at any time, or both be stopped. A command that kills both in one breath gets away
//! from them; only a sandbox could prevent that.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, set_parent_process_death_signal, wait,
};

use super::super::hunt::Hunt;
use super::{Watch, signals};

/// Which of the two a process is.
pub(super) enum Role {
    /// It has a guard: what becomes readable when the guard is gone.
    Helper(PipeReader),
    /// It is the guard.
    Guard(Guard),
}

/// A guard and what it waits for.
pub(super) struct Guard {
    children: OwnedFd,
    helper: Pid,
    /// Closed by the system when this process ends, in whatever way.
    _alive: io::PipeWriter,
}

/// Makes two of this process. It must have no other threads.
pub(super) fn part() -> io::Result<Role> {
    let children = signals::of_children()?;
    let (guarded, alive) = io::pipe()?;
    wake_when_orphaned();
    match signals::fork()? {
        None => {
            drop((children, alive));
            wake_when_orphaned();
            Ok(Role::Helper(guarded))
        }
        Some(helper) => Ok(Role::Guard(Guard { children, helper, _alive: alive })),
    }
}

/// Whoever stopped this process cannot keep it so beyond the end of the process that started it.
fn wake_when_orphaned() {
    // Going on does nothing to a process that is not stopped. Without this it is merely easier to hold.
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
}

impl Guard {
    /// Waits for the helper's end, and does its work if that was none of its own.
    pub(super) fn until_gone(self, hostler: UnixStream) {
        signals::hold_all();
        super::let_go_of_output();
        while self.helper_lives() {
            self.wait();
        }
        let Self { children, .. } = self;
        let (leader, kill_at, hunt) = (None, None, Some(Hunt::begin()));
        Watch { hostler, connected: false, guard: None, children, leader, kill_at, hunt }.until_gone();
    }

    /// Takes note of what has become of the helper. If it has done its work, this process ends here.
    fn helper_lives(&self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((id, status))) if id == self.helper => match judge(status) {
                    Word::Stopped => drop(kill_process(self.helper, Signal::CONT)),
                    Word::Done => std::process::exit(0),
                    Word::Killed => return false,
                },
                // An orphan of a helper that is about to be found dead.
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn wait(&self) {
        // Nothing interrupts it, and whatever else it could say is found out by the next look around.
        let _ = poll(&mut [PollFd::new(&self.children.as_fd(), PollFlags::IN)], None);
        super::drain(&self.children);
    }
}

enum Word {
    Stopped,
    Done,
    Killed,
}

fn judge(status: WaitStatus) -> Word {
    match status.exit_status() {
        _ if status.stopped() => Word::Stopped,
        Some(0) => Word::Done,
        _ => Word::Killed,
    }
}
