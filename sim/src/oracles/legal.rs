//! Every prefix of every log, settled as recovery would and followed by one prompt, is a conversation that providers
//! accept; and so is every request that is made. Prefixes are sampled on the way.

use std::collections::BTreeMap;

use hostler_core::content::{Message, MessageBody, UserMessage};
use hostler_core::history;
use hostler_core::ids::{MessageId, PromptId, SessionId, TurnId};
use hostler_core::model::ModelRef;
use hostler_core::session::{Decisions, Durable, Input, Session, Settings};
use hostler_core::time::Timestamp;

use super::{Oracle, Seen};

/// What the logs amount to so far.
#[derive(Clone, Debug)]
pub(super) struct Legal {
    settings: Settings,
    closely: u64,
    count: u64,
    folds: BTreeMap<SessionId, Durable>,
}

impl Legal {
    pub(super) fn new(settings: &Settings, closely: u64) -> Self {
        Self { settings: settings.clone(), closely, count: 0, folds: BTreeMap::new() }
    }
}

/// What recovery makes of a session, and one more prompt, is a legal conversation.
fn check(settings: &Settings, durable: &Durable, now: Timestamp) -> Result<(), String> {
    let settings = Settings { serving: false, ..settings.clone() };
    let mut session = Session::new(durable.clone(), settings);
    session.decide(now, Input::Opened, &mut Decisions::default());
    let durable = session.durable();
    if !durable.is_idle() {
        return Err(format!("{}: recovery leaves something under way", durable.id));
    }
    let mut messages = durable.messages.clone();
    messages.push(next(durable));
    let model = ModelRef { provider: "any".to_owned(), model: "any".to_owned() };
    history::check(&history::items(&model, &messages)).map_err(|what| format!("{}: {what}", durable.id))
}

fn next(durable: &Durable) -> Message {
    let user = UserMessage {
        turn: TurnId(durable.last_turn.0 + 1),
        prompt: PromptId::new("next"),
        text: "And now?".to_owned(),
        attachments: Vec::new(),
    };
    Message { id: MessageId(durable.last_message.0 + 1), body: MessageBody::User(user) }
}

impl Oracle for Legal {
    fn name(&self) -> &'static str {
        "legal conversation"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                let new = || Durable::new(entry.session.clone());
                let durable = self.folds.entry(entry.session.clone()).or_insert_with(new);
                durable.evolve(entry.at, &entry.record);
                self.count += 1;
                if self.count.is_multiple_of(self.closely) {
                    check(&self.settings, durable, entry.at)?;
                }
                Ok(())
            }
            Seen::Asks { session, attempt, request, .. } => {
                history::check(&request.items).map_err(|what| format!("{session} asks {attempt}: {what}"))
            }
            Seen::Quiet { folds, .. } => {
                folds.values().try_for_each(|durable| check(&self.settings, durable, Timestamp::default()))
            }
            _ => Ok(()),
        }
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // What the logs amount to is in the state of the world, and how many records there were decides nothing.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::model::{Item, ModelRequest};
    use hostler_core::record::Record;

    use super::super::fixture::{
        ATTEMPT, accepted, answered, attempt, call, session, shown, started, step, tool_started,
    };
    use super::*;

    #[test]
    fn every_prefix_of_a_right_log_is_settled_into_a_legal_conversation() {
        let log =
            [accepted(1, "a"), started(1, "a"), step(1), attempt(1), answered(vec![call()]), tool_started()];
        assert_eq!(shown(&mut Legal::new(&Settings::default(), 1), &log, &[]), Ok(()));
    }

    #[test]
    fn a_log_that_recovery_cannot_settle_is_noticed() {
        // The prompt is missing, so the conversation would begin with the model.
        let mut durable = Durable::new(session());
        let log: [Record; 4] = [accepted(1, "a"), started(1, "a"), step(1), answered(vec![call()])];
        log.iter().for_each(|record| durable.evolve(Timestamp::from_millis(1), record));
        durable.messages.remove(0);
        let settings = Settings::default();
        assert!(check(&settings, &durable, Timestamp::from_millis(1)).is_err());
    }

    #[test]
    fn a_request_that_ends_with_the_model_is_noticed() {
        let model = ModelRef { provider: String::new(), model: String::new() };
        let said = Item::Assistant {
            model: model.clone(),
            blocks: vec![hostler_core::content::Block::Text("x".to_owned())],
        };
        let user = Item::User { text: "a".to_owned(), media: Vec::new() };
        let request =
            ModelRequest { model, system: String::new(), tools: Vec::new(), items: vec![user, said] };
        let (session, durable) = (session(), Durable::new(session()));
        let seen = Seen::Asks { session: &session, attempt: ATTEMPT, request: &request, durable: &durable };
        assert!(Legal::new(&Settings::default(), 1).see(&seen).is_err());
    }
}
