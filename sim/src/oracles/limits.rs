//! Limits are kept: a turn has no more steps than its prompt allows, a step no more attempts than the settings do, and a
//! wait is no longer than its prompt allows.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::prompt::{MAX_WAIT_HEADLESS, Terms};
use hostler_core::record::Record;
use hostler_core::session::Settings;

use super::refused::refuses_key;
use super::{Oracle, Seen};

/// What each prompt allows, and the terms of the turn of each session.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    attempts: u32,
    longest: u64,
    prompts: BTreeMap<(SessionId, PromptId), Terms>,
    turns: BTreeMap<SessionId, Terms>,
    /// The sessions whose conversation is summed up.
    summing: BTreeSet<SessionId>,
    /// The sessions in whose step a key was refused, which may be found out anew once.
    renewed: BTreeSet<SessionId>,
    /// The sessions in whose step seals were refused.
    unsealed: BTreeSet<SessionId>,
}

/// How often a request for a summary may be refused as too long, besides its attempts.
const REFUSALS: u32 = 3;

impl Limits {
    pub(super) fn new(settings: &Settings) -> Self {
        let longest = settings.backoff << settings.attempts.min(16);
        let (prompts, turns) = (BTreeMap::new(), BTreeMap::new());
        let (summing, renewed, unsealed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { attempts: settings.attempts, longest, prompts, turns, summing, renewed, unsealed }
    }

    fn record(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                self.prompts.insert((session.clone(), prompt.id.clone()), prompt.terms.clone());
            }
            Record::TurnStarted { prompt, .. } => {
                self.summing.remove(session);
                if let Some(terms) = self.prompts.get(&(session.clone(), prompt.clone())) {
                    self.turns.insert(session.clone(), terms.clone());
                }
            }
            Record::StepStarted { step, .. }
                if self.turns.get(session).is_some_and(|terms| step.step > terms.max_steps) =>
            {
                return Err(format!("{session}: step {step} is more than its prompt allows"));
            }
            Record::StepStarted { .. } => {
                self.renewed.remove(session);
                self.unsealed.remove(session);
            }
            Record::SummaryStarted { .. } => {
                self.summing.insert(session.clone());
            }
            Record::TurnContinued { .. } => {
                self.summing.remove(session);
            }
            Record::AttemptStarted { attempt } => {
                let more = if self.summing.contains(session) { REFUSALS } else { 0 };
                // With another key all attempts may be made once more.
                let more = more + if self.renewed.contains(session) { self.attempts } else { 0 };
                // Without its seals a request is made once more.
                let more = more + u32::from(self.unsealed.contains(session));
                if attempt.attempt > self.attempts + more {
                    return Err(format!("{session}: attempt {attempt} is more than there may be"));
                }
            }
            Record::AttemptFailed { attempt, error, seals, retry_after: Some(wait), .. } => {
                if refuses_key(error) {
                    self.renewed.insert(session.clone());
                }
                if *seals {
                    self.unsealed.insert(session.clone());
                }
                let most = self.turns.get(session).map_or(0, |terms| terms.max_wait.max(self.longest));
                // A summary that belongs to no run waits as long as a run would whose prompt says nothing.
                let most = if self.summing.contains(session) { most.max(MAX_WAIT_HEADLESS) } else { most };
                if *wait > most {
                    return Err(format!("{session}: after attempt {attempt} it waits for {wait} ms"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Oracle for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(&entry.session, &entry.record),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.prompts.retain(|(id, _), _| id.root() != *session);
        self.turns.retain(|id, _| id.root() != *session);
        self.summing.retain(|id| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        self
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::Usage;
    use hostler_core::ids::MessageId;
    use hostler_core::model::{CallError, CallErrorKind};

    use super::super::fixture::{ATTEMPT, accepted, attempt, shown, started, step};
    use super::*;

    #[test]
    fn one_step_or_attempt_too_many_is_noticed() {
        let mut first = accepted(1, "a");
        if let Record::PromptAccepted { prompt, .. } = &mut first {
            prompt.terms.max_steps = 2;
        }
        let check = |last: Record| {
            let log = [first.clone(), started(1, "a"), last];
            shown(&mut Limits::new(&Settings::default()), &log, &[])
        };
        assert_eq!(check(step(2)), Ok(()));
        assert!(check(step(3)).is_err());
        assert_eq!(check(attempt(4)), Ok(()));
        assert!(check(attempt(5)).is_err());
    }

    #[test]
    fn a_key_that_is_found_out_anew_has_its_attempts_once() {
        let kind = CallErrorKind::Status { status: 401, code: String::new() };
        let error = CallError { kind, message: String::new(), retry_after: None, should_retry: None };
        let failed = Record::AttemptFailed {
            attempt: ATTEMPT,
            message: MessageId(11),
            error,
            usage: Usage::default(),
            cost: None,
            too_long: false,
            seals: false,
            retry_after: Some(0),
        };
        let check = |last: Record| {
            let log = [accepted(1, "a"), started(1, "a"), failed.clone(), last];
            shown(&mut Limits::new(&Settings::default()), &log, &[])
        };
        assert_eq!(check(attempt(8)), Ok(()));
        assert!(check(attempt(9)).is_err());
        let mut limits = Limits::new(&Settings::default());
        let log = [accepted(1, "a"), started(1, "a"), failed, step(2), attempt(5)];
        assert!(shown(&mut limits, &log, &[]).is_err());
    }
}
