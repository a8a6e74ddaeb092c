//! Sub-agents that are stopped while they work: by a signal, by their provider, and by the death of the process.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use hostler_core::machine::Entry;
use hostler_core::record::{Reason, Record};
use hostler_shell::store::Store;
use hostler_tests::harness::{Home, Running, wait_until};
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::{Value, json};

use crate::agents::{child_of, delegates, run_of, with_one};
use crate::cancel::{SIGNALS, contents, ends, goes_on};
use crate::{PATIENCE, home};

/// Longer than anybody can read to its end, and without a line break behind its beginning. It occupies hardly any disk.
const HUGE: u64 = 1 << 40;

fn huge(home: &Home) {
    let mut file = File::create(home.work().join("huge")).unwrap();
    file.write_all("word ".repeat(4_000).as_bytes()).unwrap();
    file.set_len(HUGE).unwrap();
}

/// Waits until the program has that file open.
fn reads(run: &Running<'_>, name: &str) {
    let open = format!("/proc/{}/fd", run.id());
    wait_until(&format!("{name} is read"), || {
        let mut files = fs::read_dir(&open).unwrap().flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|path| path.ends_with(name)))
    });
}

fn delegating(sub_agent: impl IntoIterator<Item = Answer>) -> StrictProvider {
    with_one([delegates("Look around."), Answer::say("never")], sub_agent)
}

/// What came of the run and of the sub-agent that it had.
#[track_caller]
fn both_ended(home: &Home, run: &Value, reason: &str) {
    for id in [run["run"].as_str().unwrap(), &child_of(run)] {
        let shown = run_of(home, id);
        assert_eq!(
            (&shown["finished"]["reason"], &shown["activity"]),
            (&json!(reason), &json!("idle")),
            "{shown}"
        );
    }
}

#[test]
fn a_signal_ends_one_that_is_being_answered() {
    for signal in SIGNALS {
        let (home, gate) = (home(), Gate::new());
        let looks = Answer::calling("c1", "ls", json!({})).usage(50, 5);
        gate.open();
        let provider = delegating([looks, Answer::say("Half").gate(&gate).stall()]);
        let run = home.run(&provider, ["Hi"]).start();
        let call = run.wait_for_line("tool.started");
        assert!(gate.wait_reached(PATIENCE));
        let run = ends(run, signal);
        assert!(provider.wait_for_hang_ups(1, PATIENCE), "its request is given up");
        assert_eq!(
            (&run.last()["tools"]["cancelled"], &run.last()["usage"]["input"]),
            (&json!(1), &json!(150))
        );
        both_ended(&home, &call, signal.1);
        assert!(contents(&goes_on(&home)).contains("The sub-agent was cancelled"));
    }
}

#[test]
fn a_signal_ends_one_with_a_running_tool() {
    for signal in SIGNALS {
        let home = home();
        huge(&home);
        let views = Answer::calling("c1", "view", json!({"file_path": "huge", "offset": 9}));
        let provider = delegating([views, Answer::say("never")]);
        let run = home.run(&provider, ["Hi"]).start();
        let call = run.wait_for_line("tool.started");
        reads(&run, "huge");
        let run = ends(run, signal);
        assert_eq!(run.last()["tools"]["cancelled"], 1);
        assert_eq!(provider.requests().len(), 2, "nobody is asked any more");
        both_ended(&home, &call, signal.1);
        goes_on(&home);
    }
}

#[test]
fn a_limit_of_its_provider_is_its_own_and_the_run_goes_on() {
    let home = home();
    let provider =
        with_one([delegates("Look around."), Answer::say("Later.")], [Answer::rate_limited("3600")]);
    let run = home.run(&provider, ["Hi"]).finish().expect_code(0);
    assert_eq!((&run.last()["answer"], &run.last()["tools"]["failed"]), (&json!("Later."), &json!(1)));
    let call = run.lines().first("tool.started").unwrap().clone();
    assert_eq!(run_of(&home, &child_of(&call))["finished"]["reason"], "max_wait");
}

/// The log of the only workspace, without the pieces that may be deleted once they are stated whole.
fn log(home: &Home) -> Vec<(u64, Entry)> {
    let workspaces = home.state().join("hostler/workspaces");
    let dir: PathBuf = fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let mut entries = Store::open(&dir).unwrap().after(0, 10_000).unwrap();
    entries.retain(|(_, entry)| !entry.record.is_chunk());
    entries
}

fn place(log: &[(u64, Entry)], fits: impl Fn(&Entry) -> bool) -> usize {
    let found: Vec<_> = (0..log.len()).filter(|at| fits(&log[*at].1)).collect();
    assert_eq!(found.len(), 1, "there is exactly one");
    found[0]
}

#[test]
fn when_the_process_is_killed_the_next_run_settles_sub_agents_first() {
    let (home, gate) = (home(), Gate::new());
    gate.open();
    let looks = Answer::calling("c1", "ls", json!({})).usage(50, 5);
    let provider = delegating([looks, Answer::say("Half").gate(&gate).stall()]);
    let run = home.run(&provider, ["Hi"]).start();
    let call = run.wait_for_line("tool.started");
    assert!(gate.wait_reached(PATIENCE));
    let (id, child) = (call["run"].as_str().unwrap().to_owned(), child_of(&call));
    let running = format!("running in process {}", run.id());
    for id in [&id, &child] {
        let shown = home.hostler(["runs", "show", id]).finish().expect_code(0).out;
        assert!(shown.contains(&running), "{shown}");
    }
    run.kill();

    for id in [&id, &child] {
        let shown = run_of(&home, id);
        assert_eq!(
            (&shown["finished"], &shown["activity"]),
            (&Value::Null, &json!("interrupted")),
            "{shown}"
        );
    }
    let listed = home.hostler(["sessions", "list", "--json"]).finish().expect_code(0).out;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let before = log(&home);

    let sent = contents(&goes_on(&home));
    assert!(sent.contains("The program stopped while this was due or running"), "{sent}");
    both_ended(&home, &call, "interrupted");
    let usage = &run_of(&home, &id)["finished"]["usage"];
    assert_eq!((&usage["input"], &usage["output"]), (&json!(150), &json!(25)));

    let after = log(&home);
    assert_eq!(after[..before.len()], before, "no record is lost or changed");
    let ended = |session: &str| {
        place(&after, |entry| {
            entry.session.as_str() == session
                && matches!(&entry.record, Record::RunFinished(end) if end.reason == Reason::Interrupted)
        })
    };
    let counted = place(&after, |entry| matches!(entry.record, Record::SubAgentFinished { .. }));
    let root = call["session"].as_str().unwrap();
    assert!(ended(&child) < counted && counted < ended(root));
    assert_eq!(log(&home).len(), after.len(), "it is settled once");
}
