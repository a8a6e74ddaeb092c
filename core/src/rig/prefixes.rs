//! Wherever a log is cut, somebody can go on from it: whatever was open ends exactly once, and the conversation with
//! one more prompt is one that every provider accepts.

use hostler_core::content::{Message, MessageBody, UserMessage};
use hostler_core::history;
use hostler_core::ids::{MessageId, PromptId, TurnId};
use hostler_core::model::{Item, ModelRequest};
use hostler_core::provider::wire::Protocol;
use hostler_core::record::Record;
use hostler_core::session::{Decisions, Durable, Effect, Input, Session, Settings};
use hostler_core::time::Timestamp;

use super::words;

/// The conversation that was looked at last, so that the same one is not looked at again.
#[derive(Default)]
pub(crate) struct Seen(Vec<Item>);

/// Recovers from what a log amounts to and goes on with one more prompt.
pub(crate) fn check(durable: &Durable, now: Timestamp, seen: &mut Seen) {
    let mut session = Session::new(durable.clone(), Settings::default());
    let decisions = opened(&mut session, now);
    let mut open: Vec<_> = durable.open.values().map(|open| open.prompt.id.clone()).collect();
    let mut ends = ends(&decisions);
    open.sort();
    ends.sort();
    assert_eq!(ends, open, "what was open ends exactly once");
    assert!(session.is_idle(), "a session that was recovered is idle");
    can_go_on(session.durable(), seen);
}

/// Recovers as a server does: what was begun ends, and what was not and is young is prepared anew.
pub(crate) fn check_serving(durable: &Durable, now: Timestamp, seen: &mut Seen) {
    let settings = Settings { serving: true, ..Settings::default() };
    let mut session = Session::new(durable.clone(), settings);
    let decisions = opened(&mut session, now);
    let again = decisions.effects.iter().filter_map(|effect| match effect {
        Effect::Prepare { prompt, .. } => Some(prompt.clone()),
        _ => None,
    });
    let again: Vec<_> = again.collect();
    let left: Vec<_> = session.durable().open.values().map(|open| open.prompt.id.clone()).collect();
    assert_eq!(again, left, "what is left open is prepared again, in order");
    assert_eq!(ends(&decisions).len() + left.len(), durable.open.len(), "a prompt is lost or doubled");
    can_go_on(session.durable(), seen);
}

fn opened(session: &mut Session, now: Timestamp) -> Decisions {
    let mut decisions = Decisions::default();
    session.decide(now, Input::Opened, &mut decisions);
    decisions
}

fn ends(decisions: &Decisions) -> Vec<PromptId> {
    let ends = decisions.records.iter().filter_map(|entry| match &entry.record {
        Record::RunFinished(finished) => Some(finished.prompt.clone()),
        _ => None,
    });
    ends.collect()
}

/// One more prompt makes a conversation that is as it should be, and that every provider takes.
fn can_go_on(durable: &Durable, seen: &mut Seen) {
    let user = UserMessage {
        turn: TurnId(durable.last_turn.0 + 1),
        prompt: PromptId::new("next"),
        text: "go on".into(),
        attachments: Vec::new(),
    };
    let next = Message { id: MessageId(durable.last_message.0 + 1), body: MessageBody::User(user) };
    let messages: Vec<_> = durable.messages.iter().cloned().chain([next]).collect();
    let request = history::request(&words::preparation(), &messages, durable.unsealed);
    assert_eq!(history::check(&request.items), Ok(()), "{messages:?}");
    if seen.0 != request.items {
        everybody_takes(&request);
        seen.0 = request.items;
    }
}

/// What is posted keeps the rules of every provider.
pub(crate) fn everybody_takes(request: &ModelRequest) {
    for protocol in Protocol::ALL {
        let body = protocol.post("", None, request).body;
        assert_eq!(protocol.check(&body), Ok(()), "{protocol:?} {body}");
    }
}
