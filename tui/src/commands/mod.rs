//! The commands beside `run`, one a file.

pub(crate) mod config;
pub(crate) mod dirs;
pub(crate) mod doctor;
pub(crate) mod models;
pub(crate) mod replay;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod sessions;
pub(crate) mod trust;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use hostler_core::client::quiet_json;
use hostler_core::config::Config;
use hostler_core::protocol::{Query, Reply, Request};
use hostler_shell::clock::Clock;
use hostler_shell::door::Door;

use crate::failure::Failure;
use crate::place::Place;

/// Asks the workspace of this directory, in order, and gives the answers; a refusal is a failure.
fn ask(
    queries: impl FnOnce(&dyn Fn(Query) -> Result<Reply, Failure>) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::error(format!("The program cannot start ({error}).")))?;
    let place = Place::here().map_err(Failure::error)?;
    // Nobody is asked anything, so what is configured does not matter, nor what is wrong with it.
    let config = Arc::new(Config::bare());
    let door = runtime.block_on(async { place.open(Clock::start(), config) }).map_err(Failure::error)?;
    let ask = |query| match runtime.block_on(door.request(Request::Query(query))) {
        Ok(Reply::Refused(refusal)) => Err(refusal.into()),
        Ok(reply) => Ok(reply),
        Err(error) => Err(Failure::error(error)),
    };
    queries(&ask)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints to standard output. A reader that has seen enough is no failure.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::from),
    }
}

/// One JSON object in a line.
fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value).map_err(Failure::error)?;
    Ok(quiet_json(&text) + "\n")
}

/// What a reply that does not fit its query is.
fn unexpected() -> Failure {
    Failure::error("The workspace gave an answer that does not fit the question; this is a fault in hostler.")
}

/// Says on standard error what there is to warn about.
fn warn(warnings: &[String]) {
    for warning in warnings {
        // With standard error gone there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "hostler: warning: {}", hostler_core::client::printable(warning));
    }
}
