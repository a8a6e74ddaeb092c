//! A root session has one writer: whoever has its lock. Nobody else writes its records or acts for it.

use std::collections::BTreeMap;

use hostler_core::ids::SessionId;
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

/// Who has which lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Writers(BTreeMap<SessionId, usize>);

impl Writers {
    fn check(&self, process: usize, session: &SessionId, what: &str) -> Result<(), String> {
        // Sub-agents share the lock of the session that they belong to.
        match self.0.get(&session.root()) {
            Some(holder) if *holder == process => Ok(()),
            holder => Err(format!("process {process} {what} {session}, whose lock {holder:?} has")),
        }
    }
}

impl Oracle for Writers {
    fn name(&self) -> &'static str {
        "one writer"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Lock { process, session } => match self.0.insert((*session).clone(), *process) {
                Some(holder) => Err(format!("{holder} and {process} have the lock of {session}")),
                None => Ok(()),
            },
            Seen::Unlock { session } => {
                self.0.remove(*session);
                Ok(())
            }
            Seen::Writes { process, entries } => {
                entries.iter().try_for_each(|entry| self.check(*process, &entry.session, "writes to"))
            }
            Seen::Start {
                process,
                effect:
                    Effect::Session(Owned {
                        session,
                        effect: Ask::Prepare { .. } | Ask::CallModel { .. } | Ask::RunTool { .. },
                    }),
            } => self.check(*process, session, "acts for"),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, _session: &SessionId) {
        // Who forgets it still has its lock.
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
    use super::super::fixture::{accepted, entry, run_tool, session};
    use super::*;

    #[test]
    fn writing_and_acting_need_the_lock() {
        let (session, effect, entries) = (session(), run_tool(), [entry(accepted(1, "a"))]);
        let mut oracle = Writers::default();
        let writes = |process| Seen::Writes { process, entries: &entries };
        assert!(oracle.see(&writes(0)).is_err());
        assert_eq!(oracle.see(&Seen::Lock { process: 0, session: &session }), Ok(()));
        assert_eq!(oracle.see(&writes(0)), Ok(()));
        assert!(oracle.see(&writes(1)).is_err());
        assert!(oracle.see(&Seen::Start { process: 1, effect: &effect }).is_err());
        assert!(oracle.clone().see(&Seen::Lock { process: 1, session: &session }).is_err());
        assert_eq!(oracle.see(&Seen::Unlock { session: &session }), Ok(()));
        assert!(oracle.see(&writes(0)).is_err());
    }
}
