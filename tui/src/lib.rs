//! The program: its command line, and what it prints.
//!
//! What a run prints and when it is over is decided in the core; here signals, standard input and output, and the door
//! are tied to that.

mod cli;
mod commands;
mod failure;
mod place;
mod run;

use std::process::ExitCode;

use clap::Parser;

use failure::Failure;

/// The program, from its arguments to its exit code.
pub fn main() -> ExitCode {
    if let Some(code) = hostler_shell::tools::supervise() {
        return code;
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let ended = match cli.command {
        cli::Command::Run(args) => run::run(*args),
        cli::Command::Sessions { command } => commands::sessions::sessions(&command),
        cli::Command::Runs { command } => commands::runs::runs(&command),
        cli::Command::Replay { file, at: Some(number), .. } => commands::replay::at(&file, number),
        cli::Command::Replay { file, export: Some(to), .. } => commands::replay::export(&file, &to),
        cli::Command::Replay { file, .. } => commands::replay::replay(&file),
    };
    ended.unwrap_or_else(|failure| failure.report())
}

/// Help and version are no mistakes; anything else about the command line is.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed standard output or error leaves nobody to tell.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(Failure::USAGE) } else { ExitCode::SUCCESS }
}
