//! `check`: each seed runs three times, in two threads and in a child process, and must go the same way.

use std::collections::BTreeMap;
use std::process::Command;

use super::args::Args;
use super::{Ending, Stop};
use crate::campaign::{MANY, run_seed};
use crate::failure::Class;
use crate::profile::Profile;
use crate::world::Watch;
use crate::world::trace::Level;

const DEEP: Watch = Watch { level: Level::Deep, ..MANY };

/// The hashes after each event of a seed.
fn traced(seed: u64, events: u64) -> Vec<u64> {
    run_seed(seed, events, Profile::Swarm, DEEP).trace.hashes
}

/// Prints the hashes of seeds, for a process that compares: the last of each, or all of one.
pub(super) fn hashes(args: &Args) -> Ending {
    let whole = args.file() == Some("whole");
    for seed in args.seed()..args.seed() + args.seeds(1) {
        let hashes = traced(seed, args.events());
        if whole {
            hashes.iter().for_each(|hash| println!("{hash}"));
        } else {
            println!("{seed} {}", hashes.last().copied().unwrap_or_default());
        }
    }
    Ok(())
}

/// What a child process says.
fn child(words: &[String]) -> Result<String, Stop> {
    let program = std::env::current_exe().map_err(|error| Stop::Usage(error.to_string()))?;
    let output = Command::new(program).arg("hashes").args(words).output();
    let output = output.map_err(|error| Stop::Usage(error.to_string()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(super) fn check(args: &Args) -> Ending {
    let (from, seeds, events) = (args.seed(), args.seeds(100), args.events());
    let words = ["--seed", "--seeds", "--events"].map(str::to_owned);
    let values = [from, seeds, events].map(|number| number.to_string());
    let words: Vec<_> = words.into_iter().zip(values).flat_map(|(name, value)| [name, value]).collect();
    let all = || (from..from + seeds).map(|seed| (seed, last(seed, events))).collect::<BTreeMap<_, _>>();
    let (first, second, third) = std::thread::scope(|scope| {
        let (one, two) = (scope.spawn(all), scope.spawn(all));
        let three = child(&words);
        (one.join().unwrap_or_default(), two.join().unwrap_or_default(), three)
    });
    let third = third?;
    for seed in from..from + seeds {
        let in_child = third.lines().find_map(|line| line.strip_prefix(&format!("{seed} ")));
        let in_child = in_child.and_then(|hash| hash.parse().ok());
        if first.get(&seed) != second.get(&seed) || first.get(&seed).copied() != in_child {
            return differs(seed, events);
        }
    }
    println!("{seeds} seeds went the same way in two threads and a child process");
    Ok(())
}

fn last(seed: u64, events: u64) -> u64 {
    traced(seed, events).last().copied().unwrap_or_default()
}

/// Says which event is the first that differs.
fn differs(seed: u64, events: u64) -> Ending {
    let words = ["whole", "--seed", &seed.to_string(), "--events", &events.to_string()].map(str::to_owned);
    let here = traced(seed, events);
    let there: Vec<u64> = child(&words)?.lines().filter_map(|line| line.parse().ok()).collect();
    let again = traced(seed, events);
    let first = (0..here.len().max(there.len()))
        .find(|at| here.get(*at) != there.get(*at) || here.get(*at) != again.get(*at));
    match first {
        Some(event) => println!("nondeterminism: seed {seed} goes two ways from event {} on", event + 1),
        None => println!("nondeterminism: seed {seed} went two ways, but not when it was looked at closely"),
    }
    Err(Stop::Found(Class::Nondeterminism))
}
