//! `hostler replay`: feeds a flight record to the decisions again.

use std::path::Path;
use std::process::ExitCode;

use hostler_core::flight;

use super::print;
use crate::failure::Failure;

/// Replays a flight record. Exit code 1 if a batch is decided differently.
pub(crate) fn replay(file: &Path) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("{} cannot be read ({error}).", file.display())))?;
    let report =
        flight::replay(&text).map_err(|error| Failure::usage(format!("{}: {error}.", file.display())))?;
    let cut = if report.cut { " The last line was cut short and is left out." } else { "" };
    match report.differs {
        None => {
            print(&format!(
                "{} batches with {} inputs are decided as they were recorded.{cut}\n",
                report.batches, report.inputs
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(differs) => {
            print(&format!(
                "Batch {} is decided differently: recorded {}, here {}. Here it leads to:\n{}\n",
                differs.batch, differs.recorded, differs.replayed, differs.decided
            ))?;
            Ok(ExitCode::FAILURE)
        }
    }
}
