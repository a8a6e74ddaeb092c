//! How something ended is told as it was: in a sentence, with the numbers, the status and the words that there were, and for
//! no other reason. A wait before another attempt is as long as it must be.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::{ErrorClass, Finish, ToolOutcome, ToolStatus};
use hostler_core::ids::{CallId, PromptId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::{CallError, CallErrorKind};
use hostler_core::prompt::Terms;
use hostler_core::record::{Reason, Record, RunFinished, RunStatus, TurnOutcome};
use hostler_core::session::Settings;
use hostler_core::time::{Deadline, Timestamp};

use super::refusals::is_sentence;
use super::refused::refuses_key;
use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// The open prompts: their terms, their texts, and when they were accepted.
    prompts: BTreeMap<PromptId, (Terms, String, Timestamp)>,
    /// Those of the run that is under way or was last, and on what terms.
    run: Vec<PromptId>,
    terms: Option<Terms>,
    summing: bool,
    /// The failure that was last, if nothing has come of the turn since.
    failed: Option<CallError>,
    /// How many attempts of the step have failed that count, and whether its key was found out anew.
    tried: u32,
    renewed: bool,
    finish: Option<Finish>,
    outcome: Option<TurnOutcome>,
    /// Calls that run, and since when.
    running: BTreeMap<CallId, Timestamp>,
    decided: BTreeSet<CallId>,
}

/// What has happened in each session, as far as it is told about.
#[derive(Clone, Debug)]
pub(super) struct Words {
    settings: Settings,
    sessions: BTreeMap<SessionId, Session>,
}

impl Words {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), sessions: BTreeMap::new() }
    }
}

/// A time as people are told it.
fn time(millis: u64) -> String {
    if millis < 1_000 { format!("{millis} ms") } else { format!("{} s", millis / 1_000) }
}

fn status(error: &CallError) -> Option<u16> {
    if let CallErrorKind::Status { status, .. } = error.kind { Some(status) } else { None }
}

fn is_too_long(error: &CallError) -> bool {
    let code = matches!(&error.kind, CallErrorKind::Status { code, .. } if code.starts_with("context"));
    code || status(error) == Some(413) || error.message.contains("too long:")
}

/// What of a failure must be found in what is told about it, and the reason.
fn telling(error: &CallError) -> (&'static str, Reason) {
    match &error.kind {
        _ if is_too_long(error) => ("too long for the model", Reason::Context),
        CallErrorKind::Status { code, .. } if code == "insufficient_quota" => ("quota", Reason::Provider),
        CallErrorKind::Status { status: 200, .. } => {
            ("could not be spoken to or understood", Reason::Provider)
        }
        CallErrorKind::Status { .. } if refuses_key(error) => {
            ("refused the credentials", Reason::Credentials)
        }
        CallErrorKind::Status { status, code } if *status == 404 || code == "model_not_found" => {
            ("does not have this model", Reason::UnknownModel)
        }
        CallErrorKind::Status { status: 401 | 403, .. } => ("refused the credentials", Reason::Credentials),
        CallErrorKind::Status { status: 408 | 429, .. } => ("too busy", Reason::Provider),
        CallErrorKind::Status { status, .. } if *status >= 500 => ("trouble of its own", Reason::Provider),
        CallErrorKind::Status { .. } => ("rejected the request", Reason::Provider),
        CallErrorKind::Transport => ("could not be reached", Reason::Provider),
        CallErrorKind::Truncated => ("broke off", Reason::Provider),
        CallErrorKind::Timeout(_) => ("was silent", Reason::Provider),
        CallErrorKind::Stream { .. } => ("in its answer", Reason::Provider),
        CallErrorKind::Protocol => ("could not be spoken to or understood", Reason::Provider),
        CallErrorKind::Credentials => ("", Reason::Credentials),
    }
}

fn has(text: &str, what: &str) -> Result<(), String> {
    if text.contains(what) { Ok(()) } else { Err(format!("{what:?} is not in: {text}")) }
}

