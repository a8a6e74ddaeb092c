//! The program: its command line, and what it prints.
//!
//! What a run prints and when it is over is decided in the core; here signals, standard input and output, and the door
//! are tied to that.

mod cli;
mod commands;
mod failure;
mod file_size;
mod logs;
mod place;
mod room;
mod run;

use std::io::Write;
use std::process::ExitCode;

use hostler_core::client::printable;

use failure::Failure;

/// The program, from its arguments to its exit code.
pub fn main() -> ExitCode {
    // Commands that tools run are ended at the limit of a file's size, as everywhere; hostler itself is told of it.
    file_size::end_at_limit();
    if let Some(code) = hostler_shell::tools::supervise() {
        return code;
    }
    file_size::fail_at_limit();
    // A run is told of signals from its first moment on.
    let watch = is_run().then(run::Watch::begin);
    let (cli, said) = match cli::read() {
        Ok(read) => read,
        Err(error) => return usage(error),
    };
    let started = logs::start(&cli).and_then(|()| place::go(cli.cwd.as_deref(), cli.data_dir.as_deref()));
    if let Err(message) = started {
        return Failure::usage(message).report();
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), said = said.join(" "), "hostler begins");
    let code = obey(cli.command, watch).unwrap_or_else(|failure| failure.report());
    tracing::debug!("hostler ends");
    logs::end();
    code
}

/// Whether the first word is `run`. Where options go before that, watching begins once they are read.
fn is_run() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "run")
}

fn obey(command: cli::Command, watch: Option<Result<run::Watch, Failure>>) -> Result<ExitCode, Failure> {
    match command {
        cli::Command::Run(args) => run::run(*args, watch.unwrap_or_else(run::Watch::begin)?),
        cli::Command::Sessions { command } => commands::sessions::sessions(&command),
        cli::Command::Runs { command } => commands::runs::runs(&command),
        cli::Command::Config { command } => commands::config::config(&command),
        cli::Command::Schema { what } => commands::schema::schema(what),
        cli::Command::Trust(args) => commands::trust::trust(&args),
        cli::Command::Models(args) => commands::models::models(&args),
        cli::Command::Dirs { json } => commands::dirs::dirs(json),
        cli::Command::Doctor { json } => commands::doctor::doctor(json),
        cli::Command::Replay { file, at: Some(number), .. } => commands::replay::at(&file, number),
        cli::Command::Replay { file, export: Some(to), .. } => commands::replay::export(&file, &to),
        cli::Command::Replay { file, .. } => commands::replay::replay(&file),
        cli::Command::Completions { shell } => commands::completions::completions(shell),
        cli::Command::Man { command } => commands::man::man(&command),
    }
}

/// Help and version are no mistakes; anything else about the command line is.
fn usage(mut error: clap::Error) -> ExitCode {
    cli::tame(&mut error);
    let text = printable(&error.render().to_string());
    // A closed standard output or error leaves nobody to tell.
    if error.use_stderr() {
        let _ = std::io::stderr().write_all(text.as_bytes());
        return ExitCode::from(Failure::USAGE);
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Failure::from(error).report(),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}
