//! `run` and `coverage`: many seeds.

use std::time::Instant;

use super::args::Args;
use super::{Ending, Stop};
use crate::campaign::{self, Order, Report};
use crate::failure::{Class, Failure};
use crate::marks::MARKS;
use crate::options::BROKEN;
use crate::profile::Profile;
use crate::repro::Repro;
use crate::world::Watch;
use crate::world::trace::Level;

/// From how many seeds on a mark that was never reached is a failure.
const ENOUGH: u64 = 1_000;

/// How many events are printed of a failure.
const LAST: usize = 40;

fn order(args: &Args) -> Order {
    Order {
        from: args.seed(),
        seeds: args.seeds(1_000),
        jobs: args.jobs(),
        events: args.events(),
        profile: args.profile(),
        time: args.time(),
        all: args.all(),
        closely: args.closely(),
    }
}

pub(super) fn run(args: &Args) -> Ending {
    let order = order(args);
    let began = Instant::now();
    let report = campaign::run(order);
    if let Some((seed, _)) = report.failure {
        let stop = explain(&Repro::of_seed(seed, order.events, order.profile), args);
        for (kind, (count, first, failure)) in report.failures.iter().filter(|_| order.all) {
            let message: String = failure.message.chars().take(300).collect();
            println!("{count} seeds: {kind}, first in seed {first}: {message}");
        }
        return Err(stop);
    }
    if order.seeds == 1 {
        describe(order);
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{}", report.size());
    let events = report.events;
    println!("{events} events in {seconds:.1} s, {:.0} a second", events as f64 / seconds);
    reach(&report)
}

fn describe(order: Order) {
    let repro = Repro::of_seed(order.from, order.events, order.profile);
    println!("seed {}: {}", repro.seed, repro.options.describe());
    println!("stays broken: {}", BROKEN[repro.options.broken as usize % BROKEN.len()]);
}

fn reach(report: &Report) -> Ending {
    let missing = report.marks.missing();
    println!("{} of {} marks reached", MARKS.len() - missing.len(), MARKS.len());
    for mark in &missing {
        println!("  never: {mark}");
    }
    if missing.is_empty() || report.seeds < ENOUGH {
        return Ok(());
    }
    println!("a campaign of {} seeds must reach every mark", report.seeds);
    Err(Stop::Found(Class::Liveness))
}

pub(super) fn coverage(args: &Args) -> Ending {
    let order = order(args);
    let report = campaign::run(order);
    if let Some((seed, _)) = report.failure {
        return Err(explain(&Repro::of_seed(seed, order.events, order.profile), args));
    }
    println!("{}", report.coverage.table());
    println!("{}", report.size());
    let refuted = report.coverage.refuted();
    if !refuted.is_empty() {
        println!("met, although it is said that they cannot: {}", refuted.join(", "));
        return Err(Stop::Found(Class::Liveness));
    }
    let missing = report.coverage.missing();
    if missing.is_empty() || report.seeds < ENOUGH {
        return Ok(());
    }
    println!(
        "never met in {} seeds, and nothing says that they cannot: {}",
        report.seeds,
        missing.join(", ")
    );
    Err(Stop::Found(Class::Liveness))
}

/// Runs a failure again, in words, and says all there is to say about it.
pub(super) fn explain(repro: &Repro, args: &Args) -> Stop {
    let outcome = repro.run(Watch { level: Level::Words(LAST), ..campaign::MANY });
    let Some(failure) = outcome.failure else {
        let what = format!("seed {} failed once and did not when it was run again", repro.seed);
        println!("nondeterminism: {what}");
        return Stop::Found(Class::Nondeterminism);
    };
    outcome.trace.words.iter().for_each(|line| println!("{line}"));
    println!();
    report(&failure);
    let events = if args.has_events() { format!(" --events {}", args.events()) } else { String::new() };
    let swarm = args.profile() == Profile::Swarm;
    let profile = if swarm { String::new() } else { format!(" --profile {}", args.profile().name()) };
    println!("seed {}: {}", repro.seed, repro.options.describe());
    println!("again:  {} run --seed {}{events}{profile}", super::program(), repro.seed);
    keep(repro, &failure, outcome.trace.hash);
    Stop::Found(failure.class)
}

/// Prints what went wrong.
pub(super) fn report(failure: &Failure) {
    println!("{} failure, noticed by {:?} at event {}", failure.class, failure.oracle, failure.event);
    println!("  {}", failure.message);
}

fn keep(repro: &Repro, failure: &Failure, hash: u64) {
    let path = std::env::temp_dir().join(format!("hostler-sim-{}.repro", repro.seed));
    match std::fs::write(&path, repro.write(Some(failure), hash)) {
        Ok(()) => println!("file:   {0}\nsmall:  {1} shrink {0}", path.display(), super::program()),
        Err(error) => println!("the repro file {} could not be written ({error})", path.display()),
    }
}
