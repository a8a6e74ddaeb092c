//! The commands beside `run`, one a file.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod dirs;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod man;
pub(crate) mod models;
pub(crate) mod replay;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod sessions;
mod spoken;
pub(crate) mod trust;

use std::io::Write;
use std::sync::Arc;

use hostler_core::client::{printable, quiet_json, rfc3339};
use hostler_core::config::Config;
use hostler_core::protocol::{Command, Query, Reply, Request, SessionInfo, Transcript};
use hostler_core::quote::count;
use hostler_core::time::Timestamp;
use hostler_shell::clock::Clock;
use hostler_shell::door::{Door, InProcess};

use crate::failure::Failure;
use crate::place::Place;
use crate::room;

/// How long a server on this machine may take to answer, in milliseconds.
const NEARBY: u64 = 1_000;

/// How many characters of an id tell it from the others in a list.
const SHORT: usize = 8;

/// The workspace of this directory, to be asked one thing after the other.
struct Asking {
    runtime: tokio::runtime::Runtime,
    door: InProcess,
}

impl Asking {
    /// To be asked and told things.
    fn new() -> Result<Self, Failure> {
        if let Some(place) = Place::read_only().map_err(Failure::error)? {
            let state = place.state.display();
            return Err(Failure::error(format!(
                "{state} cannot be written to, so nothing in it can be changed; make it writable or name another one with --data-dir."
            )));
        }
        let place = Place::here().map_err(Failure::error)?;
        warn(place.warning.as_slice());
        // No model is asked anything, so what is configured does not matter, nor what is wrong with it.
        Self::at(|| place.open(Clock::start(), Arc::new(Config::bare()), true))
    }

    /// To be asked, also if nothing can be written.
    fn to_read() -> Result<Self, Failure> {
        match Place::read_only().map_err(Failure::error)? {
            Some(place) => Self::at(|| place.open_to_read(Clock::start())),
            None => Self::new(),
        }
    }

    fn at(open: impl FnOnce() -> Result<InProcess, String>) -> Result<Self, Failure> {
        let runtime = room::runtime()?;
        let door = runtime.block_on(async { open() }).map_err(Failure::error)?;
        Ok(Self { runtime, door })
    }

    /// What is answered; a refusal is a failure.
    fn ask(&self, request: Request) -> Result<Reply, Failure> {
        match self.runtime.block_on(self.door.request(request)) {
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(reply) => Ok(reply),
            Err(error) => Err(Failure::error(error)),
        }
    }

    fn query(&self, query: Query) -> Result<Reply, Failure> {
        self.ask(Request::Query(query))
    }

    fn command(&self, command: Command) -> Result<Reply, Failure> {
        self.ask(Request::Command(command))
    }

    /// The one session whose id begins so.
    fn find_session(&self, id: &str) -> Result<SessionInfo, Failure> {
        match self.query(Query::FindSession { prefix: id.to_owned() })? {
            Reply::Session(session) => Ok(session),
            _ => Err(unexpected()),
        }
    }

    /// A session with its messages.
    fn transcript(&self, id: &str) -> Result<Transcript, Failure> {
        match self.query(Query::Session { session: self.find_session(id)?.id })? {
            Reply::Transcript(transcript) => Ok(transcript),
            _ => Err(unexpected()),
        }
    }
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

/// As much of an id as tells it from the others in a list.
fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

/// A time in a list.
fn minute(at: Timestamp) -> String {
    let at = rfc3339(at);
    format!("{}Z", at.get(..16).unwrap_or_default().replace('T', " "))
}

/// What a reply that does not fit its query is.
fn unexpected() -> Failure {
    Failure::error("The workspace gave an answer that does not fit the question; this is a fault in hostler.")
}

/// What is asked for so that one more than is listed tells that there are more.
fn one_more(limit: u32) -> u32 {
    limit.saturating_add(1)
}

/// Leaves as many as are listed; says whether there are more.
fn cut<T>(all: &mut Vec<T>, limit: u32) -> bool {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = all.len() > limit;
    all.truncate(limit);
    is_cut
}

/// Says on standard error that a list for people is not whole.
fn say_cut(limit: u32, what: &str) {
    // With standard error gone there is nobody to tell.
    let _ = writeln!(
        std::io::stderr(),
        "hostler: There are more than {}; --limit says how many are listed.",
        count(limit, what)
    );
}

/// Says on standard error what there is to warn about.
fn warn(warnings: &[String]) {
    for warning in warnings {
        // With standard error gone there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "hostler: warning: {}", printable(warning));
    }
}
