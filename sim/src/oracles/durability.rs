//! The state of a session is what its log amounts to: after a commit, the machine and the log say the same.

use hostler_core::ids::SessionId;
use hostler_core::session::Durable;

use super::{Oracle, Seen};

/// Looks closely every so many commits, and otherwise at what is cheap to compare.
#[derive(Clone, Debug)]
pub(super) struct Durability {
    closely: u64,
    count: u64,
}

impl Durability {
    pub(super) fn new(closely: u64) -> Self {
        Self { closely, count: 0 }
    }
}

fn like(a: &Durable, b: &Durable) -> bool {
    (a.sequence, a.last_message, a.last_turn, a.open.len())
        == (b.sequence, b.last_message, b.last_turn, b.open.len())
        && a.closed.len() == b.closed.len()
        && a.turn == b.turn
}

impl Oracle for Durability {
    fn name(&self) -> &'static str {
        "state is the log"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Committed { entries, machine, folds, .. } = seen else { return Ok(()) };
        self.count += 1;
        let closely = self.count.is_multiple_of(self.closely);
        for entry in *entries {
            let (Some(live), Some(fold)) = (machine.durable(&entry.session), folds.get(&entry.session))
            else {
                continue;
            };
            if !like(live, fold) || (closely && live != fold) {
                return Err(format!("{}: the machine says {live:?}, and the log {fold:?}", entry.session));
            }
            if !closely {
                break;
            }
        }
        Ok(())
    }

    fn forget(&mut self, _session: &SessionId) {
        // Nothing is remembered of any session.
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // How many commits there were decides nothing if every one is looked at.
        &()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hostler_core::ids::RequestId;
    use hostler_core::machine::{Effects, Machine};
    use hostler_core::protocol::{Command, SessionChoice};
    use hostler_core::time::Timestamp;
    use hostler_core::workspace::{Input, Opened};

    use super::super::fixture::{machine, prompt, session};
    use super::*;

    #[test]
    fn a_machine_that_knows_more_than_its_log_is_noticed() {
        let (mut machine, mut out, now) = (machine(), Effects::new(), Timestamp::from_millis(1));
        let choice = SessionChoice::New { id: session() };
        let command = Command::Submit { session: choice, prompt: prompt("a") };
        machine.handle(
            now,
            Input::Request { id: RequestId(1), command, taken: None, source: None },
            &mut out,
        );
        machine.handle(
            now,
            Input::SessionOpened {
                session: session(),
                opened: Opened::Ready(None),
                children: Vec::new(),
                taken: Vec::new(),
            },
            &mut out,
        );
        let fold = |skip: usize| {
            let mut durable = Durable::new(session());
            out.records().iter().skip(skip).for_each(|entry| durable.evolve(entry.at, &entry.record));
            BTreeMap::from([(session(), durable)])
        };
        let check = |folds: &BTreeMap<_, _>| {
            let seen = Seen::Committed { process: 0, entries: out.records(), machine: &machine, folds };
            Durability::new(1).see(&seen)
        };
        assert_eq!(check(&fold(0)), Ok(()));
        assert!(check(&fold(1)).is_err());
    }
}
