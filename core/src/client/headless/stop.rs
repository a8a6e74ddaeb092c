//! What ends a run other than its own record: a refusal, a lost server, a signal, a reader that went away, or its time.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;

use super::{Effect, Headless, Phase, SETTLE, Signal};
use crate::machine::Effects;
use crate::protocol::{Command, Refusal, RefusalKind, Request};
use crate::record::{CancelScope, Reason, RunFinished, RunStatus};
use crate::time::Timestamp;

impl Headless {
    /// The run never was: it ends here, because no record will end it.
    pub(super) fn refused(&mut self, now: Timestamp, refusal: &Refusal, out: &mut Effects<Effect>) {
        let (status, reason) = match (refusal.kind, self.ending) {
            // Nothing was done, as whoever asked for its end wanted.
            (RefusalKind::Cancelled, Some(_)) => return self.give_up(now, out),
            (RefusalKind::Cancelled | RefusalKind::Closing, None) => (RunStatus::Cancelled, Reason::Client),
            (RefusalKind::Storage, _) => (RunStatus::Error, Reason::Storage),
            (RefusalKind::Closing, Some(_)) => (RunStatus::Cancelled, Reason::Shutdown),
            (
                RefusalKind::Invalid | RefusalKind::NotFound | RefusalKind::Ambiguous | RefusalKind::Conflict,
                _,
            ) => (RunStatus::Error, Reason::Usage),
        };
        self.finish(now, self.unrecorded(now, status, reason, &refusal.message), out);
    }

    /// Nobody can say what becomes of the run, unless it never was. Whoever wanted its end has it as far as that goes.
    pub(super) fn server_lost(&mut self, now: Timestamp, why: &str, out: &mut Effects<Effect>) {
        if self.ending.is_some() {
            return self.give_up(now, out);
        }
        let message = match self.phase {
            Phase::Submitted | Phase::Accepted => {
                format!(
                    "{why} How the run ended can be seen with `hostler runs show {}`.",
                    self.run().as_str()
                )
            }
            // The copy may be there all the same: only that nothing was done in it is known.
            Phase::Forking => format!(
                "{why} The prompt was not run; whether the copy of the session was made can be seen with `hostler sessions list`."
            ),
            Phase::Reading | Phase::Opening | Phase::Finding | Phase::Keeping | Phase::Over => {
                format!("{why} Nothing was begun; try again.")
            }
        };
        self.finish(now, self.unrecorded(now, RunStatus::Error, Reason::ServerLost, &message), out);
    }

    pub(super) fn unrecorded(
        &self,
        now: Timestamp,
        status: RunStatus,
        reason: Reason,
        message: &str,
    ) -> RunFinished {
        RunFinished {
            run: self.run(),
            prompt: self.prompt().clone(),
            status,
            reason,
            message: message.to_string(),
            answer: self.answer.as_ref().map(|(message, _)| *message),
            totals: self.used,
            duration: now.since(self.began),
        }
    }

    pub(super) fn signal(&mut self, now: Timestamp, signal: Signal, out: &mut Effects<Effect>) {
        let again = self.ending.is_some() && signal == Signal::Interrupt;
        if again {
            return self.hurry(now, out);
        }
        self.end(now, reason_of(signal), out);
    }

    /// Asks for the end of the run, once. What has not been submitted ends here.
    pub(super) fn end(&mut self, now: Timestamp, reason: Reason, out: &mut Effects<Effect>) {
        if self.ending.is_some() {
            return;
        }
        self.ending = Some((reason, now.plus(SETTLE)));
        match (self.phase, self.session.clone()) {
            (Phase::Submitted | Phase::Accepted, Some(session)) => {
                let scope = CancelScope::Run(self.run());
                let cancel = Command::Cancel { session, scope, reason };
                out.push(Effect::Request(Box::new(Request::Command(cancel))));
            }
            (Phase::Submitted | Phase::Accepted, None)
            | (
                Phase::Reading
                | Phase::Opening
                | Phase::Finding
                | Phase::Forking
                | Phase::Keeping
                | Phase::Over,
                _,
            ) => self.give_up(now, out),
        }
    }

    /// Ends the run here and now, and waits no longer for a reader than its last word takes.
    pub(super) fn hurry(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        self.ending = self.ending.map(|(reason, until)| (reason, until.min(now)));
        self.give_up(now, out);
    }

    /// Ends the run here and now; what is still under way is cut off with the process.
    pub(super) fn give_up(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        let Some((reason, _)) = self.ending else { return };
        let status = cancelled_status(reason);
        let message = match status {
            RunStatus::Limit => "The run took as long as it may; allow more with --timeout.",
            RunStatus::Error => "Standard output cannot be written, so the run was cancelled.",
            RunStatus::Cancelled | RunStatus::Ok | RunStatus::Denied => "The run was cancelled.",
        };
        let terminal = self.unrecorded(now, status, reason, message);
        self.finish(now, terminal, out);
    }

    pub(super) fn tick(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        match (self.ending, self.options.timeout) {
            (Some((_, until)), _) if until <= now => self.give_up(now, out),
            (None, Some(timeout)) if self.began.plus(timeout) <= now => self.end(now, Reason::Timeout, out),
            (None, _) => self.say_silence(now, out),
            (Some(_), _) => {}
        }
    }
}

pub(super) fn reason_of(signal: Signal) -> Reason {
    match signal {
        Signal::Hangup => Reason::Sighup,
        Signal::Interrupt => Reason::Sigint,
        Signal::Terminate => Reason::Sigterm,
    }
}

/// The status of a run that was stopped for that reason.
pub(super) fn cancelled_status(reason: Reason) -> RunStatus {
    match reason {
        Reason::Timeout => RunStatus::Limit,
        Reason::Storage => RunStatus::Error,
        Reason::Sighup
        | Reason::Sigint
        | Reason::Sigterm
        | Reason::OutputClosed
        | Reason::Client
        | Reason::Shutdown
        | Reason::User
        | Reason::Returned => RunStatus::Cancelled,
        // No run is stopped for what follows here; it is how runs end by themselves.
        Reason::Completed
        | Reason::Provider
        | Reason::Refusal
        | Reason::Internal
        | Reason::Interrupted
        | Reason::ToolError
        | Reason::Schema
        | Reason::Usage
        | Reason::UnknownModel
        | Reason::NoProvider
        | Reason::Credentials
        | Reason::OutputLimit
        | Reason::MaxSteps
        | Reason::MaxCost
        | Reason::MaxWait
        | Reason::Repetition
        | Reason::Context
        | Reason::Denied
        | Reason::ServerLost => RunStatus::Cancelled,
    }
}
