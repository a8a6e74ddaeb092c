//! A session's requests only ever grow at their end, so that what a provider has cached of one serves the next.

use std::collections::BTreeMap;

use hostler_core::ids::{MessageId, SessionId};
use hostler_core::model::{Item, ModelRequest, Preparation};
use hostler_core::session::Durable;

/// The last request of each session.
#[derive(Default)]
pub(crate) struct Growth(BTreeMap<SessionId, Last>);

struct Last {
    inputs: Inputs,
    items: Vec<Item>,
}

/// What else a request is made from: if that changes, so does the request.
#[derive(PartialEq)]
struct Inputs {
    preparation: Option<Preparation>,
    unsealed: MessageId,
    /// With what the conversation begins: another one after a summary.
    first: Option<MessageId>,
}

impl Growth {
    /// A model is asked.
    pub(crate) fn asked(&mut self, session: &SessionId, durable: &Durable, request: &ModelRequest) {
        let inputs = Inputs {
            preparation: durable.preparation.clone(),
            unsealed: durable.unsealed,
            first: durable.messages.first().map(|message| message.id),
        };
        let items = request.items.clone();
        if let Some(last) = self.0.get(session).filter(|last| last.inputs == inputs) {
            let begins = items.starts_with(&last.items);
            assert!(begins, "a request does not begin with the one before: {:?} {items:?}", last.items);
        }
        self.0.insert(session.clone(), Last { inputs, items });
    }
}
