//! `hostler man`: manual pages, for `man -l -` or a package.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use hostler_core::quote::quoted;

use super::print;
use crate::cli::Cli;
use crate::failure::Failure;

pub(crate) fn man(words: &[String]) -> Result<ExitCode, Failure> {
    let mut hostler = Cli::command();
    hostler.build();
    let command = find(&hostler, words).ok_or_else(|| {
        Failure::usage(format!(
            "There is no command {}; `hostler --help` lists those that there are.",
            quoted(&words.join(" "))
        ))
    })?;
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}

/// The command with those words.
fn find(hostler: &Command, words: &[String]) -> Option<Command> {
    let mut command = hostler;
    // Several words may come as one argument, quoted.
    for word in words.iter().flat_map(|words| words.split_whitespace()) {
        command = command.find_subcommand(word)?;
    }
    Some(command.clone())
}
