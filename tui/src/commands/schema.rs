//! `hostler schema`: what programs can rely on, in words that programs can read.

use std::process::ExitCode;

use hostler_core::config::schema;

use super::print;
use crate::cli::SchemaOf;
use crate::failure::Failure;

/// The end-to-end tests hold every line of every run against it.
const RUN: &str = include_str!("../../../docs/run.schema.json");

pub(crate) fn schema(what: SchemaOf) -> Result<ExitCode, Failure> {
    match what {
        SchemaOf::Config => print(&schema::schema())?,
        SchemaOf::Run => print(RUN)?,
    }
    Ok(ExitCode::SUCCESS)
}
