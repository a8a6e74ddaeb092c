//! `replay` and `shrink`: one failure, from its file.

use std::time::Duration;

use super::args::Args;
use super::{Ending, Stop};
use crate::campaign::CLOSELY;
use crate::plan::write_action;
use crate::repro::Repro;
use crate::shrink;
use crate::world::Watch;
use crate::world::trace::Level;

/// Writes the page that tells the story of a failure, from its file or its seed.
pub(super) fn timeline(args: &Args) -> Ending {
    let (name, repro) = match args.file() {
        Some(_) => read(args)?,
        None => (format!("seed-{}", args.seed()), Repro::of_seed(args.seed(), args.events())),
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
    println!("file:   {small}\nwatch:  hostler-sim replay {small}\npage:   hostler-sim timeline {small}");
    Err(Stop::Found(shrunk.failure.class))
}
