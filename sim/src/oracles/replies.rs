//! Each request is answered exactly once, and a prompt is said to be accepted only when it is in the log.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{PromptId, RequestId, SessionId};
use hostler_core::protocol::Reply;
use hostler_core::record::Record;
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

/// The requests that wait for an answer, and what is in the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies {
    waiting: BTreeSet<(usize, RequestId)>,
    accepted: BTreeMap<(SessionId, PromptId), u64>,
}

impl Replies {
    fn answered(&mut self, process: usize, id: RequestId, reply: &Reply) -> Result<(), String> {
        if !self.waiting.remove(&(process, id)) {
            return Err(format!("process {process} answers request {id:?}, which waits for nothing"));
        }
        let Reply::Accepted { session, prompt, sequence, .. } = reply else { return Ok(()) };
        match self.accepted.get(&(session.clone(), prompt.clone())) {
            Some(known) if known == sequence => Ok(()),
            known => {
                Err(format!("{prompt} is said to be accepted as {sequence}, and in the log it is {known:?}"))
            }
        }
    }
}

impl Oracle for Replies {
    fn name(&self) -> &'static str {
        "one answer"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                if let Record::PromptAccepted { sequence, prompt } = &entry.record {
                    self.accepted.insert((entry.session.clone(), prompt.id.clone()), *sequence);
                }
                Ok(())
            }
            Seen::Request { process, id, .. } => {
                self.waiting.insert((*process, *id));
                Ok(())
            }
            Seen::Start { process, effect: Effect::Reply { to, reply } } => {
                self.answered(*process, *to, reply)
            }
            Seen::Gone { process } => {
                self.waiting.retain(|(owner, _)| owner != process);
                Ok(())
            }
            Seen::Quiet { .. } => match self.waiting.first() {
                Some((process, id)) => {
                    Err(format!("nothing is under way, and process {process} owes request {id:?} an answer"))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.accepted.retain(|(id, _), _| id.root() != *session);
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
    use hostler_core::ids::RunId;

    use super::super::fixture::{accepted, quiet, session, shown};
    use super::*;

    fn reply(sequence: u64) -> Effect {
        let (prompt, run) = (PromptId::new("a"), RunId::new("a"));
        let reply = Reply::Accepted { session: session(), prompt, run, sequence, ended: None };
        Effect::Reply { to: RequestId(1), reply: Box::new(reply) }
    }

    fn check(log: &[Record], starts: &[Effect]) -> Result<(), String> {
        let mut oracle = Replies::default();
        let command = hostler_core::protocol::Command::ClearQueue { session: session() };
        oracle.see(&Seen::Request { process: 0, id: RequestId(1), command: &command })?;
        shown(&mut oracle, log, starts)?;
        quiet(&mut oracle, false)
    }

    #[test]
    fn one_true_answer_is_right() {
        assert_eq!(check(&[accepted(1, "a")], &[reply(1)]), Ok(()));
    }

    #[test]
    fn no_answer_two_answers_and_a_false_one_are_noticed() {
        assert!(check(&[accepted(1, "a")], &[]).is_err());
        assert!(check(&[accepted(1, "a")], &[reply(1), reply(1)]).is_err());
        assert!(check(&[], &[reply(1)]).is_err());
        assert!(check(&[accepted(1, "a")], &[reply(2)]).is_err());
    }
}
