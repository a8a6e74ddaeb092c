//! The signals that end a run. One that was ignored when the program started stays ignored: whoever started it wants
//! it to go on.

use std::io;

use hostler_core::client::Signal;
use tokio::signal::unix::{self, SignalKind};

/// The signals that are watched for.
pub(super) struct Signals {
    hangup: Option<unix::Signal>,
    interrupt: Option<unix::Signal>,
    terminate: Option<unix::Signal>,
}

impl Signals {
    /// Watches from here on.
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self {
            hangup: watch(libc::SIGHUP, SignalKind::hangup())?,
            interrupt: watch(libc::SIGINT, SignalKind::interrupt())?,
            terminate: watch(libc::SIGTERM, SignalKind::terminate())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            () = next(&mut self.interrupt) => Signal::Interrupt,
            () = next(&mut self.terminate) => Signal::Terminate,
            () = next(&mut self.hangup) => Signal::Hangup,
        }
    }
}

fn watch(number: libc::c_int, kind: SignalKind) -> io::Result<Option<unix::Signal>> {
    if is_ignored(number) { Ok(None) } else { unix::signal(kind).map(Some) }
}

async fn next(signal: &mut Option<unix::Signal>) {
    if let Some(signal) = signal
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}

#[allow(
    unsafe_code,
    reason = "no safe crate in the tree asks for a signal's disposition without changing it"
)]
fn is_ignored(number: libc::c_int) -> bool {
    // SAFETY: a null new action only asks; the old action is written to a value that outlives the call.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(number, std::ptr::null(), &mut old) == 0 && old.sa_sigaction == libc::SIG_IGN
    }
}