impl Session {
    fn record(&mut self, settings: &Settings, at: Timestamp, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let known = (prompt.terms.clone(), prompt.text.trim().to_owned(), at);
                self.prompts.insert(prompt.id.clone(), known);
            }
            Record::TurnStarted { prompt, .. } => {
                (self.run, self.summing) = (vec![prompt.clone()], false);
                (self.failed, self.outcome) = (None, None);
                self.terms = self.prompts.get(prompt).map(|(terms, _, _)| terms.clone());
            }
            Record::PromptFolded { prompt, .. } => self.run.push(prompt.clone()),
            Record::SummaryStarted { .. } => self.summing = true,
            Record::TurnContinued { text, .. } => {
                self.summing = false;
                let said = self.run.iter().filter_map(|prompt| self.prompts.get(prompt));
                said.map(|(_, said, _)| said).try_for_each(|said| has(text, said))?;
            }
            Record::StepStarted { .. } => {
                (self.tried, self.renewed, self.failed, self.finish) = (0, false, None, None);
                self.decided.clear();
            }
            Record::AttemptStarted { .. } => self.failed = None,
            Record::AttemptFailed { error, retry_after, too_long, seals, .. } => {
                self.failed(settings, error, *retry_after, *too_long || *seals)?;
            }
            Record::MessageFinished { finish, .. } => self.finish = Some(finish.clone()),
            Record::PermissionDecided { call, .. } => drop(self.decided.insert(*call)),
            Record::ToolCallStarted { call, .. } => drop(self.running.insert(*call, at)),
            Record::ToolCallFinished { call, outcome, duration, .. } => {
                self.call_ended(settings, at, *call, (outcome, *duration))?;
            }
            Record::TurnFinished { outcome, .. } => {
                self.running.clear();
                self.outcome = Some(outcome.clone());
            }
            Record::RunFinished(end) => {
                let began = self.run.contains(&end.prompt);
                self.ended(settings, at, end, began)?;
                self.prompts.remove(&end.prompt);
            }
            _ => {}
        }
        Ok(())
    }

    fn failed(
        &mut self,
        settings: &Settings,
        error: &CallError,
        retry_after: Option<u64>,
        at_once: bool,
    ) -> Result<(), String> {
        self.failed = Some(error.clone());
        let (seconds, words) = match error.kind {
            CallErrorKind::Timeout(Deadline::Connect) => {
                (settings.connect + settings.first_event, "no answer")
            }
            CallErrorKind::Timeout(Deadline::FirstEvent) => (settings.first_event, "no first event"),
            CallErrorKind::Timeout(_) => (settings.idle, "no event"),
            _ => (0, ""),
        };
        if !words.is_empty() {
            has(&error.message, &format!("{words} within {} s", seconds / 1_000))?;
        }
        let renews = !self.renewed && refuses_key(error) && retry_after.is_some();
        if renews {
            (self.renewed, self.tried) = (true, 0);
        } else if !(self.summing && is_too_long(error) && retry_after.is_some()) {
            self.tried += 1;
        }
        let expected = match (renews || at_once, error.retry_after) {
            (true, _) => 0,
            (_, Some(wait)) => wait,
            (_, None) => (1..self.tried).fold(settings.backoff, |wait, _| wait * 2),
        };
        match retry_after {
            Some(wait) if wait != expected => {
                Err(format!("it waits for {wait} ms and not for {expected} ms"))
            }
            _ => Ok(()),
        }
    }

    fn call_ended(
        &mut self,
        settings: &Settings,
        at: Timestamp,
        call: CallId,
        (outcome, duration): (&ToolOutcome, u64),
    ) -> Result<(), String> {
        let since = self.running.remove(&call);
        let text = &outcome.text;
        // What a process that is gone had running took nobody knows how long.
        let took =
            since.filter(|_| outcome.status != ToolStatus::Interrupted).map_or(0, |since| at.since(since));
        if text.trim().is_empty() || duration != took {
            return Err(format!("{call} took {took} ms, and said is {duration} ms: {text}"));
        }
        if let Some((_, rest)) = text.split_once("had not ended after ") {
            return has(rest, &format!("{} s and", took / 1_000));
        }
        if text.contains("could not be found out within") {
            return has(text, &format!("within {} s", settings.inspect / 1_000));
        }
        let senseless =
            outcome.status == ToolStatus::Error && since.is_none() && !self.decided.contains(&call);
        let cut = text.contains("output limit had cut");
        if cut != (senseless && self.finish == Some(Finish::MaxTokens)) {
            return Err(format!("{call} of an answer that ended with {:?}: {text}", self.finish));
        }
        Ok(())
    }

    fn ended(
        &self,
        settings: &Settings,
        at: Timestamp,
        end: &RunFinished,
        began: bool,
    ) -> Result<(), String> {
        let Some((_, _, accepted)) = self.prompts.get(&end.prompt) else { return Ok(()) };
        if end.duration != at.since(*accepted) {
            return Err(format!(
                "{} took {} ms, and said is {} ms",
                end.prompt,
                at.since(*accepted),
                end.duration
            ));
        }
        let text = &end.message;
        if end.status == RunStatus::Ok {
            let plain = text.is_empty() && end.reason == Reason::Completed && began;
            return plain.then_some(()).ok_or(format!("{} ends well: {text}", end.prompt));
        }
        if !is_sentence(text) {
            return Err(format!("{} ends and says {text:?}", end.prompt));
        }
        let terms = self.terms.as_ref();
        match end.reason {
            Reason::MaxSteps => {
                let most = terms.map_or(0, |terms| terms.max_steps);
                has(text, &format!(" {most} step{}", if most == 1 { "," } else { "s," }))
            }
            Reason::MaxWait => self.waits(text, terms.map_or(0, |terms| terms.max_wait)),
            Reason::OutputLimit => has(text, "output limit"),
            Reason::Repetition => has(text, "repeats the same calls"),
            Reason::Refusal => has(text, "withheld"),
            Reason::Denied if end.status == RunStatus::Cancelled => has(text, "cancelled"),
            Reason::Denied => has(text, "denied"),
            Reason::Interrupted => has(text, if began { "stopped during the run" } else { "given back" }),
            Reason::Returned => has(text, "given back"),
            Reason::User | Reason::Client => has(text, "cancelled"),
            Reason::Timeout => has(text, "as long as it may"),
            Reason::Provider | Reason::Credentials | Reason::Context | Reason::UnknownModel => {
                self.failure(settings, end)
            }
            Reason::MaxCost
            | Reason::Schema
            | Reason::Usage
            | Reason::NoProvider
            | Reason::Internal
            | Reason::Storage
            | Reason::Shutdown
            | Reason::Sighup
            | Reason::Sigint
            | Reason::Sigterm
            | Reason::OutputClosed => Ok(()),
            // Whoever shows a run may find these, and no session does.
            Reason::Completed | Reason::ToolError | Reason::ServerLost => {
                Err(format!("{} ends for a reason that is not its own: {:?}", end.prompt, end.reason))
            }
        }
    }

    fn waits(&self, text: &str, most: u64) -> Result<(), String> {
        let wait = self.failed.as_ref().and_then(|error| error.retry_after).unwrap_or(0);
        // A part of a second is one more.
        let wait = if wait < 1_000 { wait } else { wait.div_ceil(1_000).saturating_mul(1_000) };
        has(text, &format!("wait {} ", time(wait)))?;
        has(text, &format!("the {} allowed", time(most)))
    }

    /// A run that ended because an attempt failed tells of that, and how many there were.
    fn failure(&self, settings: &Settings, end: &RunFinished) -> Result<(), String> {
        let text = &end.message;
        let Some(error) = &self.failed else {
            // It was not begun, or its conversation stays too long.
            let prepared = matches!(&self.outcome, Some(TurnOutcome::Failed(error)) if error.class == ErrorClass::Timeout);
            let seconds = settings.prepare / 1_000;
            return if prepared { has(text, &format!("longer than {seconds} s")) } else { Ok(()) };
        };
        if error.kind == CallErrorKind::Credentials {
            return has(text, &error.message);
        }
        let (words, reason) = telling(error);
        // What failed before an answer came is not why it ended then.
        if self.summing && text.contains("wrote nothing") {
            return Ok(());
        }
        has(text, words)?;
        has(text, error.message.trim_end_matches('.'))?;
        status(error).map_or(Ok(()), |status| has(text, &format!("status {status}")))?;
        let times = format!("{} attempts", self.tried);
        let counted = if self.tried > 1 { text.contains(&times) } else { !text.contains("attempts") };
        if reason != end.reason || !counted {
            return Err(format!("after {times} it ends with {:?}: {text}", end.reason));
        }
        Ok(())
    }
}

