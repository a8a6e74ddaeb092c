//! `hostler replay`: feeds a flight record to the decisions again.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use hostler_core::flight::{self, Report};

use super::print;
use crate::failure::Failure;

/// Replays a flight record. Exit code 1 if a batch is decided differently.
pub(crate) fn replay(file: &Path) -> Result<ExitCode, Failure> {
    let report = flight::replay(&read(file)?).map_err(|error| unfit(file, &error))?;
    let cut = cut(report.cut);
    let Report { batches, inputs, differs, .. } = report;
    match differs {
        None => {
            print(&format!(
                "{batches} batches with {inputs} inputs are decided as they were recorded.{cut}\n"
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(differs) => {
            print(&format!(
                "Batch {0} is decided differently: recorded {1}, here {2}. `hostler replay {3} --at {0}` shows it. \
                 Here it leads to:\n{4}\n",
                differs.batch,
                differs.recorded,
                differs.replayed,
                file.display(),
                differs.decided
            ))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Shows one moment of a flight record. Exit code 1 if something is decided differently up to there.
pub(crate) fn at(file: &Path, number: u64) -> Result<ExitCode, Failure> {
    let moment = flight::at(&read(file)?, number).map_err(|error| unfit(file, &error))?;
    print(&moment.describe())?;
    Ok(if moment.differs.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes a flight record with its texts hidden to a new file that only its owner can read.
pub(crate) fn export(file: &Path, to: &Path) -> Result<ExitCode, Failure> {
    let redacted = flight::redact(&read(file)?).map_err(|error| unfit(file, &error))?;
    let unwritable = |error| {
        Failure::error(format!(
            "{} cannot be written ({error}); name a file that is not there yet.",
            to.display()
        ))
    };
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(unwritable)?;
    out.write_all(redacted.text.as_bytes()).map_err(unwritable)?;
    let (batches, cut) = (redacted.batches, cut(redacted.cut));
    print(&format!(
        "{batches} batches are written to {} with their texts hidden; ids, names of tools and models, numbers and times \
         are as they were.{cut}\n",
        to.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("{} cannot be read ({error}); check the path.", file.display()))
    })
}

fn unfit(file: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {error}.", file.display()))
}

fn cut(cut: bool) -> &'static str {
    if cut { " The last line was cut short and is left out." } else { "" }
}
