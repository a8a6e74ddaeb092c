//! The state of a world at one moment, in words.

use std::fmt::Write;

use hostler_core::session::Durable;

use super::process::Process;
use super::{START, World};

/// How much of what is going to happen is told.
const AHEAD: usize = 8;

impl World {
    /// What there is: each process with its sessions, what is on its way to it, the locks, and what happens next.
    pub fn state(&self) -> Vec<String> {
        let mut lines =
            vec![format!("after event {}, {} ms from the beginning", self.events, self.now - START)];
        for process in &self.processes {
            lines.push(self.process_line(process));
            let open = self.disk.folds.keys().filter_map(|session| process.machine.durable(session));
            lines.extend(open.map(|durable| self.session_line(process, durable)));
        }
        for (session, ((process, _), since)) in &self.disk.locks {
            let since = since.saturating_sub(START);
            lines.push(format!("process {process} has had the lock of {session} since {since} ms"));
        }
        let mut ahead: Vec<_> = self.agenda.all().collect();
        ahead.sort_by_key(|(at, order, _)| (*at, *order));
        let more = ahead.len().saturating_sub(AHEAD);
        for (at, _, what) in ahead.into_iter().take(AHEAD) {
            lines.push(format!("next: in {} ms {what:?}", at.saturating_sub(self.now)));
        }
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    fn process_line(&self, process: &Process) -> String {
        let alive = if process.alive { "runs" } else { "is gone" };
        let mut line = format!("process {} {alive}, {}", process.number, process.doing());
        let waiting = process.inbox.len() + process.pending.len();
        // Writing to a string cannot fail.
        let _ = write!(line, "; {waiting} inputs wait");
        if process.suspended > self.now {
            let _ = write!(line, "; suspended for {} ms more", process.suspended - self.now);
        }
        line
    }

    fn session_line(&self, process: &Process, durable: &Durable) -> String {
        let mut line = format!("  {}:", durable.id);
        match &durable.turn {
            None => line.push_str(" no turn"),
            Some(turn) => {
                let _ = write!(
                    line,
                    " turn {} ({:?}), step {}, attempt {}",
                    turn.id, turn.purpose, turn.step, turn.attempt
                );
                if let Some(reason) = turn.cancelling {
                    let _ = write!(line, ", is being cancelled ({reason:?})");
                }
            }
        }
        for open in durable.open.values() {
            let _ = write!(line, "; {} {:?}", open.prompt.id, open.phase);
        }
        for asked in &durable.asks {
            let _ = write!(line, "; asks about {} of {}", asked.id.call, asked.id.session);
        }
        if let Some((at, deadline)) = process.machine.deadline_of(&durable.id) {
            let at = at.as_millis() + process.behind;
            let _ = write!(line, "; {deadline:?} in {} ms", at.saturating_sub(self.now));
        }
        line
    }
}
