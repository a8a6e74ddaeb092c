//! The commands of `hostler-sim`.

mod args;
mod check;
mod replay;
mod run;
mod script;

use std::process::ExitCode;

use args::Args;

use crate::failure::Class;

const USAGE: &str = "\
hostler-sim: every race replayed from a seed

  hostler-sim run [--seed S] [--seeds N] [--jobs J] [--for 60s] [--events E] [--closely N] [--all]
                  [--profile swarm|calm|crash|lifecycle]
  hostler-sim check [--seed S] [--seeds N] [--events E]
  hostler-sim coverage [--seed S] [--seeds N] [--jobs J]
  hostler-sim replay FILE [--last N | --at N] [--step]
  hostler-sim shrink FILE [--for 10s]
  hostler-sim timeline FILE | --seed S [--events E] [--last N] [-o OUT.html]
  hostler-sim explore [SCOPE] [--jobs J]
  hostler-sim script FILE... | --all

Exit codes: 0 clean, 1 usage, 2 safety, 3 liveness or reach, 4 model divergence, 5 nondeterminism.
";

/// What a command ends with: 0, or why not.
type Ending = Result<(), Stop>;

/// Why a command did not end well.
enum Stop {
    /// It was called wrongly.
    Usage(String),
    /// It found something; that has been printed.
    Found(Class),
}

fn explore(args: &Args) -> Ending {
    match crate::explore::command(args.file(), args.jobs()) {
        Err(what) => Err(Stop::Usage(what)),
        Ok(Some(failure)) => Err(Stop::Found(failure.class)),
        Ok(None) => Ok(()),
    }
}

/// How this program was called, so that what it prints can be typed.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "hostler-sim".to_owned())
}

/// Only scripts can be several.
fn fits(command: &str, args: Args) -> Result<Args, String> {
    match args.files() {
        [_, second, ..] if command != "script" => Err(format!("{second:?} is not known here")),
        _ => Ok(args),
    }
}

/// Runs the command that the program was called with.
pub fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let ending = Args::read(words).and_then(|args| fits(&command, args)).map_err(Stop::Usage);
    let ending = ending.and_then(|args| match command.as_str() {
        "run" => run::run(&args),
        "coverage" => run::coverage(&args),
        "check" => check::check(&args),
        "hashes" => check::hashes(&args),
        "replay" => replay::replay(&args),
        "shrink" => replay::shrink(&args),
        "timeline" => replay::timeline(&args),
        "script" => script::script(&args),
        "explore" => explore(&args),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(Stop::Usage(format!("there is no command {command:?}"))),
    });
    match ending {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Found(class)) => ExitCode::from(class as u8),
        Err(Stop::Usage(what)) => {
            eprint!("hostler-sim: {what}\n\n{USAGE}");
            ExitCode::from(1)
        }
    }
}
