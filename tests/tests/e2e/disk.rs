//! A disk that takes nothing more, in the middle of a run.

use std::fs::{self, File};
use std::path::PathBuf;

use hostler_tests::harness::{Home, PATIENCE, Signal};
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::home;

#[test]
fn a_log_that_is_deleted_during_a_run_is_noticed() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start(Answer::say("Hello.").gate(&gate));
    let run = home.run_text(&provider, ["--format", "json", "Hi"]).start();
    assert!(gate.wait_reached(PATIENCE));
    fs::remove_dir_all(home.state().join("hostler/workspaces")).unwrap();
    gate.open();
    let run = run.finish().expect_code(1);
    let last: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(last["reason"], "storage");
    let message = last["message"].as_str().unwrap();
    assert!(message.contains("was deleted or moved away while it was in use"), "{message}");
}

#[test]
fn that_the_log_is_gone_is_said_once() {
    let (home, gate) = (home(), Gate::new());
    let calls = Answer::calling("c1", "ls", serde_json::json!({}));
    let provider = StrictProvider::start([calls.gate(&gate), Answer::say("Hello.")]);
    let run = home.run_text(&provider, ["Hi"]).start();
    assert!(gate.wait_reached(PATIENCE));
    fs::remove_dir_all(home.state().join("hostler/workspaces")).unwrap();
    gate.open();
    let run = run.finish().expect_code(1);
    assert_eq!(run.err.matches("was deleted or moved away").count(), 1, "{}", run.err);
    let provider = StrictProvider::start(Answer::say("Anew."));
    home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
}

/// The log of the only workspace, opened so that it can be locked.
fn log(home: &Home) -> File {
    let workspaces = home.state().join("hostler/workspaces");
    let dir: PathBuf = fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    File::options().read(true).write(true).open(dir.join("hostler.db")).unwrap()
}

#[test]
fn a_log_that_somebody_has_locked_is_waited_for_a_moment_and_then_said() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    home.run(&provider, ["Hi"]).finish().expect_code(0);
    let log = log(&home);
    fcntl_lock(&log, FlockOperation::LockExclusive).unwrap();
    let run = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(1);
    assert_eq!(run.lines().kinds(), ["run.started", "run.finished"], "the first line waits for no log");
    assert_eq!(run.last()["reason"], "storage");
    fcntl_lock(&log, FlockOperation::Unlock).unwrap();
    provider.push(Answer::say("Again."));
    home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
}

#[test]
fn a_signal_is_obeyed_while_the_log_is_locked() {
    for signal in [Signal::Interrupt, Signal::Terminate, Signal::Hangup] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
        home.run(&provider, ["Hi"]).finish().expect_code(0);
        let log = log(&home);
        fcntl_lock(&log, FlockOperation::LockExclusive).unwrap();
        let run = home.run(&provider, ["--continue", "Hi"]).start();
        run.wait_for_line("run.started");
        run.signal(signal);
        let run = run.finish().expect_code(signal.code());
        assert_eq!(run.lines().kinds(), ["run.started", "run.finished"]);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_a_failure_that_is_said() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.").repeat(2_000, "0123456789")));
    let limited = r#"ulimit -f 100; exec "$0" "$@""#;
    let run = home.run_text(&provider, ["--format", "json", "Hi"]).through_shell(limited).finish();
    assert_eq!((run.code, run.signal), (Some(1), None), "{}", run.err);
    let last: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!((&last["reason"], &last["status"]), (&"storage".into(), &"error".into()), "{last}");
}
