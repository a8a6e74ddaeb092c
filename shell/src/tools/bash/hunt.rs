//! Finds processes and ends them, together with all that descend from them.
//!
//! The helper of a command is the subreaper of all that the command starts, and so their ancestor for as long as they
//! live: what it looks for it can find again and again.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};

use super::processes::{self, Process};

/// How often the whole is looked at when nobody is there to do so until all are gone.
const ROUNDS: u32 = 3;
/// How long is waited before looking again: if something new was found, and at the most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));
/// How long it is tried. What cannot be killed by then belongs to somebody else, or hangs in the system.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells once those for which `is_root` holds, and their descendants, to end.
pub(super) fn terminate_all(is_root: impl Fn(&Process) -> bool) {
    for process in find(is_root) {
        signal(process.id, Signal::TERM);
        // A stopped process does not hear of anything else before it goes on.
        signal(process.id, Signal::CONT);
    }
}

/// Kills those for which `is_root` holds, and their descendants.
pub(super) fn kill_all(is_root: impl Fn(&Process) -> bool) {
    for _ in 0..ROUNDS {
        strike(&find(&is_root));
    }
}

/// Killing in rounds, until there is nothing left.
pub(super) struct Hunt {
    until: Instant,
    next: Instant,
    pause: Duration,
    seen: Vec<i32>,
}

impl Hunt {
    /// Begins at once.
    pub(super) fn begin() -> Self {
        let now = Instant::now();
        Self { until: now + PATIENCE, next: now, pause: PAUSES.0, seen: Vec::new() }
    }

    /// When the next round is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// One round. Whether another makes sense.
    pub(super) fn round(&mut self, is_root: impl Fn(&Process) -> bool) -> bool {
        let found = find(is_root);
        strike(&found);
        let ids: Vec<i32> = found.iter().map(|process| process.id).collect();
        let news = ids.iter().any(|id| !self.seen.contains(id));
        self.pause = if news { PAUSES.0 } else { (self.pause * 2).min(PAUSES.1) };
        self.seen = ids;
        let now = Instant::now();
        self.next = now + self.pause;
        now < self.until
    }
}

/// Without the table there is nobody to be found, but it may come back.
fn find(is_root: impl Fn(&Process) -> bool) -> Vec<Process> {
    processes::table().map(|table| processes::tree(&table, is_root)).unwrap_or_default()
}

/// Stops processes, so that they neither multiply nor react, and kills them.
///
/// Their groups are signalled too, each in one piece: nobody slips away by forking. All members of such a group are to be
/// ended, because its session was begun by the helper or by something that the helper has started.
fn strike(found: &[Process]) {
    let own = getpgrp().as_raw_nonzero().get();
    let mut groups: Vec<i32> = found.iter().map(|process| process.group).filter(|id| *id != own).collect();
    groups.sort_unstable();
    groups.dedup();
    for with in [Signal::STOP, Signal::KILL] {
        for group in groups.iter().copied().filter_map(Pid::from_raw) {
            // It may have gone meanwhile, or belong to another user.
            let _ = kill_process_group(group, with);
        }
        found.iter().for_each(|process| signal(process.id, with));
    }
}

fn signal(id: i32, signal: Signal) {
    if let Some(id) = Pid::from_raw(id) {
        // As above.
        let _ = kill_process(id, signal);
    }
}
