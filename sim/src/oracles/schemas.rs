//! Where an answer must satisfy a schema, a run that ends well has an answer and every other one has none, and a model is told
//! at most twice that what it said will not do. Nobody else is told so at all.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::record::{Record, RunStatus};

use super::{Oracle, Seen};

/// How often an answer may be refused and asked for again.
const TWICE: u32 = 2;

/// Which prompts have a schema, and how often each session's run was told that its answer will not do.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemas {
    prompts: BTreeMap<(SessionId, PromptId), bool>,
    turns: BTreeMap<SessionId, (PromptId, u32)>,
}

impl Schemas {
    fn demands(&self, session: &SessionId, prompt: &PromptId) -> bool {
        self.prompts.get(&(session.clone(), prompt.clone())).copied().unwrap_or_default()
    }

    fn record(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let demands = prompt.terms.answer_schema.is_some();
                self.prompts.insert((session.clone(), prompt.id.clone()), demands);
            }
            Record::PromptFolded { prompt, .. } if self.demands(session, prompt) => {
                return Err(format!("{session}: {prompt} has a schema and joins another turn"));
            }
            Record::TurnStarted { prompt, .. } => {
                self.turns.insert(session.clone(), (prompt.clone(), 0));
            }
            Record::AnswerRefused { prompt, .. } => {
                let demands = self.demands(session, prompt);
                let Some((first, refused)) = self.turns.get_mut(session) else {
                    return Err(format!("{session}: an answer is refused without a turn"));
                };
                *refused += 1;
                if !demands || first != prompt || *refused > TWICE {
                    return Err(format!(
                        "{session}: the answer to {prompt} is refused for the {refused}. time"
                    ));
                }
            }
            Record::RunFinished(end)
                if self.demands(session, &end.prompt)
                    && end.answer.is_some() != (end.status == RunStatus::Ok) =>
            {
                let (prompt, status, answer) = (&end.prompt, end.status, end.answer);
                return Err(format!("{session}: {prompt} ends with {status:?} and the answer {answer:?}"));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Oracle for Schemas {
    fn name(&self) -> &'static str {
        "answers satisfy"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.record(&entry.session, &entry.record),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.prompts.retain(|(own, _), _| own.root() != *session);
        self.turns.retain(|own, _| own.root() != *session);
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
    use hostler_core::ids::{MessageId, TurnId};

    use super::super::fixture::{accepted, finished, joined, shown, started};
    use super::*;

    fn demanding(id: &str) -> Record {
        let mut record = accepted(1, id);
        if let Record::PromptAccepted { prompt, .. } = &mut record {
            prompt.terms.answer_schema = Some("{}".to_owned());
        }
        record
    }

    fn refused(id: &str) -> Record {
        Record::AnswerRefused {
            turn: TurnId(1),
            answer: None,
            problem: String::new(),
            prompt: PromptId::new(id),
            message: MessageId(9),
            text: String::new(),
        }
    }

    fn ends(status: RunStatus, answer: Option<MessageId>) -> Record {
        let Record::RunFinished(end) = finished("a") else { return finished("a") };
        Record::RunFinished(hostler_core::record::RunFinished { status, answer, ..end })
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Schemas::default(), log, &[])
    }

    #[test]
    fn an_answer_is_refused_twice_at_most_and_only_where_there_is_a_schema() {
        let begun = [demanding("a"), started(1, "a")];
        let more = |times: usize| [&begun[..], &vec![refused("a"); times]].concat();
        assert_eq!(check(&more(2)), Ok(()));
        assert!(check(&more(3)).is_err());
        assert!(check(&[accepted(1, "a"), started(1, "a"), refused("a")]).is_err());
        assert!(check(&[started(1, "b"), demanding("a"), joined("a", 1)]).is_err());
    }

    #[test]
    fn an_answer_is_there_if_and_only_if_the_run_ends_well() {
        let after = |end: Record| check(&[demanding("a"), started(1, "a"), end]);
        assert_eq!(after(ends(RunStatus::Ok, Some(MessageId(2)))), Ok(()));
        assert_eq!(after(ends(RunStatus::Error, None)), Ok(()));
        assert!(after(ends(RunStatus::Ok, None)).is_err());
        assert!(after(ends(RunStatus::Limit, Some(MessageId(2)))).is_err());
    }
}
