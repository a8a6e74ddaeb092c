//! A run is prepared for the model that it asks for, else for the one that its session had last, else for the usual one.

use std::collections::BTreeMap;

use hostler_core::content::MessageBody;
use hostler_core::ids::{PromptId, SessionId};
use hostler_core::model::ModelRef;
use hostler_core::prompt::Terms;
use hostler_core::record::Record;
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Session {
    /// The model that it had last.
    last: Option<String>,
    /// The open prompts: what each names, whether that is only usual, and which model the session had when it came.
    prompts: BTreeMap<PromptId, (Option<String>, bool, Option<String>)>,
}

/// Which model each session had, and what its prompts name.
#[derive(Clone, Debug, Default)]
pub(super) struct Models(BTreeMap<SessionId, Session>);

fn written(model: &ModelRef) -> String {
    format!("{}/{}", model.provider, model.model)
}

impl Session {
    fn record(&mut self, record: &Record) {
        match record {
            Record::Prepared { preparation } => self.last = Some(written(&preparation.model)),
            Record::SessionForked { messages, .. } => {
                self.last = messages.iter().rev().find_map(|message| match &message.body {
                    MessageBody::Assistant(answer) => Some(written(&answer.model)),
                    MessageBody::User(_) | MessageBody::Summary(_) => None,
                });
            }
            Record::PromptAccepted { prompt, .. } => {
                let known = (prompt.terms.model.clone(), prompt.terms.usual_model, self.last.clone());
                self.prompts.insert(prompt.id.clone(), known);
            }
            Record::RunFinished(end) => drop(self.prompts.remove(&end.prompt)),
            _ => {}
        }
    }

    fn prepares(&self, prompt: &PromptId, terms: &Terms) -> Result<(), String> {
        let Some((named, is_usual, before)) = self.prompts.get(prompt) else { return Ok(()) };
        // What is prepared once more after a crash is for what the session has had by then.
        let fits = |last: &Option<String>| {
            let asked = named.as_ref().filter(|_| !is_usual);
            terms.model == asked.or(last.as_ref()).or(named.as_ref()).cloned()
        };
        let said = || {
            let (last, model) = (&self.last, &terms.model);
            format!(
                "{prompt} names {named:?} (usual: {is_usual}), the session had {last:?}, prepared is {model:?}"
            )
        };
        (fits(before) || fits(&self.last)).then_some(()).ok_or_else(said)
    }
}

impl Oracle for Models {
    fn name(&self) -> &'static str {
        "models"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                self.0.entry(entry.session.clone()).or_default().record(&entry.record);
                Ok(())
            }
            Seen::Start {
                effect: Effect::Session(Owned { session, effect: Ask::Prepare { prompt, terms } }),
                ..
            } => {
                let known = self.0.entry(session.clone()).or_default();
                known.prepares(prompt, terms).map_err(|what| format!("{session}: {what}"))
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
    use hostler_core::content::{AssistantMessage, Message};
    use hostler_core::ids::{MessageId, TurnId};
    use hostler_core::model::Preparation;

    use super::super::fixture::{STEP, asks, prompt, shown};
    use super::*;

    fn named(model: &str) -> ModelRef {
        ModelRef { provider: "p".to_owned(), model: model.to_owned() }
    }

    fn had(model: &str) -> Record {
        let preparation = Preparation {
            model: named(model),
            system: String::new(),
            answer_schema: None,
            tools: Vec::new(),
            context_window: None,
            prices: None,
            notices: Vec::new(),
            small: None,
            renewable: false,
        };
        Record::Prepared { preparation }
    }

    fn comes(model: Option<&str>, usual_model: bool) -> Record {
        let mut prompt = prompt("a");
        (prompt.terms.model, prompt.terms.usual_model) = (model.map(str::to_owned), usual_model);
        Record::PromptAccepted { sequence: 1, prompt }
    }

    /// Whether it is right to prepare the prompt for that model.
    fn prepares(log: &[Record], model: Option<&str>) -> Result<(), String> {
        let terms = Terms { model: model.map(str::to_owned), ..Terms::headless() };
        shown(&mut Models::default(), log, &[asks(Ask::Prepare { prompt: PromptId::new("a"), terms })])
    }

    #[test]
    fn what_is_asked_for_comes_first_and_what_is_usual_last() {
        for (log, right) in [
            (vec![comes(None, true)], None),
            (vec![comes(Some("p/usual"), true)], Some("p/usual")),
            (vec![had("last"), comes(Some("p/usual"), true)], Some("p/last")),
            (vec![had("last"), comes(Some("p/asked"), false)], Some("p/asked")),
            (vec![had("before"), had("last"), comes(None, false)], Some("p/last")),
        ] {
            assert_eq!(prepares(&log, right), Ok(()), "{log:?}");
            assert!(prepares(&log, Some("p/another")).is_err(), "{log:?}");
        }
    }

    #[test]
    fn in_a_copy_of_a_session_it_is_who_answered_there_last() {
        let answer = AssistantMessage { step: STEP, model: named("there"), blocks: Vec::new(), finish: None };
        let forked = Record::SessionForked {
            from: SessionId::new("other"),
            titled_by: None,
            messages: vec![Message { id: MessageId(1), body: MessageBody::Assistant(answer) }],
            turn: TurnId(1),
            todos: Vec::new(),
        };
        let log = [forked, comes(Some("p/usual"), true)];
        assert_eq!(prepares(&log, Some("p/there")), Ok(()));
        assert!(prepares(&log, Some("p/usual")).is_err());
    }
}
