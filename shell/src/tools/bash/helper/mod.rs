//! The helper under which a command runs: this program once more, with a first argument that nobody types.
//!
//! It does three things that a process cannot do for its own children while it may be killed itself. It is the subreaper
//! of all that the command starts, so that nothing leaves its tree, `setsid` or not. It leads a session of its own without
//! a terminal. And when hostler asks, or is gone in whatever way, it ends the whole tree.
//!
//! It is single-threaded and starts nothing but the shell. The environment that it is given is the command's. What becomes
//! of a command that attacks its helper is the business of `guard`.

mod guard;
mod signals;

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, setpgid, setsid, wait};

use super::hunt::{self, Hunt};
use super::processes::{self, Process};
use super::wire::{Ask, Report, read_command};
use guard::Role;

/// How long a command may take to end when hostler is gone.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the command that standard input names to the end of all that it starts.
pub(super) fn main() -> ExitCode {
    signals::do_nothing();
    // It fails if this process leads a group, and then it was not hostler that started it as it does.
    let _ = setsid();
    let asked = socket().and_then(|mut hostler| Ok((read_command(&mut hostler)?, hostler)));
    let Ok((command, mut hostler)) = asked else { return ExitCode::FAILURE };
    match prepare(c"command-guard").and_then(|()| guard::part()) {
        Ok(Role::Helper(guard)) => watch_over(&command, hostler, guard),
        Ok(Role::Guard(guard)) => {
            guard.until_gone(hostler);
            ExitCode::SUCCESS
        }
        Err(_) => say(&mut hostler, Report::Unable),
    }
}

/// Standard input, which is a socket, in a way that is not inherited.
fn socket() -> io::Result<UnixStream> {
    io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from)
}

fn watch_over(command: &str, mut hostler: UnixStream, guard: PipeReader) -> ExitCode {
    // Nothing that is sent to the guard's group is meant for this process.
    let _ = setpgid(None, None);
    let ready = prepare(c"hostler-helper").and_then(|()| signals::of_children());
    let Ok(children) = ready else { return say(&mut hostler, Report::Unable) };
    let leader = match start(command) {
        Ok(leader) => leader,
        Err(error) => return say(&mut hostler, Report::Failed(error.raw_os_error().unwrap_or_default())),
    };
    signals::hold_all();
    let_go_of_output();
    let (guard, kill_at, hunt) = (Some(guard), None, None);
    Watch { hostler, connected: true, guard, children, leader, kill_at, hunt }.until_gone();
    ExitCode::SUCCESS
}

/// Does what could fail before anything is started. `name` is what tools like `ps` and `top` show; otherwise it would be
/// `exe`. The guard's is not like hostler's, so that it survives `pkill -9 hostler` and cleans up.
fn prepare(name: &CStr) -> io::Result<()> {
    let _ = rustix::thread::set_name(name);
    set_child_subreaper(Some(getpid()))?;
    processes::visible()
}

/// Starts bash, or sh where there is no bash, as the leader of a group of its own.
fn start(command: &str) -> io::Result<Option<Pid>> {
    let started = match spawn("bash", command) {
        Err(error) if error.kind() == ErrorKind::NotFound => spawn("sh", command),
        started => started,
    };
    Ok(i32::try_from(started?).ok().and_then(Pid::from_raw))
}

/// `--` keeps a command that begins with a dash from being taken for options.
fn spawn(shell: &str, command: &str) -> io::Result<u32> {
    let mut shell = Command::new(shell);
    shell.args(["-c", "--", command]).stdin(Stdio::null()).process_group(0);
    // Reaped with all others.
    shell.spawn().map(|child| child.id())
}

/// Only the command holds its output from here on.
fn let_go_of_output() {
    // Without /dev/null the output is held until the command's end, which hostler can live with.
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn say(hostler: &mut UnixStream, report: Report) -> ExitCode {
    // A hostler that is gone is noticed elsewhere.
    let _ = hostler.write_all(&report.bytes());
    ExitCode::SUCCESS
}

/// A command that is being watched over.
struct Watch {
    hostler: UnixStream,
    connected: bool,
    /// Becomes readable when the guard is gone; none once it is, and for the guard itself.
    guard: Option<PipeReader>,
    children: OwnedFd,
    leader: Option<Pid>,
    kill_at: Option<Instant>,
    hunt: Option<Hunt>,
}

impl Watch {
    fn until_gone(mut self) {
        while self.reap() {
            if !self.strike() {
                return;
            }
            self.wait();
        }
        say(&mut self.hostler, Report::Gone);
    }

    /// Takes note of all children that have ended. Whether there are others: if not, there are no descendants.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((id, status))) if Some(id) == self.leader => {
                    self.leader = None;
                    say(&mut self.hostler, Report::Ended(status.as_raw()));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Kills what is left if it is time for that. Whether to go on.
    fn strike(&mut self) -> bool {
        let now = Instant::now();
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            self.hunt.get_or_insert_with(Hunt::begin);
        }
        match &mut self.hunt {
            Some(hunt) if hunt.next() <= now => hunt.round(is_child),
            _ => true,
        }
    }

    /// Waits until there is something to do.
    fn wait(&mut self) {
        let due = self.hunt.as_ref().map(Hunt::next).or(self.kill_at);
        let timeout = due.map(|due| until(due.saturating_duration_since(Instant::now())));
        let (children, hostler, guard) = self.look(timeout.as_ref());
        if children {
            drain(&self.children);
        }
        if hostler {
            self.listen();
        }
        if guard {
            self.guard = None;
            self.end_all();
        }
    }

    /// Waits, and says what there is news of: children, hostler, the guard.
    fn look(&self, timeout: Option<&Timespec>) -> (bool, bool, bool) {
        let hostler = self.connected.then(|| PollFd::new(&self.hostler, PollFlags::IN));
        let guard = self.guard.as_ref().map(|guard| PollFd::new(guard, PollFlags::IN));
        let has = (true, hostler.is_some(), guard.is_some());
        let children = PollFd::new(&self.children, PollFlags::IN);
        let mut asked: Vec<_> = [Some(children), hostler, guard].into_iter().flatten().collect();
        // Nothing interrupts it, and whatever else it could say is found out by the next look around.
        let _ = poll(&mut asked, timeout);
        let mut news = asked.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |asked: bool| asked && news.next().unwrap_or(false);
        (next(has.0), next(has.1), next(has.2))
    }

    fn listen(&mut self) {
        let mut byte = [0];
        match rustix::io::read(&self.hostler, &mut byte) {
            Ok(1) => match Ask::read(byte[0]) {
                Ask::Terminate => hunt::terminate_all(is_child),
                Ask::Kill => drop(self.hunt.get_or_insert_with(Hunt::begin)),
            },
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => self.alone(),
        }
    }

    /// Hostler is gone.
    fn alone(&mut self) {
        self.connected = false;
        self.end_all();
    }

    /// Tells all to end, and kills them if they do not.
    fn end_all(&mut self) {
        if self.hunt.is_none() && self.kill_at.is_none() {
            hunt::terminate_all(is_child);
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }
}

/// Makes the descriptor wait for the next child.
fn drain(children: &OwnedFd) {
    let mut news = [0; 1024];
    // What they were is found out by reaping.
    let _ = rustix::io::read(children, &mut news);
}

/// Whether a process is a child of this one, born to it or an orphan from below.
fn is_child(process: &Process) -> bool {
    process.parent == getpid().as_raw_nonzero().get()
}

fn until(time: Duration) -> Timespec {
    Timespec::try_from(time).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
}
