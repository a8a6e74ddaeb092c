//! Effects name what there is: what is stopped was begun, what completes was under way and completes once, and only who has
//! a session lets it go.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::Block;
use hostler_core::ids::{AttemptId, CallId, PromptId, SessionId};
use hostler_core::record::Record;
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    prompts: BTreeSet<PromptId>,
    calls: BTreeSet<CallId>,
    /// Those that were made before a process took the session: it has none of them under way.
    old: BTreeSet<CallId>,
    attempts: BTreeSet<AttemptId>,
    /// The attempt that has not completed.
    open: Option<AttemptId>,
}

/// What there is in each session, and who has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    sessions: BTreeMap<SessionId, Session>,
    held: BTreeSet<(usize, SessionId)>,
}

impl Session {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => drop(self.prompts.insert(prompt.id.clone())),
            Record::AttemptStarted { attempt } => {
                self.attempts.insert(*attempt);
                self.open = Some(*attempt);
            }
            Record::AttemptFailed { attempt, .. } => {
                let open = self.open.take();
                if open != Some(*attempt) {
                    return Err(format!("attempt {attempt} fails, and under way is {open:?}"));
                }
            }
            Record::MessageFinished { blocks, .. } => {
                self.open = None;
                let calls = blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => Some(call.id),
                    Block::Text(_) | Block::Reasoning(_) => None,
                });
                self.calls.extend(calls);
            }
            Record::ToolCallFinished { call, .. } if !self.calls.contains(call) => {
                return Err(format!("call {call} ends and was never made"));
            }
            _ => {}
        }
        Ok(())
    }

    fn knows(&self, effect: &Ask) -> bool {
        match effect {
            Ask::Prepare { prompt, .. } | Ask::CancelPrepare { prompt } => self.prompts.contains(prompt),
            Ask::CallModel { attempt, .. } | Ask::CancelCall { attempt } => self.attempts.contains(attempt),
            Ask::InspectCall { call, .. } | Ask::RunTool { call, .. } | Ask::CancelTool { call } => {
                self.calls.contains(call) && !self.old.contains(call)
            }
            Ask::KeepRules { rules } => !rules.is_empty(),
            Ask::CheckAnswer { step } | Ask::CancelCheck { step } => {
                self.attempts.iter().any(|attempt| attempt.step == *step)
            }
            Ask::MakeTitle { .. } | Ask::CancelTitle | Ask::Reply { .. } => true,
        }
    }
}

impl Named {
    fn start(&mut self, process: usize, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::Session(Owned { session, effect }) => {
                let known = self.sessions.get(session).is_some_and(|known| known.knows(effect));
                known.then_some(()).ok_or_else(|| format!("{session}: {effect:?} names what there is not"))
            }
            Effect::CloseSession { session } if !self.held.contains(&(process, session.clone())) => {
                Err(format!("process {process} lets {session} go and does not have it"))
            }
            _ => Ok(()),
        }
    }
}

impl Oracle for Named {
    fn name(&self) -> &'static str {
        "effects name what there is"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                let session = self.sessions.entry(entry.session.clone()).or_default();
                session.record(&entry.record).map_err(|what| format!("{}: {what}", entry.session))
            }
            Seen::Start { process, effect } => self.start(*process, effect),
            Seen::Lock { process, session } => {
                self.held.insert((*process, (*session).clone()));
                let own = self.sessions.iter_mut().filter(|(id, _)| id.root() == **session);
                own.for_each(|(_, known)| known.old.clone_from(&known.calls));
                Ok(())
            }
            Seen::Unlock { session } => {
                self.held.retain(|(_, other)| other != *session);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|id, _| id.root() != *session);
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
    use hostler_core::model::{CallError, CallErrorKind};

    use super::super::fixture::{
        ATTEMPT, accepted, answered, asks, attempt, call, run_tool, session, shown, tool_finished,
    };
    use super::*;

    fn failed(number: u32) -> Record {
        let error = CallError {
            kind: CallErrorKind::Transport,
            message: String::new(),
            retry_after: None,
            should_retry: None,
        };
        Record::AttemptFailed {
            attempt: AttemptId { attempt: number, ..ATTEMPT },
            message: hostler_core::ids::MessageId(11),
            error,
            usage: Usage::default(),
            cost: None,
            too_long: false,
            seals: false,
            retry_after: Some(1),
        }
    }

    fn check(log: &[Record], starts: &[Effect]) -> Result<(), String> {
        shown(&mut Named::default(), log, starts)
    }

    #[test]
    fn what_is_not_there_is_neither_stopped_nor_run() {
        let stop_call = asks(Ask::CancelCall { attempt: ATTEMPT });
        let stop_preparing = asks(Ask::CancelPrepare { prompt: PromptId::new("a") });
        assert!(check(&[], std::slice::from_ref(&stop_call)).is_err());
        assert_eq!(check(&[attempt(1)], &[stop_call]), Ok(()));
        assert!(check(&[], std::slice::from_ref(&stop_preparing)).is_err());
        assert_eq!(check(&[accepted(1, "a")], &[stop_preparing]), Ok(()));
        assert!(check(&[], &[run_tool()]).is_err());
        assert_eq!(check(&[answered(vec![call()])], &[run_tool()]), Ok(()));
        assert!(check(&[], &[Effect::CloseSession { session: session() }]).is_err());
    }

    #[test]
    fn what_somebody_else_had_under_way_is_not_stopped_and_nothing_is_not_kept() {
        let stop = asks(Ask::CancelTool { call: super::super::fixture::CALL });
        let log = [answered(vec![call()])];
        assert_eq!(check(&log, std::slice::from_ref(&stop)), Ok(()));
        let mut oracle = Named::default();
        assert_eq!(shown(&mut oracle, &log, &[]), Ok(()));
        assert_eq!(oracle.see(&Seen::Lock { process: 0, session: &session() }), Ok(()));
        assert!(shown(&mut oracle, &[], &[stop]).is_err());
        assert!(check(&[], &[asks(Ask::KeepRules { rules: Vec::new() })]).is_err());
    }

    #[test]
    fn what_is_not_under_way_does_not_complete() {
        assert_eq!(check(&[attempt(1), failed(1), attempt(2), failed(2)], &[]), Ok(()));
        assert!(check(&[attempt(1), failed(1), failed(1)], &[]).is_err());
        assert!(check(&[attempt(1), failed(2)], &[]).is_err());
        assert!(check(&[attempt(1), answered(Vec::new()), failed(1)], &[]).is_err());
        assert!(check(&[tool_finished()], &[]).is_err());
    }
}
