//! A session that goes on from what another one has come to. It takes a copy, so that nothing that becomes of the other one
//! concerns it, and nothing that was permitted there is permitted here.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Decisions, Durable, Effect, Session};
use crate::content::{Message, MessageBody};
use crate::ids::{RequestId, SessionId, TurnId};
use crate::protocol::Reply;
use crate::record::{Record, TitleSource};
use crate::time::Timestamp;
use crate::todos::Todo;

/// What a session takes over from another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seed {
    from: SessionId,
    title: String,
    titled_by: Option<TitleSource>,
    messages: Vec<Message>,
    turn: TurnId,
    todos: Vec<Todo>,
}

impl Seed {
    /// What there is to take over from that session: all but the turn that is under way, whose end nobody knows.
    pub fn of(from: &Durable) -> Self {
        let under_way = from.turn.as_ref().map(|turn| turn.id);
        let settled = |message: &&Message| match &message.body {
            MessageBody::User(user) => Some(user.turn) != under_way,
            MessageBody::Assistant(answer) => Some(answer.step.turn) != under_way,
            MessageBody::Summary(_) => true,
        };
        Self {
            from: from.id.clone(),
            title: from.title.clone(),
            titled_by: from.titled_by,
            messages: from.messages.iter().take_while(settled).cloned().collect(),
            turn: from.last_turn,
            todos: from.todos.clone(),
        }
    }
}

impl Session {
    /// Begins the session with what it takes over.
    pub(super) fn fork(&mut self, now: Timestamp, to: RequestId, seed: Seed, out: &mut Decisions) {
        let Seed { from, title, titled_by, messages, turn, todos } = seed;
        self.record(now, Record::SessionCreated { title, parent: None }, out);
        self.record(now, Record::SessionForked { from, titled_by, messages, turn, todos }, out);
        let session = self.durable.id.clone();
        out.effects.push(Effect::Reply { to, reply: Box::new(Reply::Forked { session }) });
    }
}
