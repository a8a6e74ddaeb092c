//! Many runs leave no more behind than few: no temporary file, no process, no lock, a log that is sound, and flight records
//! of a bounded size.
//!
//! A binary of its own, so that nothing else runs meanwhile. `HOSTLER_TEST_RUNS` says how many runs there are in a row.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod left;
mod place;

use std::time::Instant;

use left::Left;
use place::Place;

/// How many runs there are in a row, unless somebody wants more.
const RUNS: usize = 200;

/// How many run at the same time.
const AT_ONCE: usize = 50;

fn runs() -> usize {
    std::env::var("HOSTLER_TEST_RUNS")
        .map_or(RUNS, |text| text.parse().expect("HOSTLER_TEST_RUNS is a number"))
}

#[test]
fn many_in_a_row_and_fifty_at_once_leave_nothing_behind() {
    let (place, runs) = (Place::new(), runs());
    let start = Instant::now();
    for number in 0..runs {
        // Every other one goes on with the last session.
        place.run(if number % 2 == 1 { &["--continue"] } else { &[] }).end();
    }
    println!("{runs} runs in a row: {:?}", start.elapsed());
    let after_a_row = Left::of(&place);
    after_a_row.check();
    println!("{after_a_row:#?}");

    let start = Instant::now();
    let together: Vec<_> = (0..AT_ONCE).map(|_| place.run(&[])).collect();
    together.into_iter().for_each(place::Run::end);
    println!("{AT_ONCE} at once: {:?}", start.elapsed());
    // Those that begin at the same time make room at the same time; the next one makes room for all of them.
    place.run(&[]).end();
    Left::of(&place).check();

    place.is_sound();
    let ended = place.ended();
    assert_eq!(ended.len(), runs + AT_ONCE + 1, "each run is in the log");
    assert!(ended.iter().all(|reason| reason == "completed"), "and each of them ended well");
}
