//! Which events of this process are logged, and where; how is in the shell.

use std::path::Path;
use std::sync::OnceLock;

use hostler_shell::logging::{self, Levels, Logging, Options};
use tracing::level_filters::LevelFilter;

use crate::cli::{Cli, Command};

/// The variable that says which events go to files.
const VARIABLE: &str = "HOSTLER_LOG";

/// The logging of this process, once it was started.
static LOGGING: OnceLock<Logging> = OnceLock::new();

/// Starts logging as the command line and the environment say, or says what is wrong with that.
pub(crate) fn start(cli: &Cli) -> Result<(), String> {
    // A mistake in the variable is one, whatever is done.
    let levels = levels()?;
    let files = is_kept(&cli.command).then_some(levels);
    let errors = match cli.verbose {
        0 => None,
        1 => Some(LevelFilter::INFO),
        2 => Some(LevelFilter::DEBUG),
        _ => Some(LevelFilter::TRACE),
    };
    let logging = Logging::start(Options { files, errors: errors.map(Levels::all) });
    // Nobody has started it before.
    let _ = LOGGING.set(logging);
    Ok(())
}

/// Has files written below a directory for state.
pub(crate) fn keep_in(state: &Path) {
    if let Some(logging) = LOGGING.get() {
        logging.keep_in(&logging::directory(state));
    }
}

/// Has all written that was logged, as far as that takes no time.
pub(crate) fn end() {
    if let Some(logging) = LOGGING.get() {
        logging.end();
    }
}

fn levels() -> Result<Levels, String> {
    match std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        None => Ok(Levels::all(LevelFilter::INFO)),
        Some(text) => Levels::parse(&text.to_string_lossy())
            .map_err(|error| format!("{VARIABLE} cannot be used: {error}.")),
    }
}

/// Whether what a command does is kept in files. What only prints what is known does nothing that anyone would look for.
fn is_kept(command: &Command) -> bool {
    match command {
        Command::Run(args) => !args.ephemeral,
        Command::Sessions { .. }
        | Command::Runs { .. }
        | Command::Config { .. }
        | Command::Trust(_)
        | Command::Models(_)
        | Command::Doctor { .. } => true,
        Command::Schema { .. }
        | Command::Dirs { .. }
        | Command::Replay { .. }
        | Command::Completions { .. }
        | Command::Man { .. } => false,
    }
}
