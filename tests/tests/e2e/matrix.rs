//! Whatever a run is doing, and whatever then happens to it from outside: it ends with the code of that, says so once and
//! last, in time, leaves no process behind, and its session can be gone on with.
//!
//! That `run.finished` is the last line and the only one of its kind, that nothing of a tool is alive, and that flight
//! records replay is checked of every run by the harness.

use std::time::{Duration, Instant};

use hostler_tests::harness::{Finished, Signal};
use serde_json::{Value, json};

use crate::cancel::SIGNALS;
use crate::phases::{Begun, Phase, Stage};

/// What is promised: so long after the first signal the program has ended.
const BOUND: Duration = Duration::from_secs(5);

/// A wait before another request that nobody here waits for, and one that is waited for.
const LONG: Duration = Duration::from_secs(50);
const SHORT: Duration = Duration::from_secs(1);

/// Lets something happen in every phase, and checks that it ends in time and that the session goes on.
#[track_caller]
fn everywhere(
    words: &[&str],
    mut happens: impl FnMut(Phase, &mut Begun<'_>),
    mut check: impl FnMut(&Stage, Finished),
) {
    for phase in Phase::ALL {
        println!("{phase:?}");
        let stage = Stage::new(phase, LONG);
        let mut begun = stage.begin(words, |run| run);
        let since = Instant::now();
        happens(phase, &mut begun);
        let (run, holder) = begun.into_parts();
        let finished = run.finish();
        assert!(since.elapsed() < BOUND, "{phase:?}: it took {:?}", since.elapsed());
        check(&stage, finished);
        stage.continues(holder);
    }
}

fn ended_by(finished: &Finished) -> (Option<i32>, Value, Value) {
    let last = finished.last();
    (finished.code, last["status"].clone(), last["reason"].clone())
}

/// What the log says of the run, in the words of `runs show`.
fn shown(stage: &Stage, run: &str) -> String {
    stage.home.hostler(["runs", "show", run]).finish().expect_code(0).out
}

#[track_caller]
fn a_signal_ends_it(signal: Signal, reason: &str) {
    everywhere(
        &[],
        |_, begun| begun.run.signal(signal),
        |stage, finished| {
            let expected = (Some(signal.code()), json!("cancelled"), json!(reason));
            assert_eq!(ended_by(&finished), expected, "{:?}", stage.phase);
            if stage.phase.is_accepted() {
                let recorded = format!("cancelled ({reason}, exit code {})", signal.code());
                let shown = shown(stage, &finished.lines().run());
                assert!(shown.contains(&recorded), "{:?}: {shown}", stage.phase);
            }
        },
    );
}

#[test]
fn an_interrupt() {
    a_signal_ends_it(SIGNALS[0].0, SIGNALS[0].1);
}

#[test]
fn a_termination() {
    a_signal_ends_it(SIGNALS[1].0, SIGNALS[1].1);
}

#[test]
fn a_hangup() {
    a_signal_ends_it(SIGNALS[2].0, SIGNALS[2].1);
}

/// The second signal may come before or after the first one is settled; either way there is one end, and it is the first's.
#[test]
fn an_interrupt_after_another_signal() {
    for (first, reason) in SIGNALS {
        for phase in Phase::ALL {
            println!("{first:?} {phase:?}");
            let stage = Stage::new(phase, LONG);
            let begun = stage.begin(&[], |run| run.abandoned());
            let since = Instant::now();
            begun.run.signal(first);
            begun.run.signal(Signal::Interrupt);
            let (run, holder) = begun.into_parts();
            let finished = run.finish();
            assert!(since.elapsed() < BOUND, "{phase:?}: it took {:?}", since.elapsed());
            let (code, status, ended) = ended_by(&finished);
            // Of two that wait to be delivered, which comes first is up to the system.
            let either =
                code == Some(first.code()) && ended == reason || code == Some(130) && ended == "sigint";
            assert!(either && status == "cancelled", "{first:?} {phase:?}: {}", finished.out);
            stage.continues(holder);
        }
    }
}

#[test]
fn the_end_of_its_time() {
    // So long that most phases are reached in it; a run that is slower than that ends in an earlier one in the same way.
    everywhere(
        &["--timeout", "3s"],
        |_, _| (),
        |stage, finished| {
            let expected = (Some(4), json!("limit"), json!("timeout"));
            assert_eq!(ended_by(&finished), expected, "{:?}", stage.phase);
            assert!(finished.last()["message"].as_str().unwrap().contains("--timeout"));
        },
    );
}

#[test]
fn a_reader_that_goes_away() {
    everywhere(
        &[],
        |_, begun| begun.run.reader_leaves(),
        |stage, finished| {
            assert_eq!(finished.code, Some(141), "{:?}: {}", stage.phase, finished.err);
            if stage.phase.is_accepted() {
                let shown = shown(stage, &finished.lines().run());
                assert!(
                    shown.contains("cancelled (output_closed, exit code 141)"),
                    "{:?}: {shown}",
                    stage.phase
                );
            }
        },
    );
}

#[test]
fn a_signal_that_was_ignored_at_its_start() {
    for (signal, _) in SIGNALS {
        for phase in Phase::ALL {
            println!("{signal:?} {phase:?}");
            let stage = Stage::new(phase, SHORT);
            let mut begun = stage.begin(&[], |run| run.ignoring(signal));
            begun.run.signal(signal);
            stage.go_on(&mut begun);
            let (run, holder) = begun.into_parts();
            let finished = run.finish().expect_code(0);
            assert_eq!(ended_by(&finished), (Some(0), json!("ok"), json!("completed")), "{phase:?}");
            stage.continues(holder);
        }
    }
}

#[test]
fn its_being_killed() {
    for phase in Phase::ALL {
        println!("{phase:?}");
        let stage = Stage::new(phase, LONG);
        let (run, holder) = stage.begin(&[], |run| run).into_parts();
        let killed = run.kill();
        assert_eq!((killed.code, killed.signal), (None, Some(9)));
        let id = killed.lines().run();
        if phase.is_accepted() {
            let told = shown(&stage, &id);
            assert!(told.contains("interrupted"), "{phase:?}: {told}");
        }
        stage.continues(holder);
        if phase.is_accepted() {
            let told = shown(&stage, &id);
            // What had not begun goes back to whoever sent it.
            let ended = told.contains("error (interrupted, exit code 1)") || phase == Phase::Preparing;
            assert!(ended, "{phase:?}: {told}");
        } else {
            let told = stage.home.hostler(["runs", "show", &id]).finish().expect_code(2);
            assert!(told.err.contains("no run"), "{phase:?}: {}", told.err);
        }
    }
}
