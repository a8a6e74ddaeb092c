//! What was said stays said: every request contains the text of every prompt that became a message, in order, unless a
//! summary stands for it or is what is asked for.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::{Item, ModelRequest};
use hostler_core::record::Record;
use hostler_core::session::{Durable, Purpose};

use super::{Oracle, Seen};

/// Knows what was said in each session, from the records alone: what the machines remember of it is what is judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded {
    accepted: BTreeMap<PromptId, String>,
    said: BTreeMap<SessionId, Vec<(PromptId, String)>>,
}

impl Folded {
    fn log(&mut self, entry: &Entry) {
        let said = self.said.entry(entry.session.clone()).or_default();
        match &entry.record {
            Record::PromptAccepted { prompt, .. } => {
                self.accepted.insert(prompt.id.clone(), prompt.text.trim().to_owned());
            }
            Record::TurnStarted { prompt, .. } | Record::PromptFolded { prompt, .. } => {
                let text = self.accepted.get(prompt).cloned().unwrap_or_default();
                said.push((prompt.clone(), text));
            }
            Record::SummaryFinished { .. } => said.clear(),
            Record::TurnContinued { prompt, text, .. } | Record::AnswerRefused { prompt, text, .. } => {
                said.push((prompt.clone(), text.trim().to_owned()))
            }
            _ => {}
        }
    }

    fn check(&self, session: &SessionId, request: &ModelRequest, durable: &Durable) -> Result<(), String> {
        if durable.turn.as_ref().is_some_and(|turn| turn.purpose != Purpose::Work) {
            return Ok(());
        }
        let mut shown = request.items.iter().filter_map(|item| match item {
            Item::User { text, .. } => Some(text.as_str()),
            Item::Assistant { .. } | Item::Results(_) => None,
        });
        let mut rest = shown.next().unwrap_or_default();
        for (prompt, text) in self.said.get(session).into_iter().flatten() {
            rest = loop {
                match rest.find(text) {
                    Some(at) => break &rest[at + text.len()..],
                    None => match shown.next() {
                        Some(next) => rest = next,
                        None => return Err(format!("{session}: the request has lost {prompt}")),
                    },
                }
            };
        }
        Ok(())
    }
}

impl Oracle for Folded {
    fn name(&self) -> &'static str {
        "prompts stay"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.log(entry),
            Seen::Asks { session, request, durable, .. } => self.check(session, request, durable)?,
            _ => {}
        }
        Ok(())
    }

    fn forget(&mut self, session: &SessionId) {
        for (_, said) in self.said.extract_if(.., |id, _| id.root() == *session) {
            said.iter().for_each(|(prompt, _)| drop(self.accepted.remove(prompt)));
        }
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::model::ModelRef;
    use hostler_core::time::Timestamp;

    use super::super::fixture::{accepted, joined, queued, session, started, step};
    use super::*;

    fn after(said: &[&str]) -> Result<(), String> {
        let mut oracle = Folded::default();
        let log = [accepted(1, "a"), started(1, "a"), accepted(2, "b"), queued("b"), joined("b", 1), step(1)];
        for record in log {
            oracle.log(&Entry { session: session(), at: Timestamp::from_millis(1), record });
        }
        let user = |text: &&str| Item::User { text: (*text).to_owned(), media: Vec::new() };
        let model = ModelRef { provider: String::new(), model: String::new() };
        let items = said.iter().map(user).collect();
        let request = ModelRequest { model, system: String::new(), tools: Vec::new(), items };
        oracle.check(&session(), &request, &Durable::new(session()))
    }

    #[test]
    fn a_prompt_that_is_gone_or_in_the_wrong_place_is_noticed() {
        assert_eq!(after(&["Do a.\n\nDo b."]), Ok(()));
        assert_eq!(after(&["Do a.", "Do b."]), Ok(()));
        assert!(after(&["Do a."]).is_err());
        assert!(after(&["Do b.", "Do a."]).is_err());
    }
}
