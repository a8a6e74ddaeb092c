//! A command that runs under a helper, as hostler sees it.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::environment;
use super::hunt;
use super::program::ARGUMENT;
use super::tree::NotStarted;
use super::wire::{self, Ask, REPORT, Report};

/// A helper and its command. Dropping it ends both.
pub(super) struct Helped {
    helper: Child,
    socket: UnixStream,
    unsent: Vec<u8>,
    report: [u8; REPORT],
    received: usize,
    state: State,
    /// Whether there is nothing left to be ended.
    gone: bool,
}

/// How far the command is, as far as the helper has said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Unable,
    Failed(i32),
    Ended(i32),
    /// The helper has ended without a word.
    Lost,
}

impl Helped {
    /// Starts a helper, and gives it the command.
    pub(super) fn start(
        program: &Path,
        command: &str,
        directory: &Path,
        output: PipeWriter,
    ) -> io::Result<Self> {
        let unsent = wire::command(command)?;
        let (ours, theirs) = Socket::pair()?;
        ours.set_nonblocking(true)?;
        let socket = UnixStream::from_std(ours)?;
        let helper = spawn(program, directory, theirs, output)?;
        let (report, received, state) = ([0; REPORT], 0, State::Running);
        Ok(Self { helper, socket, unsent, report, received, state, gone: false })
    }

    /// Waits for the shell's end; there is no status if the helper was killed.
    pub(super) async fn ended(&mut self) -> Result<Option<ExitStatus>, NotStarted> {
        while self.state == State::Running {
            self.hear().await;
        }
        match self.state {
            State::Unable => Err(NotStarted::Unable),
            State::Failed(error) => Err(NotStarted::Failed(io::Error::from_raw_os_error(error))),
            State::Running | State::Ended(_) | State::Lost => Ok(self.status()),
        }
    }

    /// How the shell has ended, if it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        match self.state {
            State::Ended(status) => Some(ExitStatus::from_raw(status)),
            State::Running | State::Unable | State::Failed(_) | State::Lost => None,
        }
    }

    /// Waits until the shell and all that it has started are gone.
    pub(super) async fn gone(&mut self) {
        while self.hear().await {}
        // The only way to fail is that there is nothing to be waited for.
        let _ = self.helper.wait().await;
    }

    /// Asks the helper to do something, which it hears of while [`Self::gone`] is waited for.
    pub(super) fn ask(&mut self, ask: Ask) {
        self.unsent.push(ask.byte());
        self.wake();
    }

    /// Lets the helper go on if the command has stopped it.
    fn wake(&self) {
        if let Some(helper) = self.id() {
            // It may have ended, which is as good.
            let _ = kill_process(helper, Signal::CONT);
        }
    }

    /// The helper's id, as long as that is not given to others.
    fn id(&self) -> Option<Pid> {
        self.helper.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Says what is left to say, then waits for a report or for the helper's end. Whether it may say more.
    async fn hear(&mut self) -> bool {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent).await {
                Ok(length) => drop(self.unsent.drain(..length)),
                // What it has to say may still be read.
                Err(_) => self.unsent.clear(),
            }
        }
        match self.socket.read(&mut self.report[self.received..]).await {
            Ok(length) if length > 0 => self.received += length,
            Ok(_) | Err(_) => {
                self.lost();
                return false;
            }
        }
        if self.received == REPORT {
            self.received = 0;
            self.take_in(Report::read(self.report));
        }
        true
    }

    fn take_in(&mut self, report: Option<Report>) {
        match report {
            Some(Report::Unable) => (self.state, self.gone) = (State::Unable, true),
            Some(Report::Failed(error)) => (self.state, self.gone) = (State::Failed(error), true),
            Some(Report::Ended(status)) => self.state = State::Ended(status),
            Some(Report::Gone) => self.gone = true,
            None => {}
        }
    }

    /// The helper has ended. If it was killed, its tree lives on without it: in its session, all but what has begun one
    /// of its own and has lost its parents.
    fn lost(&mut self) {
        if self.state == State::Running {
            self.state = State::Lost;
        }
        if let Some(id) = self.id()
            && !self.gone
        {
            hunt::kill_all(|process| process.session == id.as_raw_nonzero().get());
        }
        self.gone = true;
    }
}

impl Drop for Helped {
    fn drop(&mut self) {
        if self.unsent.is_empty() {
            // So few bytes have room, and a helper that is gone has nothing left to do.
            let _ = self.socket.try_write(&[Ask::Kill.byte()]);
        }
        self.wake();
    }
}

/// The environment is the command's from the start, so there is nothing in the helper's that the command may not see.
fn spawn(program: &Path, directory: &Path, socket: Socket, output: PipeWriter) -> io::Result<Child> {
    Command::new(program)
        .arg0("hostler")
        .arg(ARGUMENT)
        .current_dir(directory)
        .env_clear()
        .envs(environment::passed_on(std::env::vars_os()))
        .stdin(OwnedFd::from(socket))
        .stdout(output.try_clone()?)
        .stderr(Stdio::from(output))
        .spawn()
}