impl Oracle for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { entry: Entry { session, at, record }, .. } = seen else { return Ok(()) };
        let known = self.sessions.entry(session.clone()).or_default();
        known.record(&self.settings, *at, record).map_err(|what| format!("{session}: {what}"))
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::{ErrorInfo, Usage};
    use hostler_core::ids::MessageId;

    use super::super::fixture::{
        ATTEMPT, CALL, accepted, attempt, ended, finished, shown, started, step, tool_started,
    };
    use super::*;

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Words::new(&Settings::default()), log, &[])
    }

    fn fails(kind: CallErrorKind, asked: Option<u64>, waits: Option<u64>) -> Record {
        let error = CallError { kind, message: "so".to_owned(), retry_after: asked, should_retry: None };
        let (usage, cost) = (Usage::default(), None);
        let (too_long, seals) = (false, false);
        Record::AttemptFailed {
            attempt: ATTEMPT,
            message: MessageId(11),
            error,
            usage,
            cost,
            too_long,
            seals,
            retry_after: waits,
        }
    }

    fn over(status: RunStatus, reason: Reason, message: &str) -> Record {
        let Record::RunFinished(end) = finished("a") else { return finished("a") };
        Record::RunFinished(RunFinished { status, reason, message: message.to_owned(), ..end })
    }

    fn after(failures: &[Record], reason: Reason, message: &str) -> Result<(), String> {
        let begun = [accepted(1, "a"), started(1, "a"), step(1), attempt(1)];
        let end = [ended(1), over(RunStatus::Error, reason, message)];
        check(&[&begun[..], failures, &end].concat())
    }

    #[test]
    fn a_run_that_failed_tells_of_what_failed() {
        let refused = || CallErrorKind::Status { status: 503, code: String::new() };
        let one = [fails(refused(), None, None)];
        let two = [fails(refused(), None, Some(5_000)), attempt(2), fails(refused(), None, None)];
        let text = |facts: &str| format!("The provider has trouble of its own ({facts}): so; try again.");
        assert_eq!(after(&one, Reason::Provider, &text("status 503")), Ok(()));
        assert_eq!(after(&two, Reason::Provider, &text("status 503, 2 attempts")), Ok(()));
        assert!(after(&one, Reason::Provider, &text("status 503, 1 attempts")).is_err());
        assert!(after(&two, Reason::Provider, &text("status 503")).is_err());
        assert!(after(&one, Reason::Provider, &text("status 500")).is_err());
        assert!(after(&one, Reason::Credentials, &text("status 503")).is_err());
        assert!(after(&one, Reason::Provider, "It was too busy (status 503): so.").is_err());
        assert!(after(&one, Reason::Provider, "").is_err());
    }

    #[test]
    fn a_wait_is_as_long_as_it_must_be() {
        let begun = [accepted(1, "a"), started(1, "a"), step(1), attempt(1)];
        let waits = |asked, waits| {
            check(&[&begun[..], &[fails(CallErrorKind::Transport, asked, Some(waits))]].concat())
        };
        assert_eq!(waits(None, 5_000), Ok(()));
        assert_eq!(waits(Some(7), 7), Ok(()));
        assert!(waits(None, 10_000).is_err());
        assert!(waits(Some(7), 5_000).is_err());
        let silent = fails(CallErrorKind::Timeout(Deadline::Idle), None, Some(5_000));
        assert!(check(&[&begun[..], &[silent]].concat()).is_err(), "it does not say how long");
    }

    #[test]
    fn limits_are_named_as_they_are() {
        let steps = |message: &str| after(&[], Reason::MaxSteps, message);
        assert_eq!(steps("The run has had 500 steps, as many as it may."), Ok(()));
        assert!(steps("The run has had 5 steps, as many as it may.").is_err());
        let kind = CallErrorKind::Status { status: 429, code: String::new() };
        let waits =
            |message: &str| after(&[fails(kind.clone(), Some(60_001), None)], Reason::MaxWait, message);
        assert_eq!(waits("It asks to wait 61 s before that, longer than the 60 s allowed."), Ok(()));
        assert!(waits("It asks to wait 60 s before that, longer than the 60 s allowed.").is_err());
        assert!(waits("It asks to wait 61 s before that, longer than the 60000 ms allowed.").is_err());
    }

    #[test]
    fn what_a_call_is_told_is_so() {
        let told = |text: &str, duration| {
            let outcome = ToolOutcome::text(ToolStatus::Error, text);
            let done = Record::ToolCallFinished { message: MessageId(11), call: CALL, outcome, duration };
            check(&[step(1), tool_started(), done])
        };
        assert_eq!(told("It failed.", 0), Ok(()));
        assert!(told("It failed.", 1).is_err());
        assert!(told("", 0).is_err());
        assert!(told("This had not ended after 5 s and could not be stopped.", 0).is_err());
        let failed = ErrorInfo::new(ErrorClass::Timeout, "Preparing the run took longer than 9 s.");
        let turn = |outcome| {
            let Record::TurnFinished { turn, totals, .. } = ended(1) else { return ended(1) };
            Record::TurnFinished { turn, outcome, totals }
        };
        let log = [accepted(1, "a"), started(1, "a"), turn(TurnOutcome::Failed(failed))];
        let end = |text| over(RunStatus::Error, Reason::Provider, text);
        let with = |text| check(&[&log[..], &[end(text)]].concat());
        assert_eq!(with("Preparing the run took longer than 30 s; try again."), Ok(()));
        assert!(with("Preparing the run took longer than 9 s; try again.").is_err());
    }
}
