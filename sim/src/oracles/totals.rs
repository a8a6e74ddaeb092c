//! What models use is counted with the run that they were asked for, once: that of sub-agents with the run that they work for.

use std::collections::BTreeMap;

use hostler_core::content::Usage;
use hostler_core::ids::SessionId;
use hostler_core::machine::Entry;
use hostler_core::record::Record;

use super::{Oracle, Seen};

/// Tokens read and written.
type Tokens = (u64, u64);

/// What each session has used and no run has been charged with, and what sub-agents say that they used.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    uncharged: BTreeMap<SessionId, Tokens>,
    agents: BTreeMap<SessionId, Tokens>,
}

fn tokens(usage: &Usage) -> Tokens {
    (usage.input, usage.output)
}

impl Totals {
    fn uses(&mut self, session: &SessionId, usage: &Usage) {
        let used = self.uncharged.entry(session.clone()).or_default();
        *used = (used.0 + usage.input, used.1 + usage.output);
    }

    fn charge(&mut self, session: &SessionId, usage: &Usage) -> Result<(), String> {
        let used = self.uncharged.entry(session.clone()).or_default();
        let left = used.0.checked_sub(usage.input).zip(used.1.checked_sub(usage.output));
        *used = left.ok_or_else(|| {
            format!("{session}: a run is charged with {:?} tokens, and {used:?} were used", tokens(usage))
        })?;
        if *used == (0, 0) {
            self.uncharged.remove(session);
        }
        Ok(())
    }

    fn record(&mut self, entry: &Entry) -> Result<(), String> {
        let session = &entry.session;
        match &entry.record {
            Record::AttemptFailed { usage, .. } | Record::StepFinished { usage, .. } => {
                self.uses(session, usage);
                Ok(())
            }
            Record::SubAgentFinished { session: agent, usage, .. } => {
                let said = self.agents.remove(agent);
                if said != Some(tokens(usage)) {
                    let used = tokens(usage);
                    return Err(format!("{session}: {agent} has used {said:?}, and {used:?} is counted"));
                }
                self.uses(session, usage);
                Ok(())
            }
            Record::RunFinished(finished) => {
                if session.is_child() {
                    self.agents.insert(session.clone(), tokens(&finished.totals.usage));
                }
                self.charge(session, &finished.totals.usage)
            }
            Record::TurnFinished { totals: Some(totals), .. } => self.charge(session, &totals.usage),
            Record::TurnStarted { .. } => self.check(session),
            _ => Ok(()),
        }
    }

    /// Where a turn begins, all that was used before has been charged.
    fn check(&self, session: &SessionId) -> Result<(), String> {
        match self.uncharged.get(session) {
            None | Some((0, 0)) => Ok(()),
            Some(used) => {
                Err(format!("{session}: {used:?} tokens were used, and no run is charged with them"))
            }
        }
    }
}

impl Oracle for Totals {
    fn name(&self) -> &'static str {
        "totals"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(entry),
            Seen::Quiet { tidy: true, .. } => {
                self.uncharged.keys().try_for_each(|session| self.check(session))
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.uncharged.retain(|id, _| id.root() != *session);
        self.agents.retain(|id, _| id.root() != *session);
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
    use hostler_core::record::RunStatus;

    use super::super::fixture::{CALL, STEP, finished, quiet, shown, started};
    use super::*;

    fn usage(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    fn step(input: u64) -> Record {
        Record::StepFinished { step: STEP, usage: usage(input), cost: None, context: 1, estimated: false }
    }

    fn charged(id: &str, input: u64) -> Record {
        let Record::RunFinished(mut run) = finished(id) else { return finished(id) };
        run.totals.usage = usage(input);
        Record::RunFinished(run)
    }

    #[test]
    fn a_run_is_charged_with_what_its_steps_used() {
        let check = |records: &[Record]| {
            let mut oracle = Totals::default();
            shown(&mut oracle, records, &[]).and_then(|()| quiet(&mut oracle, true))
        };
        assert_eq!(check(&[started(1, "a"), step(5), step(2), charged("a", 7), started(2, "b")]), Ok(()));
        assert!(check(&[started(1, "a"), step(5), charged("a", 6)]).is_err());
        assert!(check(&[started(1, "a"), step(5), charged("a", 4)]).is_err());
        assert!(check(&[started(1, "a"), step(5), charged("a", 4), started(2, "b")]).is_err());
    }

    #[test]
    fn what_a_sub_agent_used_is_counted_as_it_says() {
        let agent = SessionId::new("s.m1$$t1.s1.c1");
        let said = Entry { session: agent.clone(), ..super::super::fixture::entry(charged("x", 3)) };
        let used = Entry { session: agent.clone(), ..super::super::fixture::entry(step(3)) };
        for (counted, fine) in [(3, true), (2, false)] {
            let mut oracle = Totals::default();
            for (seq, entry) in [&used, &said].into_iter().enumerate() {
                assert_eq!(oracle.see(&Seen::Log { seq: seq as u64, entry }), Ok(()));
            }
            let (call, session, status) = (CALL, agent.clone(), RunStatus::Ok);
            let told = Record::SubAgentFinished { call, session, status, usage: usage(counted), cost: None };
            assert_eq!(shown(&mut oracle, &[told], &[]).is_ok(), fine);
        }
    }
}
