//! All processes of a command, and the two ways to have them in hand.

use std::io::{self, PipeWriter};
use std::path::Path;
use std::process::ExitStatus;

use super::grouped::Grouped;

#[cfg(target_os = "linux")]
use super::{helped::Helped, program, wire::Ask};

/// Why a command did not start.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only a helper says so later"))]
pub(super) enum NotStarted {
    /// The helper cannot do its work here. Nothing was started.
    Unable,
    /// The system refused.
    Failed(io::Error),
}

/// How a command is kept together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Under a helper, if there is one.
    Helper,
    /// In a process group.
    Group,
}

/// The processes of a command that has been started. Dropping it kills them.
pub(super) enum Tree {
    #[cfg(target_os = "linux")]
    Helped(Helped),
    Grouped(Grouped),
}

impl Tree {
    /// Starts a command.
    #[cfg_attr(not(target_os = "linux"), allow(unused_variables, reason = "there is one way only"))]
    pub(super) fn start(way: Way, command: &str, directory: &Path, output: PipeWriter) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if way == Way::Helper
            && let Some(helper) = program::helper()
        {
            match Helped::start(helper, command, directory, output.try_clone()?) {
                Ok(helped) => return Ok(Self::Helped(helped)),
                // What is wrong with the command is wrong in any case.
                Err(error) if error.kind() == io::ErrorKind::ArgumentListTooLong => return Err(error),
                Err(_) => {}
            }
        }
        Grouped::start(command, directory, output).map(Self::Grouped)
    }

    /// Waits for the shell's end; there is no status if the system cannot tell.
    pub(super) async fn ended(&mut self) -> Result<Option<ExitStatus>, NotStarted> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Helped(helped) => helped.ended().await,
            Self::Grouped(grouped) => Ok(grouped.ended().await),
        }
    }

    /// Waits until all are gone.
    pub(super) async fn gone(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Helped(helped) => helped.gone().await,
            Self::Grouped(grouped) => grouped.gone().await,
        }
    }

    /// Tells all to end.
    pub(super) fn terminate(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Helped(helped) => helped.ask(Ask::Terminate),
            Self::Grouped(grouped) => grouped.terminate(),
        }
    }

    /// Kills all.
    pub(super) fn kill(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Helped(helped) => helped.ask(Ask::Kill),
            Self::Grouped(grouped) => grouped.kill(),
        }
    }

    /// How the shell has ended, as far as that is known.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Helped(helped) => helped.status(),
            Self::Grouped(grouped) => grouped.status(),
        }
    }
}
