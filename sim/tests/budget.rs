//! A fixed budget of simulation, so that no `cargo test` goes without it, and the proof that it would notice something.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use hostler_sim::campaign::{MANY, Order, run, run_seed};
use hostler_sim::explore::{Scope, explore, scopes};
use hostler_sim::failure::Class;
use hostler_sim::profile::Profile;
use hostler_sim::repro::Repro;
use hostler_sim::shrink::shrink;
use hostler_sim::world::Watch;
use hostler_sim::world::double;
use hostler_sim::world::trace::Level;

/// How many seeds are run, and how many events of each; `HOSTLER_SIM_SEEDS` and `HOSTLER_SIM_EVENTS` ask for others.
fn budget() -> (u64, u64) {
    let asked = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    (asked("HOSTLER_SIM_SEEDS").unwrap_or(400), asked("HOSTLER_SIM_EVENTS").unwrap_or(600))
}

#[test]
fn the_first_seeds_are_clean() {
    let (seeds, events) = budget();
    let report = run(Order {
        from: 1,
        seeds,
        jobs: 2,
        events,
        profile: Profile::Swarm,
        time: None,
        all: false,
        closely: 16,
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.seeds, seeds);
    // What a whole campaign must reach is reached by a thousand seeds of the usual length.
    let missing = report.marks.missing();
    let enough =
        if seeds >= 1_000 && events >= 2_000 { missing.is_empty() } else { report.marks.count() > 40 };
    assert!(enough, "never: {missing:?}");
}

#[test]
fn the_same_seed_goes_the_same_way() {
    let deep = Watch { level: Level::Deep, ..MANY };
    for seed in 1..20 {
        let (one, two) =
            (run_seed(seed, 300, Profile::Swarm, deep), run_seed(seed, 300, Profile::Swarm, deep));
        assert_eq!(one.trace.hashes, two.trace.hashes, "seed {seed}");
        assert!(one.trace.hashes.len() as u64 == one.events && one.events > 0);
    }
}

#[test]
fn the_smallest_scope_is_clean_in_every_order() {
    let scope = scope("cancel");
    let found = explore(&scope);
    assert_eq!(found.failure, None);
    assert!(found.states > 100 && found.ends > 0, "{found:?}");
}

fn scope(name: &str) -> Scope {
    scopes().into_iter().find(|scope| scope.name == name).expect("there is such a scope")
}

#[test]
fn a_decision_that_is_wrong_in_one_order_only_is_found_in_its_scope() {
    for (name, planted) in [
        ("admission", double::FORGETS_THE_QUEUE),
        ("cancel", double::LOSES_AN_OUTCOME),
        ("admission", double::TAKES_IT_TWICE),
    ] {
        let mut scope = scope(name);
        scope.options.planted = planted;
        let (failure, way) = explore(&scope).failure.expect("it is noticed");
        assert!(way.len() > 3, "{failure}: {way:?}");
    }
}

#[test]
fn a_scope_that_is_deeper_than_it_says_is_not_called_explored() {
    let scope = Scope { depth: 20, ..scope("cancel") };
    let (failure, _) = explore(&scope).failure.expect("it is noticed");
    assert_eq!(failure.oracle, "depth");
}

/// The first seed that fails in that way with that planted.
fn planted(what: u64, class: Class) -> Repro {
    let with = |seed| {
        let mut repro = Repro::of_seed(seed, 600, Profile::Swarm);
        repro.options.planted = what;
        repro
    };
    let fails = |repro: &Repro| repro.run(MANY).failure.is_some_and(|failure| failure.class == class);
    let found = (1..500).map(with).find(fails);
    found.expect("a planted fault is found within 500 seeds")
}

#[test]
fn a_planted_fault_is_found_and_made_small() {
    for (what, class) in [(1, Class::Safety), (2, Class::Liveness)] {
        let repro = planted(what, class);
        let first = repro.run(MANY).failure.expect("it fails");
        let shrunk = shrink(&repro, Duration::from_secs(10)).expect("it fails again");
        assert_eq!((first.class, shrunk.failure.class), (class, class));
        assert_eq!(shrunk.failure.oracle, first.oracle, "shrinking keeps what is broken");
        let left = &shrunk.repro.plan.actions;
        assert!(left.len() <= 12 && left.len() < repro.plan.actions.len(), "{left:?}");
        assert!(shrunk.repro.run(MANY).failure.is_some());
        let pair = shrunk.pair.expect("the order of two events decides");
        assert!(pair.events.0 > 0 && pair.first != pair.second, "{pair:?}");
    }
}
