//! The helper under which a command runs: what it hides, and what happens to it.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::place::Place;

/// Runs a command to its end, and checks that only hostler lives when its result is there.
#[track_caller]
fn check(command: &str, status: &str, output: &str) {
    let place = Place::new();
    let mut run = place.start(&[command]);
    let result = run.result(1);
    assert_eq!(
        (result["status"].as_str(), result["output"].as_str()),
        (Some(status), Some(output)),
        "{command}"
    );
    let left = place.left();
    assert_eq!(left.len(), 1, "{command}: {left:?}");
}

#[test]
fn it_has_a_session_without_a_terminal_and_hides_nothing_else() {
    check(
        "guard=$(($(ps -o ppid= -p $PPID))); ps -o comm=,sid=,tty= -p $guard,$PPID | sed \"s/$guard/GUARD/\" | tr -s ' '",
        "ok",
        "command-guard GUARD ?\nhostler-helper GUARD ?",
    );
    check("tr '\\0' ' ' < /proc/$PPID/cmdline", "ok", "hostler __supervise ");
    check("tr '\\0' '\\n' < /proc/$PPID/environ | grep -c sk-secret", "error", "0\n[exit code 1]");
    check("env | grep -c sk-secret", "error", "0\n[exit code 1]");
}

#[test]
fn it_takes_no_signals_from_the_command() {
    check(
        "kill $PPID; kill -INT $PPID; kill -HUP $PPID; kill -QUIT $PPID; kill -USR1 $PPID; echo on",
        "ok",
        "on",
    );
    check("kill -TERM 0; echo never", "error", "[no output]\n[killed by signal 15]");
}

#[test]
fn the_command_begins_with_no_signal_held_back() {
    check("grep SigBlk /proc/self/status | tr -cd 0-9a-f | tr -d 0b", "ok", "[no output]");
    check("kill -PIPE $$", "error", "[no output]\n[killed by signal 13]");
    check("kill -INT $$", "error", "[no output]\n[killed by signal 2]");
}

/// What is left of a command whose helper is killed, however hard it tries to get away.
#[test]
fn killed_it_takes_the_command_with_it() {
    let away = "sleep 1000 & setsid sh -c '(setsid sleep 1000 > /dev/null 2>&1 &)'";
    for command in [
        format!("{away}; kill -9 $PPID; echo on; sleep 1000"),
        format!("{away}; kill -9 $(ps -o ppid= -p $PPID); sleep 1000"),
        format!("{away}; kill -9 -- -$(($(ps -o pgid= -p $PPID))); sleep 1000"),
        format!("{away}; (trap '' TERM; kill -9 $(ps -o ppid= -p $PPID); exec setsid sleep 1000)"),
    ] {
        let place = Place::new();
        let mut run = place.start(&[&command]);
        let result = run.result(1);
        assert_eq!(result["status"], "error", "{command}: {result}");
        let output = result["output"].as_str().unwrap();
        let says = output
            .contains("[exit code unknown: the process that watched over the command was killed]")
            || output.contains("[killed by signal");
        assert!(says, "{command}: {output}");
        assert_eq!(place.left().len(), 1, "{command}: {:?}", place.left());
    }
}

#[test]
fn stopped_it_is_woken_to_end_the_command() {
    let guard = "$(ps -o ppid= -p $PPID)";
    for stopped in ["$PPID".to_owned(), guard.to_owned(), format!("{guard} $PPID")] {
        let command = format!("kill -STOP {stopped}; touch begun; sleep 1000");
        for signal in [Signal::INT, Signal::KILL] {
            let place = Place::new();
            let mut run = place.start(&[&command]);
            run.until_file("begun");
            run.signal(signal);
            run.wait();
            if signal == Signal::INT {
                assert_eq!(run.results()[0]["output"], "[no output]\n[cancelled]", "{command}");
            }
            place.empty_within(Duration::from_secs(2), &command);
        }
    }
}

#[test]
fn it_reaps_orphans_while_the_command_runs() {
    let zombies = "ps -o stat= --ppid $PPID | grep -q Z";
    check(
        &format!("for i in $(seq 200); do (: &); done; while {zombies}; do :; done; echo clean"),
        "ok",
        "clean",
    );
}

#[test]
fn it_is_found_when_the_program_has_been_deleted() {
    let place = Place::new();
    let program = place.path("hostler");
    fs::copy(env!("CARGO_BIN_EXE_hostler-under-test"), &program).unwrap();
    let commands = ["rm hostler; echo deleted", "ps -o comm= -p $PPID"];
    let mut run = place.spawn(place.command(&[program.to_str().unwrap()], &commands));
    assert_eq!(run.result(2)["output"], "hostler-helper");
}

#[test]
fn a_command_that_is_too_long_says_so() {
    let command = format!(": {}", "x".repeat(200_000));
    check(
        &command,
        "error",
        "The command could not be started (Argument list too long (os error 7)); check that it is not too long.",
    );
}
