//! Nothing acts before its record is in the log, nothing acts twice, and nothing acts for what is over.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{AttemptId, CallId, PromptId, SessionId};
use hostler_core::record::Record;
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// What may be started now.
    prompts: BTreeSet<PromptId>,
    attempt: Option<AttemptId>,
    calls: BTreeSet<CallId>,
    /// What has been started.
    asked: BTreeSet<AttemptId>,
    ran: BTreeSet<CallId>,
    ended: BTreeSet<CallId>,
}

/// What may act, and what has.
#[derive(Clone, Debug, Default)]
pub(super) struct Acting(BTreeMap<SessionId, Session>);

impl Session {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                self.prompts.insert(prompt.id.clone());
            }
            Record::AttemptStarted { attempt } => self.attempt = Some(*attempt),
            Record::AttemptFailed { .. } | Record::MessageFinished { .. } => self.attempt = None,
            Record::ToolCallStarted { call, .. } if !self.calls.insert(*call) => {
                return Err(format!("call {call} is recorded as started twice"));
            }
            Record::ToolCallFinished { call, .. } if !self.ended.insert(*call) => {
                return Err(format!("call {call} ends twice"));
            }
            Record::RunFinished(finished) => {
                self.prompts.remove(&finished.prompt);
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, effect: &Ask) -> Result<(), String> {
        match effect {
            Ask::Prepare { prompt, .. } if !self.prompts.contains(prompt) => {
                Err(format!("{prompt} is prepared and is not an open prompt in the log"))
            }
            Ask::CallModel { attempt, .. } if self.attempt != Some(*attempt) => {
                Err(format!("attempt {attempt} is made, and the log says that {:?} is due", self.attempt))
            }
            Ask::CallModel { attempt, .. } if !self.asked.insert(*attempt) => {
                Err(format!("attempt {attempt} is made twice"))
            }
            Ask::RunTool { call, .. } if !self.calls.contains(call) || self.ended.contains(call) => {
                Err(format!("call {call} is run, and the log says that it has not started or is over"))
            }
            Ask::RunTool { call, .. } if !self.ran.insert(*call) => Err(format!("call {call} is run twice")),
            Ask::InspectCall { call, .. } if self.ended.contains(call) => {
                Err(format!("call {call} is looked at and is over"))
            }
            _ => Ok(()),
        }
    }
}

impl Oracle for Acting {
    fn name(&self) -> &'static str {
        "record before act"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                let session = self.0.entry(entry.session.clone()).or_default();
                session.record(&entry.record).map_err(|what| format!("{}: {what}", entry.session))
            }
            Seen::Start { effect: Effect::Session(Owned { session, effect }), .. } => {
                let known = self.0.entry(session.clone()).or_default();
                known.start(effect).map_err(|what| format!("{session}: {what}"))
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
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
    use super::super::fixture::{
        answered, attempt, call_model, run_tool, shown, tool_finished, tool_started,
    };
    use super::*;

    fn check(log: &[Record], starts: &[Effect]) -> Result<(), String> {
        shown(&mut Acting::default(), log, starts)
    }

    #[test]
    fn what_acts_once_after_its_record_is_fine() {
        assert_eq!(check(&[attempt(1)], &[call_model()]), Ok(()));
        assert_eq!(check(&[tool_started()], &[run_tool()]), Ok(()));
    }

    #[test]
    fn acting_before_the_record_twice_or_too_late_is_noticed() {
        assert!(check(&[], &[run_tool()]).is_err());
        assert!(check(&[tool_started()], &[run_tool(), run_tool()]).is_err());
        assert!(check(&[tool_started(), tool_finished()], &[run_tool()]).is_err());
        assert!(check(&[tool_started(), tool_finished(), tool_finished()], &[]).is_err());
        assert!(check(&[], &[call_model()]).is_err());
        assert!(check(&[attempt(1)], &[call_model(), call_model()]).is_err());
        assert!(check(&[attempt(1), answered(Vec::new())], &[call_model()]).is_err());
    }
}
