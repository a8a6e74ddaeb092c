//! Where an answer must satisfy a schema, a run that ends well has an answer and every other one has none, and a model is told
//! at most twice that what it said will not do. Nobody else is told so at all. What is held against the schema is what was
//! said last, and what comes of the run is what was found.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::text_of;
use hostler_core::ids::{MessageId, PromptId, SessionId, StepId};
use hostler_core::record::{Reason, Record, RunFinished, RunStatus};
use hostler_core::session::{Input as SessionInput, Settings, Verdict};
use hostler_core::workspace::Input;

use super::{Oracle, Seen};

/// How often an answer may be refused and asked for again.
const TWICE: u32 = 2;

/// Which prompts have a schema, and how often each session's run was told that its answer will not do.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    /// How long a look at an answer is waited for.
    patience: u64,
    prompts: BTreeMap<(SessionId, PromptId), Option<String>>,
    turns: BTreeMap<SessionId, (PromptId, u32)>,
    /// What each session has said last in words, since it was asked again.
    said: BTreeMap<SessionId, (MessageId, String)>,
    /// Those that sum their conversation up: what they write is said to nobody.
    summing: BTreeSet<SessionId>,
    steps: BTreeMap<SessionId, StepId>,
    /// What was found of the answer of a step, and in which process.
    found: BTreeMap<SessionId, (usize, StepId, Verdict)>,
    /// Whether it has seen more than what was in the log before: what was found is not there.
    lives: bool,
}

impl Schemas {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            patience: settings.check,
            prompts: BTreeMap::new(),
            turns: BTreeMap::new(),
            said: BTreeMap::new(),
            summing: BTreeSet::new(),
            steps: BTreeMap::new(),
            found: BTreeMap::new(),
            lives: false,
        }
    }

    fn schema(&self, session: &SessionId, prompt: &PromptId) -> Option<&String> {
        self.prompts.get(&(session.clone(), prompt.clone()))?.as_ref()
    }

    /// What was found of the answer that the session has given last.
    fn verdict(&self, session: &SessionId) -> Option<&Verdict> {
        let (_, step, verdict) = self.found.get(session)?;
        (self.steps.get(session) == Some(step)).then_some(verdict)
    }

    fn record(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let schema = prompt.terms.answer_schema.clone();
                if schema.is_some() && session.is_child() {
                    return Err(format!("{session}: a sub-agent has a schema"));
                }
                self.prompts.insert((session.clone(), prompt.id.clone()), schema);
            }
            Record::PromptFolded { prompt, .. } if self.schema(session, prompt).is_some() => {
                return Err(format!("{session}: {prompt} has a schema and joins another turn"));
            }
            Record::TurnStarted { prompt, .. } => {
                self.turns.insert(session.clone(), (prompt.clone(), 0));
                self.said.remove(session);
                self.found.remove(session);
            }
            Record::SummaryStarted { .. } => {
                self.summing.insert(session.clone());
            }
            Record::TurnFinished { .. } => {
                self.summing.remove(session);
            }
            Record::StepStarted { step, .. } => drop(self.steps.insert(session.clone(), *step)),
            Record::MessageFinished { message, blocks, .. } => {
                let text = text_of(blocks);
                if !text.trim().is_empty() && !self.summing.contains(session) {
                    self.said.insert(session.clone(), (*message, text));
                }
            }
            Record::AnswerRefused { prompt, problem, text, .. } => {
                self.refused(session, prompt, (problem, text))?;
                self.said.remove(session);
            }
            Record::RunFinished(end) if self.schema(session, &end.prompt).is_some() => {
                return self.ended(session, end);
            }
            _ => {}
        }
        Ok(())
    }

    fn refused(
        &mut self,
        session: &SessionId,
        prompt: &PromptId,
        (problem, text): (&str, &str),
    ) -> Result<(), String> {
        let demands = self.schema(session, prompt).is_some();
        let found = match self.verdict(session) {
            Some(Verdict::Violated(found)) => Some(found.clone()),
            Some(Verdict::Satisfied | Verdict::Undecided(_)) | None => None,
        };
        let silent = !self.said.contains_key(session) && problem.contains("no text");
        let right = silent || found.as_deref() == Some(problem) || !self.lives;
        if !right || !text.contains(problem) {
            return Err(format!("{session}: found was {found:?}, and the model is told {problem:?}: {text}"));
        }
        let Some((first, refused)) = self.turns.get_mut(session) else {
            return Err(format!("{session}: an answer is refused without a turn"));
        };
        *refused += 1;
        if !demands || first != prompt || *refused > TWICE {
            return Err(format!("{session}: the answer to {prompt} is refused for the {refused}. time"));
        }
        Ok(())
    }

    fn ended(&self, session: &SessionId, end: &RunFinished) -> Result<(), String> {
        let (prompt, status, answer) = (&end.prompt, end.status, end.answer);
        if answer.is_some() != (status == RunStatus::Ok) {
            return Err(format!("{session}: {prompt} ends with {status:?} and the answer {answer:?}"));
        }
        let own = self.turns.get(session).is_some_and(|(first, _)| first == prompt);
        if !self.lives || !own {
            return Ok(());
        }
        let (verdict, message) = (self.verdict(session), &end.message);
        let fits = match (verdict, end.reason) {
            (Some(Verdict::Satisfied), Reason::Completed) => {
                self.said.get(session).is_some_and(|(said, _)| Some(*said) == answer)
            }
            (Some(Verdict::Undecided(why)), Reason::Schema) => message.starts_with(why.as_str()),
            (Some(Verdict::Violated(found)), Reason::Schema) => self.is_last(session, message, found),
            (None, Reason::Schema) => {
                let late = message.contains(&format!("within {} s", self.patience / 1_000));
                late || self.is_last(session, message, "no text")
            }
            (_, Reason::Completed) => false,
            // What ends it otherwise has nothing to do with its answer, which nobody has found fault with.
            (verdict, _) => !matches!(verdict, Some(Verdict::Satisfied | Verdict::Undecided(_))),
        };
        fits.then_some(()).ok_or_else(|| {
            format!("{session}: found was {verdict:?}, and {prompt} ends with {status:?}: {message}")
        })
    }

    /// Whether a run ends so because its answer was refused as often as it may be.
    fn is_last(&self, session: &SessionId, message: &str, problem: &str) -> bool {
        let often = self.turns.get(session).is_some_and(|(_, refused)| *refused == TWICE);
        often && message.contains(problem) && message.contains("2 times more")
    }

    fn checks(&self, session: &SessionId, schema: &str, answer: &str) -> Result<(), String> {
        let own = self.turns.get(session).and_then(|(prompt, _)| self.schema(session, prompt));
        let said = self.said.get(session).map(|(_, text)| text);
        if own.is_some_and(|own| own == schema) && said.is_some_and(|said| said == answer) {
            return Ok(());
        }
        Err(format!("{session}: {answer:?} is held against {schema:?}, and said was {said:?} to {own:?}"))
    }
}

