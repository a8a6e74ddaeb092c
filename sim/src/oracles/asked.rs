//! A person is asked about a call once, it does not run before somebody says that it may, and the question goes with its turn.

use std::collections::BTreeSet;

use hostler_core::ids::{CallId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::record::Record;

use super::{Oracle, Seen};

/// A call of a session.
type Call = (SessionId, CallId);

/// What waits for people, and the calls that wait for that.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    open: BTreeSet<(SessionId, Call)>,
    blocked: BTreeSet<Call>,
}

impl Asked {
    fn record(&mut self, entry: &Entry) -> Result<(), String> {
        let own = &entry.session;
        match &entry.record {
            Record::PermissionAsked { session, call, .. } => {
                let about = (session.clone(), *call);
                if !self.open.insert((own.clone(), about.clone())) {
                    return Err(format!("{own}: it is asked twice about {call} of {session}"));
                }
                self.blocked.insert(about);
                Ok(())
            }
            Record::PermissionWithdrawn { session, call } => self.close(own, session, *call),
            Record::PermissionDecided { call, allowed, session, person, .. } => {
                let about = session.as_ref().unwrap_or(own);
                let was_open = self.open.contains(&(own.clone(), (about.clone(), *call)));
                if *person && !own.is_child() && !was_open {
                    return Err(format!(
                        "{own}: a person decides about {call} of {about}, and was not asked"
                    ));
                }
                if was_open {
                    self.close(own, about, *call)?;
                }
                if *allowed && session.is_none() {
                    self.blocked.remove(&(own.clone(), *call));
                }
                Ok(())
            }
            Record::ToolCallStarted { call, .. } if self.blocked.contains(&(own.clone(), *call)) => {
                Err(format!("{own}: {call} starts, and nobody has said that it may"))
            }
            Record::SubAgentFinished { session, .. } => {
                self.none_of(own, |(asked, (about, _))| asked == own && about == session)
            }
            Record::TurnFinished { .. } => {
                self.blocked.retain(|(session, _)| session != own);
                self.none_of(own, |(asked, _)| asked == own)
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self, own: &SessionId, session: &SessionId, call: CallId) -> Result<(), String> {
        let was_open = self.open.remove(&(own.clone(), (session.clone(), call)));
        let what = || format!("{own}: a question about {call} of {session} is closed that is not open");
        if was_open { Ok(()) } else { Err(what()) }
    }

    fn none_of(&self, own: &SessionId, which: impl Fn(&(SessionId, Call)) -> bool) -> Result<(), String> {
        match self.open.iter().find(|question| which(question)) {
            None => Ok(()),
            Some((_, (session, call))) => Err(format!(
                "{own}: what needed an answer about {call} of {session} is over, and it is asked"
            )),
        }
    }
}

impl Oracle for Asked {
    fn name(&self) -> &'static str {
        "questions"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(entry),
            Seen::Quiet { tidy: true, .. } if !self.open.is_empty() => {
                Err(format!("nothing is under way, and {} questions wait", self.open.len()))
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.open.retain(|(asked, _)| asked.root() != *session);
        self.blocked.retain(|(own, _)| own.root() != *session);
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
    use hostler_core::tools::Ask;

    use super::super::fixture::{CALL, ended, quiet, session, shown, tool_started};
    use super::*;

    fn asked() -> Record {
        let ask = Ask { tool: "ls".to_owned(), parts: Vec::new(), grants: Vec::new(), whole: false };
        Record::PermissionAsked { session: session(), call: CALL, ask }
    }

    fn decided(allowed: bool) -> Record {
        let (by, session, person, grants) = ("anna".to_owned(), None, true, Vec::new());
        Record::PermissionDecided { call: CALL, allowed, by, session, person, grants }
    }

    fn withdrawn() -> Record {
        Record::PermissionWithdrawn { session: session(), call: CALL }
    }

    fn check(records: &[Record]) -> Result<(), String> {
        let mut oracle = Asked::default();
        shown(&mut oracle, records, &[]).and_then(|()| quiet(&mut oracle, true))
    }

    #[test]
    fn a_call_runs_behind_its_permission_and_not_before() {
        assert_eq!(check(&[asked(), decided(true), tool_started(), ended(1)]), Ok(()));
        assert!(check(&[asked(), tool_started()]).is_err());
        assert!(check(&[asked(), decided(false), tool_started()]).is_err());
    }

    #[test]
    fn a_question_is_asked_once_answered_once_and_gone_with_its_turn() {
        assert_eq!(check(&[asked(), withdrawn(), ended(1)]), Ok(()));
        for wrong in [
            [asked(), asked()].as_slice(),
            &[asked(), decided(false), decided(true)],
            &[asked(), withdrawn(), decided(true)],
            &[withdrawn()],
            &[asked(), ended(1)],
            &[asked()],
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
