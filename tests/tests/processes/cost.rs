//! What it costs to have a command run by hostler.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::Place;

const CALLS: u32 = 50;

/// What is promised of a release build on a machine that does nothing else: so much a call beyond the command's own.
const EACH: Duration = Duration::from_millis(10);
/// How much longer it may take here, where the build is not optimised and other tests run.
const PATIENCE: u32 = 5;

#[test]
fn fifty_commands_in_a_row_cost_little_more_than_themselves() {
    let place = Place::new();
    let start = Instant::now();
    // Each is another, since a model that gets nowhere is stopped.
    let commands: Vec<_> = (0..CALLS).map(|number| format!("echo {number}")).collect();
    let mut run = place.start(&commands.iter().map(String::as_str).collect::<Vec<_>>());
    run.result(CALLS as usize);
    let ours = start.elapsed();
    let start = Instant::now();
    (0..CALLS).for_each(|_| assert!(Command::new("bash").args(["-c", "true"]).status().unwrap().success()));
    let theirs = start.elapsed();
    println!("{CALLS} commands: {ours:?}; by themselves: {theirs:?}");
    assert!(ours < theirs + EACH * CALLS * PATIENCE, "{ours:?}, and {theirs:?} by themselves");
}
