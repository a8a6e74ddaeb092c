//! The flight record: what a machine was fed, and a digest of what it decided, so that any real session can be replayed
//! in the pure core and the first batch that differs be named.
//!
//! [`replay`] compares a whole record, [`at`] shows one moment of it, and [`redact`] makes one of it that says nothing of
//! what people and models wrote and still leads to the same decisions.
//!
//! A segment is lines of JSON: a header with the state at its start, then a line a batch. The shell appends a line
//! before it starts the effects of its batch; a line that was cut short by the end of the process is ignored.

mod alphabet;
mod command_line;
mod commands;
mod fall;
#[cfg(test)]
mod fits;
mod hidden;
mod json_text;
mod moment;
mod names;
mod outline;
mod placeholder;
mod redact;
mod shape;
mod stream_texts;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::machine::{Effects, Machine};
use crate::time::Timestamp;
use crate::workspace::{Effect, Input, Workspace};

pub use moment::{Moment, at};
pub use redact::{RedactError, Redacted, redact};

/// The version of the format. A reader refuses another one.
pub const FORMAT: u32 = 1;

/// The first line of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of the program.
    pub version: String,
    /// When the segment begins.
    pub at: Timestamp,
    /// The machine as it was then.
    pub state: Workspace,
}

/// A line of a segment: one batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// When it was handled.
    pub at: Timestamp,
    /// Its number in the process, from 1.
    pub batch: u64,
    /// What happened, in order.
    pub inputs: Vec<Input>,
    /// The digest of what was decided.
    pub digest: String,
}

/// What a replay has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many batches were replayed.
    pub batches: u64,
    /// How many inputs.
    pub inputs: u64,
    /// The first batch that was decided differently.
    pub differs: Option<Difference>,
    /// Whether the last line was cut short.
    pub cut: bool,
}

/// A batch that was decided differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its number.
    pub batch: u64,
    /// The digest that was recorded.
    pub recorded: String,
    /// The digest of what is decided here.
    pub replayed: String,
    /// What is decided here, as JSON lines.
    pub decided: String,
}

/// Why a flight record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlightError {
    /// There is no header, or it cannot be read.
    #[error("this is no flight record ({0}); name a file of a directory flight/")]
    Header(String),
    /// It was written by another version.
    #[error(
        "the flight record has format {0}, and this program reads format {FORMAT}; take the version of hostler that wrote it"
    )]
    Format(u32),
    /// There is no such batch.
    #[error("there is no batch {number}; name one of {first} to {last}, or 0 for the beginning")]
    NoBatch {
        /// Which.
        number: u64,
        /// The first that there is.
        first: u64,
        /// The last that there is.
        last: u64,
    },
    /// A line is neither a batch nor the last one.
    #[error("line {line} of the flight record cannot be read ({problem}); take a copy that is whole")]
    Line {
        /// Which.
        line: usize,
        /// Why.
        problem: String,
    },
}

/// The digest of what a batch led to.
pub fn digest(out: &Effects<Effect>) -> String {
    digest::of(decided(out).as_bytes())
}

fn decided(out: &Effects<Effect>) -> String {
    let records = out.records().iter().map(serde_json::to_string);
    let effects = out.effects().iter().map(serde_json::to_string);
    let lines: Vec<_> = records.chain(effects).map(Result::unwrap_or_default).collect();
    lines.join("\n")
}

/// A segment that has been read.
pub(crate) struct Segment {
    pub(crate) header: Header,
    pub(crate) batches: Vec<Batch>,
    /// Whether the last line was cut short.
    pub(crate) cut: bool,
}

impl Segment {
    /// Reads a segment. A last line that makes no sense was cut short.
    pub(crate) fn read(text: &str) -> Result<Self, FlightError> {
        let mut lines = text.lines().enumerate();
        let header = header(lines.next().map(|(_, line)| line).unwrap_or_default())?;
        let mut segment = Self { header, batches: Vec::new(), cut: false };
        while let Some((at, line)) = lines.next() {
            match serde_json::from_str::<Batch>(line) {
                Ok(batch) => segment.batches.push(batch),
                Err(_) if lines.next().is_none() => segment.cut = true,
                Err(error) => return Err(FlightError::Line { line: at + 1, problem: error.to_string() }),
            }
        }
        Ok(segment)
    }
}

fn header(line: &str) -> Result<Header, FlightError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let bad = |error: serde_json::Error| FlightError::Header(error.to_string());
    let Format { format } = serde_json::from_str(line).map_err(bad)?;
    if format != FORMAT {
        return Err(FlightError::Format(format));
    }
    serde_json::from_str(line).map_err(bad)
}

/// Feeds a segment to the machine again and compares.
pub fn replay(text: &str) -> Result<Report, FlightError> {
    let Segment { header, batches, cut } = Segment::read(text)?;
    let mut machine = header.state;
    let mut report = Report { batches: 0, inputs: 0, differs: None, cut };
    for batch in batches {
        report.batches += 1;
        report.inputs += batch.inputs.len() as u64;
        let out = handle(&mut machine, batch.at, batch.inputs);
        let replayed = digest(&out);
        if replayed != batch.digest {
            let decided = decided(&out);
            report.differs =
                Some(Difference { batch: batch.batch, recorded: batch.digest, replayed, decided });
            break;
        }
    }
    Ok(report)
}

fn handle(machine: &mut Workspace, at: Timestamp, inputs: Vec<Input>) -> Effects<Effect> {
    let mut out = Effects::new();
    for input in inputs {
        machine.handle(at, input, &mut out);
    }
    out
}

#[cfg(test)]
mod tests;
