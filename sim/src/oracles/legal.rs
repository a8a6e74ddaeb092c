//! Every prefix of every log, settled as recovery would and followed by one prompt, is a conversation that providers
//! accept in all their dialects; and so is every request that is made. Both are sampled on the way.

use std::collections::BTreeMap;

use hostler_core::content::{Message, MessageBody, UserMessage};
use hostler_core::history;
use hostler_core::ids::{MessageId, PromptId, SessionId, TurnId};
use hostler_core::model::{ModelRef, ModelRequest};
use hostler_core::session::{Decisions, Durable, Input, Session, Settings};
use hostler_core::time::Timestamp;

use super::{Oracle, Seen, dialects};

/// What the logs amount to so far.
#[derive(Clone, Debug)]
pub(super) struct Legal {
    settings: Settings,
    closely: u64,
    count: u64,
    asked: u64,
    folds: BTreeMap<SessionId, Durable>,
}

/// In every how-manieth of the close looks the dialects are tried too, which costs more than all else.
const RARELY: u64 = 16;

impl Legal {
    pub(super) fn new(settings: &Settings, closely: u64) -> Self {
        Self { settings: settings.clone(), closely, count: 0, asked: 0, folds: BTreeMap::new() }
    }

    fn all(&self) -> Result<(), String> {
        if self.closely == 0 {
            return Ok(());
        }
        self.folds.values().try_for_each(|durable| check(&self.settings, durable, Timestamp::default(), true))
    }
}

/// What recovery makes of a session, and one more prompt, is a legal conversation.
fn check(settings: &Settings, durable: &Durable, now: Timestamp, in_dialects: bool) -> Result<(), String> {
    let settings = Settings { serving: false, ..settings.clone() };
    let mut session = Session::new(durable.clone(), settings);
    session.decide(now, Input::Opened, &mut Decisions::default());
    let durable = session.durable();
    if !durable.is_idle() {
        return Err(format!("{}: recovery leaves something under way", durable.id));
    }
    let mut messages = durable.messages.clone();
    messages.push(next(durable));
    let model = ModelRef { provider: "sim".to_owned(), model: "one".to_owned() };
    let items = history::items(&model, &messages);
    let wrong = |what: String| format!("{}: {what}", durable.id);
    history::check(&items).map_err(|what| wrong(what.to_string()))?;
    if !in_dialects {
        return Ok(());
    }
    let request = ModelRequest { model, system: "Be brief.".to_owned(), tools: Vec::new(), items };
    dialects::check(&request).map_err(wrong)
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
                    let in_dialects = self.count.is_multiple_of(self.closely * RARELY);
                    check(&self.settings, durable, entry.at, in_dialects)?;
                }
                Ok(())
            }
            Seen::Asks { session, attempt, request, .. } => {
                let wrong = |what| format!("{session} asks {attempt}: {what}");
                history::check(&request.items).map_err(|what| wrong(what.to_string()))?;
                self.asked += 1;
                let closely = self.asked.is_multiple_of(self.closely);
                if closely { dialects::check(request).map_err(wrong) } else { Ok(()) }
            }
            // Where a process ends, and in the end, all of it is looked at.
            Seen::Gone { .. } => self.all(),
            Seen::Quiet { .. } => self.all(),
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.folds.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // What the logs amount to is in the state of the world, and how many records there were decides only
        // how closely the next is looked at.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::model::Item;
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
        assert!(check(&settings, &durable, Timestamp::from_millis(1), false).is_err());
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
