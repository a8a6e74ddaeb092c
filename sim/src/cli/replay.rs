//! `replay` and `shrink`: one failure, from its file.

use std::time::Duration;

use super::args::Args;
use super::{Ending, Stop};
use crate::campaign::CLOSELY;
use crate::plan::write_action;
use crate::repro::Repro;
use crate::shrink;
use crate::world::trace::Level;
use crate::world::{Watch, World};

/// Writes the page that tells the story of a failure, from its file or its seed.
pub(super) fn timeline(args: &Args) -> Ending {
    let (name, repro) = match args.file() {
        Some(_) => read(args)?,
        None => (format!("seed-{}", args.seed()), Repro::of_seed(args.seed(), args.events(), args.profile())),
    };
    let usual = format!("{}.html", name.trim_end_matches(".repro"));
    let path = args.out().map_or(usual, str::to_owned);
    std::fs::write(&path, crate::timeline::page(&repro, args.last(400)))
        .map_err(|error| Stop::Usage(format!("{path} cannot be written ({error})")))?;
    println!("{path}");
    Ok(())
}

fn read(args: &Args) -> Result<(String, Repro), Stop> {
    let path = args.file().ok_or_else(|| Stop::Usage("which file?".to_owned()))?;
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Stop::Usage(format!("{path} cannot be read ({error})")))?;
    let repro = Repro::read(&text).map_err(|what| Stop::Usage(format!("{path} is no repro file: {what}")))?;
    Ok((path.to_owned(), repro))
}

pub(super) fn replay(args: &Args) -> Ending {
    let (_, repro) = read(args)?;
    if args.at().is_some() || args.step() {
        return walk(&repro, args);
    }
    let level = Level::Words(args.last(1_000_000));
    let outcome = repro.run(Watch { level, closely: CLOSELY });
    outcome.trace.words.iter().for_each(|line| println!("{line}"));
    println!("{} events, trace hash {:016x}", outcome.events, outcome.trace.hash);
    match outcome.failure {
        Some(failure) => {
            super::run::report(&failure);
            Err(Stop::Found(failure.class))
        }
        None => {
            println!("nothing went wrong");
            Ok(())
        }
    }
}

/// Goes to one event and tells what led there and what there is then; or on from there, one event a line of input.
fn walk(repro: &Repro, args: &Args) -> Ending {
    let mut world = repro.world(Watch { level: Level::Words(usize::MAX), closely: 1 });
    let mut goal = args.at().unwrap_or(1);
    loop {
        let told = go_to(&mut world, goal);
        told.iter().for_each(|line| println!("{line}"));
        println!();
        world.state().iter().for_each(|line| println!("{line}"));
        if let Some(failure) = &world.failure {
            super::run::report(failure);
            return Err(Stop::Found(failure.class));
        }
        if world.events < goal {
            println!("nothing went wrong, and it is over");
            return Ok(());
        }
        if !args.step() {
            return Ok(());
        }
        println!("-- Enter: the next event; a number: that one; q: the end");
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line).unwrap_or(0);
        let word = line.trim();
        if read == 0 || word == "q" {
            return Ok(());
        }
        goal = word.parse().unwrap_or(world.events).max(world.events + 1);
    }
}

/// What happened in the event of that number, or in the last one that there is.
fn go_to(world: &mut World, goal: u64) -> Vec<String> {
    let mut told = Vec::new();
    while world.events < goal {
        let before = world.events;
        let more = world.advance();
        let words: Vec<_> = world.trace.words.drain(..).collect();
        if world.events > before {
            told = words;
        } else {
            told.extend(words);
        }
        if !more {
            break;
        }
    }
    told
}

pub(super) fn shrink(args: &Args) -> Ending {
    let (path, repro) = read(args)?;
    let time = args.time().unwrap_or(Duration::from_secs(10));
    let Some(shrunk) = shrink::shrink(&repro, time) else {
        println!("nothing goes wrong");
        return Ok(());
    };
    println!(
        "{} of {} actions left after {} runs:",
        shrunk.repro.plan.actions.len(),
        repro.plan.actions.len(),
        shrunk.runs
    );
    shrunk.repro.plan.actions.iter().for_each(|action| println!("  {}", write_action(action)));
    println!("with {}", shrunk.repro.options.describe());
    super::run::report(&shrunk.failure);
    if let Some(pair) = &shrunk.pair {
        println!("the order of these two decides; the other way round nothing goes wrong:");
        println!("  first:  {}\n  second: {}", pair.first, pair.second);
    }
    let small = format!("{}.small", path.trim_end_matches(".repro"));
    let text = shrunk.repro.write(Some(&shrunk.failure), 0);
    std::fs::write(&small, text)
        .map_err(|error| Stop::Usage(format!("{small} cannot be written ({error})")))?;
    let program = super::program();
    println!("file:   {small}\nwatch:  {program} replay {small}\npage:   {program} timeline {small}");
    Err(Stop::Found(shrunk.failure.class))
}