impl Oracle for Schemas {
    fn name(&self) -> &'static str {
        "answers satisfy"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        self.lives |= !matches!(seen, Seen::Log { .. });
        match seen {
            Seen::Log { entry, .. } => self.record(&entry.session, &entry.record),
            Seen::Checks { session, schema, answer } => self.checks(session, schema, answer),
            Seen::Gone { process } => {
                self.found.retain(|_, (owner, _, _)| owner != process);
                Ok(())
            }
            Seen::Handled { process, input: Input::Session { session, input }, entries, .. } => {
                if let SessionInput::Checked { step, verdict } = input
                    && !entries.is_empty()
                {
                    self.found.insert(session.clone(), (*process, *step, verdict.clone()));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.prompts.retain(|(own, _), _| own.root() != *session);
        self.turns.retain(|own, _| own.root() != *session);
        self.said.retain(|own, _| own.root() != *session);
        self.summing.retain(|own| own.root() != *session);
        self.steps.retain(|own, _| own.root() != *session);
        self.found.retain(|own, _| own.root() != *session);
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
    use hostler_core::content::Block;
    use hostler_core::ids::TurnId;

    use super::super::fixture::{
        STEP, accepted, answered, entry, finished, joined, machine, session, shown, started, step,
    };
    use super::*;

    fn demanding(id: &str) -> Record {
        let mut record = accepted(1, id);
        if let Record::PromptAccepted { prompt, .. } = &mut record {
            prompt.terms.answer_schema = Some("{}".to_owned());
        }
        record
    }

    fn refused(id: &str, problem: &str) -> Record {
        Record::AnswerRefused {
            turn: TurnId(1),
            answer: None,
            problem: problem.to_owned(),
            prompt: PromptId::new(id),
            message: MessageId(9),
            text: format!("It is wrong: {problem}"),
        }
    }

    fn ends(status: RunStatus, reason: Reason, message: &str) -> Record {
        let Record::RunFinished(end) = finished("a") else { return finished("a") };
        let answer = (status == RunStatus::Ok).then_some(MessageId(11));
        Record::RunFinished(RunFinished { status, reason, answer, message: message.to_owned(), ..end })
    }

    /// A turn whose step has given an answer of which that was found.
    fn after(verdict: Option<Verdict>, more: &[Record]) -> Result<(), String> {
        let mut oracle = Schemas::new(&Settings::default());
        let said = answered(vec![Block::Text("1".to_owned())]);
        oracle.see(&Seen::Gone { process: 1 })?;
        shown(&mut oracle, &[demanding("a"), started(1, "a"), step(1), said], &[])?;
        if let Some(verdict) = verdict {
            let (session, machine, at) = (session(), machine(), hostler_core::time::Timestamp::default());
            let input = Input::Session { session, input: SessionInput::Checked { step: STEP, verdict } };
            let entries = [entry(finished("a"))];
            oracle.see(&Seen::Handled {
                process: 0,
                at,
                input: &input,
                entries: &entries,
                machine: &machine,
            })?;
        }
        shown(&mut oracle, more, &[])
    }

    fn violated() -> Option<Verdict> {
        Some(Verdict::Violated("It is 1.".to_owned()))
    }

    #[test]
    fn an_answer_is_refused_twice_at_most_for_what_was_found_and_only_where_there_is_a_schema() {
        let again = |times: usize| vec![refused("a", "It is 1."); times];
        assert_eq!(after(violated(), &again(2)), Ok(()));
        assert!(after(violated(), &again(3)).is_err());
        assert!(after(violated(), &[refused("a", "It is 2.")]).is_err());
        assert!(after(Some(Verdict::Satisfied), &again(1)).is_err());
        let check = |log: &[Record]| shown(&mut Schemas::new(&Settings::default()), log, &[]);
        assert!(check(&[accepted(1, "a"), started(1, "a"), refused("a", "There is no text.")]).is_err());
        assert!(check(&[started(1, "b"), demanding("a"), joined("a", 1)]).is_err());
    }

    #[test]
    fn a_run_ends_as_was_found_of_its_answer() {
        let well = || ends(RunStatus::Ok, Reason::Completed, "");
        let ill = |message: &str| ends(RunStatus::Error, Reason::Schema, message);
        assert_eq!(after(Some(Verdict::Satisfied), &[well()]), Ok(()));
        assert!(after(violated(), &[well()]).is_err());
        assert!(after(None, &[well()]).is_err());
        let undecided = || Some(Verdict::Undecided("It cannot be told.".to_owned()));
        assert_eq!(after(undecided(), &[ill("It cannot be told.")]), Ok(()));
        assert!(after(undecided(), &[ill("It will not do.")]).is_err());
        assert!(after(Some(Verdict::Satisfied), &[ill("It will not do.")]).is_err());
        assert!(
            after(violated(), &[ill("Asked for 2 times more: It is 1.")]).is_err(),
            "it was not asked again"
        );
        assert_eq!(after(None, &[ill("It could not be found out within 30 s.")]), Ok(()));
        let answered = |end: Record, answer| {
            let Record::RunFinished(end) = end else { return end };
            Record::RunFinished(RunFinished { answer, ..end })
        };
        assert!(after(Some(Verdict::Satisfied), &[answered(well(), None)]).is_err());
        let late = ill("It could not be found out within 30 s.");
        assert!(after(None, &[answered(late, Some(MessageId(11)))]).is_err());
    }

    #[test]
    fn what_was_said_last_is_held_against_the_schema_that_was_asked_for() {
        let check = |schema: &str, answer: &str| {
            let mut oracle = Schemas::new(&Settings::default());
            let said = answered(vec![Block::Text("1".to_owned())]);
            shown(&mut oracle, &[demanding("a"), started(1, "a"), step(1), said], &[])?;
            oracle.see(&Seen::Checks { session: &session(), schema, answer })
        };
        assert_eq!(check("{}", "1"), Ok(()));
        assert!(check("{}", "2").is_err());
        assert!(check("[]", "1").is_err());
    }
}
