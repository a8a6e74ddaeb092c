//! `hostler schema`: prints JSON Schemas.

use std::process::ExitCode;

use hostler_core::config::schema;

use super::print;
use crate::cli::SchemaOf;
use crate::failure::Failure;

pub(crate) fn schema(what: SchemaOf) -> Result<ExitCode, Failure> {
    match what {
        SchemaOf::Config => print(&schema::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
