//! Every way in which hostler may end, with every kind of process that a command may have started.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::place::Place;

/// What is promised: so long after hostler has ended, however it has, none of its commands' processes lives.
const AFTER_THE_END: Duration = Duration::from_secs(2);
/// What is promised: so long after a command was cancelled none of its processes lives.
const AFTER_CANCELLING: Duration = Duration::from_secs(3);

/// Commands by what is special about their processes. Each makes a file when all of them have been started.
const KINDS: [(&str, &str); 4] = [
    ("plain", "touch begun; sleep 1000; :"),
    (
        "in a session of its own",
        "(setsid sleep 1000 &); setsid sh -c 'sleep 1000 & touch begun; wait' & wait",
    ),
    (
        "in the background",
        "sleep 1000 & (sleep 1000 &); sleep 1000 > /dev/null 2>&1 < /dev/null & touch begun; wait",
    ),
    (
        "ignoring signals",
        "trap '' TERM INT HUP QUIT; setsid sh -c 'sleep 1000 & touch begun; while :; do sleep 1000; done' & \
         while :; do sleep 1000; done",
    ),
];

#[track_caller]
fn check(signal: Signal, (kind, command): (&str, &str)) {
    let place = Place::new();
    let mut run = place.start(&[command]);
    run.until_file("begun");
    let sent = Instant::now();
    run.signal(signal);
    run.wait();
    let ended = sent.elapsed();
    let took = place.empty_within(AFTER_THE_END, kind);
    println!("{signal:?}, {kind}: ended after {ended:?}, empty {took:?} later");
    if signal != Signal::KILL {
        assert!(sent.elapsed() < AFTER_CANCELLING, "{kind}: it took {:?}", sent.elapsed());
    }
}

#[test]
fn interrupted_it_leaves_nothing() {
    KINDS.iter().for_each(|kind| check(Signal::INT, *kind));
}

#[test]
fn terminated_it_leaves_nothing() {
    KINDS.iter().for_each(|kind| check(Signal::TERM, *kind));
}

#[test]
fn hung_up_on_it_leaves_nothing() {
    KINDS.iter().for_each(|kind| check(Signal::HUP, *kind));
}

#[test]
fn killed_it_leaves_nothing() {
    KINDS.iter().for_each(|kind| check(Signal::KILL, *kind));
}

/// Each process starts the next, in a session of its own, and ends. They stop by themselves once the test's directory is
/// gone, because a test that fails could not catch them either.
#[test]
fn what_forks_and_begins_sessions_for_ever_is_caught() {
    let hop = "trap '' TERM; hop() { [ -e scenario.json ] || exit; touch begun; export -f hop; (setsid bash -c hop &); }; hop; \
               while [ -e scenario.json ]; do setsid sleep 0.05 & sleep 0.001; done";
    for signal in [Signal::INT, Signal::KILL] {
        check(signal, ("hopping", hop));
    }
}
