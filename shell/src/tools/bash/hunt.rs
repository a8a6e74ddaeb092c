//! Finds processes and ends them, together with all that descend from them.
//!
//! The helper of a command is the subreaper of all that the command starts, and so their ancestor for as long as they
//! live: what it looks for it can find again and again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, getsid, kill_process, kill_process_group};

use super::processes::{self, Process};

/// First nobody multiplies or reacts any more, then nobody lives.
const KILLING: [Signal; 2] = [Signal::STOP, Signal::KILL];
/// How often the whole is looked at when nobody is there to do so until all are gone.
const ROUNDS: u32 = 3;
/// How long is waited before looking again: if something new was found, and at the most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));
/// How long it is tried. What cannot be killed by then belongs to somebody else, or hangs in the system.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells once those for which `is_root` holds, and their descendants, to end.
pub(super) fn terminate_all(is_root: impl Fn(&Process) -> bool) {
    // A stopped process does not hear of anything else before it goes on.
    signal_all(&find(is_root), [Signal::TERM, Signal::CONT]);
}

/// Kills those for which `is_root` holds, and their descendants.
pub(super) fn kill_all(is_root: impl Fn(&Process) -> bool) {
    for _ in 0..ROUNDS {
        signal_all(&find(&is_root), KILLING);
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
        signal_all(&found, KILLING);
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

/// Sends signals to processes, to each of them once.
///
/// They are reached through their groups, each of which is signalled in one piece, so that nobody slips away by forking.
/// All members of such a group are meant, because its session was begun by the helper or by something that the helper has
/// started. Only who has joined the group of this process, or of the leader of its session, is signalled alone: the
/// helper's guard is that leader.
fn signal_all(found: &[Process], signals: [Signal; 2]) {
    let own = [Some(getpgrp()), getsid(None).ok()].map(|id| id.map_or(0, |id| id.as_raw_nonzero().get()));
    let groups: BTreeSet<i32> =
        found.iter().map(|process| process.group).filter(|id| !own.contains(id)).collect();
    for signal in signals {
        // Whoever it is may have gone meanwhile, or belong to another user.
        for group in groups.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
        for process in found.iter().filter(|process| own.contains(&process.group)) {
            let _ = Pid::from_raw(process.id).map(|id| kill_process(id, signal));
        }
    }
}
