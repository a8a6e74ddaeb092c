//! Processes that come of a program under test. All of them inherit a variable of its environment, so they are found
//! wherever they went, also when they left its process group.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use super::wait_until;

/// The variable that marks them.
pub(super) const VARIABLE: &str = "HOSTLER_UNDER_TEST";

/// A value of that variable that no other program of this machine has.
pub(super) fn mark() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// Waits until no process with that mark is left.
pub(super) fn wait_gone(mark: &str) {
    wait_until(&format!("no process of run {mark} is left"), || marked(mark).is_empty());
}

/// Kills all processes with that mark.
pub(super) fn kill(mark: &str) {
    for process in marked(mark) {
        // It may have ended in the meantime.
        let _ = kill_process(process, Signal::KILL);
    }
}

/// The processes with that mark that are alive.
fn marked(mark: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("processes can be listed");
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| has_mark(*id, mark)).filter_map(Pid::from_raw).collect()
}

/// Whether that process has the mark. One that has ended and is not waited for has no environment any more.
fn has_mark(process: i32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let wanted = format!("{VARIABLE}={mark}");
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_found_by_its_mark_until_it_is_gone() {
        let (ours, other) = (mark(), mark());
        let mut sleeper = Command::new("sleep").arg("1000").env(VARIABLE, &ours).spawn().unwrap();
        wait_until("it has begun", || marked(&ours).len() == 1);
        assert!(marked(&other).is_empty());
        kill(&ours);
        sleeper.wait().unwrap();
        wait_gone(&ours);
    }
}
