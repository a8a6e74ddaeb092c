//! The flight record: what a machine was fed, and a digest of what it decided, so that any real session can be replayed
//! in the pure core and the first batch that differs be named.
//!
//! A segment is lines of JSON: a header with the state at its start, then a line a batch. The shell appends a line
//! before it starts the effects of its batch; a line that was cut short by the end of the process is ignored.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::machine::{Effects, Machine};
use crate::time::Timestamp;
use crate::workspace::{Effect, Input, Workspace};

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
    #[error("this is not a flight record: {0}")]
    Header(String),
    /// It was written by another version.
    #[error("the flight record has format {0}, and this program reads format {FORMAT}")]
    Format(u32),
    /// A line is neither a batch nor the last one.
    #[error("line {line} of the flight record cannot be read: {problem}")]
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

/// Feeds a segment to the machine again and compares.
pub fn replay(text: &str) -> Result<Report, FlightError> {
    let mut lines = text.lines().enumerate();
    let mut machine = header(lines.next().map(|(_, line)| line).unwrap_or_default())?;
    let mut report = Report { batches: 0, inputs: 0, differs: None, cut: false };
    while let Some((at, line)) = lines.next() {
        match serde_json::from_str::<Batch>(line) {
            Ok(batch) => step(&mut machine, batch, &mut report),
            Err(_) if lines.next().is_none() => report.cut = true,
            Err(error) => return Err(FlightError::Line { line: at + 1, problem: error.to_string() }),
        }
        if report.differs.is_some() {
            break;
        }
    }
    Ok(report)
}

fn header(line: &str) -> Result<Box<Workspace>, FlightError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let bad = |error: serde_json::Error| FlightError::Header(error.to_string());
    let Format { format } = serde_json::from_str(line).map_err(bad)?;
    if format != FORMAT {
        return Err(FlightError::Format(format));
    }
    serde_json::from_str(line).map(|header: Header| Box::new(header.state)).map_err(bad)
}

fn step(machine: &mut Workspace, batch: Batch, report: &mut Report) {
    let mut out = Effects::new();
    report.batches += 1;
    report.inputs += batch.inputs.len() as u64;
    for input in batch.inputs {
        machine.handle(batch.at, input, &mut out);
    }
    let replayed = digest(&out);
    if replayed != batch.digest {
        let decided = decided(&out);
        report.differs = Some(Difference { batch: batch.batch, recorded: batch.digest, replayed, decided });
    }
}

#[cfg(test)]
#[path = "flight_tests.rs"]
mod tests;
