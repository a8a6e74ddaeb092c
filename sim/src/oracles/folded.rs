//! What was said stays said: every request contains the text of every prompt that became a message, in order, unless a
//! summary stands for it or is what is asked for.

use hostler_core::content::MessageBody;
use hostler_core::model::{Item, ModelRequest};
use hostler_core::session::{Durable, Purpose};

use super::{Oracle, Seen};

/// Knows nothing.
#[derive(Clone, Debug)]
pub(super) struct Folded;

fn check(request: &ModelRequest, durable: &Durable) -> Result<(), String> {
    if durable.turn.as_ref().is_some_and(|turn| turn.purpose != Purpose::Work) {
        return Ok(());
    }
    let prompts = durable.messages.iter().filter_map(|message| match &message.body {
        MessageBody::User(user) => Some(user),
        MessageBody::Assistant(_) | MessageBody::Summary(_) => None,
    });
    let mut said = request.items.iter().filter_map(|item| match item {
        Item::User { text, .. } => Some(text.as_str()),
        Item::Assistant { .. } | Item::Results(_) => None,
    });
    let mut rest = said.next().unwrap_or_default();
    for prompt in prompts {
        let text = prompt.text.trim();
        rest = loop {
            match rest.find(text) {
                Some(at) => break &rest[at + text.len()..],
                None => match said.next() {
                    Some(next) => rest = next,
                    None => return Err(format!("{}: the request has lost {}", durable.id, prompt.prompt)),
                },
            }
        };
    }
    Ok(())
}

impl Oracle for Folded {
    fn name(&self) -> &'static str {
        "prompts stay"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Asks { request, durable, .. } => check(request, durable),
            _ => Ok(()),
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
        let mut durable = Durable::new(session());
        let log = [accepted(1, "a"), started(1, "a"), accepted(2, "b"), queued("b"), joined("b", 1), step(1)];
        log.iter().for_each(|record| durable.evolve(Timestamp::from_millis(1), record));
        let user = |text: &&str| Item::User { text: (*text).to_owned(), media: Vec::new() };
        let model = ModelRef { provider: String::new(), model: String::new() };
        let items = said.iter().map(user).collect();
        check(&ModelRequest { model, system: String::new(), tools: Vec::new(), items }, &durable)
    }

    #[test]
    fn a_prompt_that_is_gone_or_in_the_wrong_place_is_noticed() {
        assert_eq!(after(&["Do a.\n\nDo b."]), Ok(()));
        assert_eq!(after(&["Do a.", "Do b."]), Ok(()));
        assert!(after(&["Do a."]).is_err());
        assert!(after(&["Do b.", "Do a."]).is_err());
    }
}
