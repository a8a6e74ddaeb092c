//! `hostler completions`: what makes a shell complete the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::print;
use crate::cli::Cli;
use crate::failure::Failure;

pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hostler", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
