//! A command's process group: signalled as a whole, and killed when nobody waits for it any more.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::sleep;

/// How often the group is looked at again after it was killed: a process may have been born in the meantime.
const ROUNDS: u32 = 3;
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(5);

/// A process group that lives no longer than this.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group that a process with that id leads.
    pub(super) fn led_by(id: Option<u32>) -> Self {
        Self(id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// Asks all processes of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        // A stopped process does not hear of anything else before it goes on.
        self.signal(Signal::CONT);
    }

    /// Kills all processes of the group.
    pub(super) async fn kill(&mut self) {
        for _ in 0..ROUNDS {
            if !self.signal(Signal::KILL) {
                break;
            }
            sleep(PAUSE).await;
        }
    }

    /// Lets go of the group: from here on its id may belong to others.
    pub(super) fn release(&mut self) {
        self.0 = None;
    }

    /// Sends a signal; whether there was anybody to get it.
    fn signal(&self, signal: Signal) -> bool {
        self.0.is_some_and(|id| kill_process_group(id, signal).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
