//! Sessions and their sub-agents, as the reference sees them: what one has for the other is told at once.

use std::collections::BTreeSet;

use hostler_core::ids::{CallId, PromptId, SessionId};
use hostler_core::prompt::{Prompt, Terms};
use hostler_core::record::Reason;
use hostler_core::time::Timestamp;

use super::{Fate, Place, Reference, Story};

/// A call, and whose it is: a session without a parent, or the sub-agent that one of its calls has opened. Messages have
/// no numbers here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The sub-agent, if it is one's call.
    pub agent: Option<CallId>,
    /// The call.
    pub call: CallId,
}

impl Name {
    /// The name of a session's call.
    pub(super) fn of(session: &SessionId, call: CallId) -> Self {
        let agent = session.as_str().split_once("$$").and_then(|(_, call)| call.parse().ok());
        Self { agent, call }
    }
}

/// What a session has for another.
#[derive(Clone, Debug)]
pub(super) enum Word {
    /// A call opens a sub-agent, and whether a key that is refused can be found out anew.
    Open(CallId, Box<Terms>, bool),
    /// A call's sub-agent is to stop, and whether because time is up.
    Stop(CallId, bool),
    /// This sub-agent has ended.
    Ended,
    /// A call of this sub-agent needs that.
    Needs(CallId, BTreeSet<String>),
    /// What was decided about the call of a sub-agent, and whether that ends its turn.
    Decided(CallId, CallId, bool, bool),
    /// A call of this sub-agent needs nothing any more.
    Withdraws(CallId),
}

/// The session of the sub-agent that a call has opened.
pub(super) fn child(root: &SessionId, call: CallId) -> SessionId {
    SessionId::new(format!("{root}$${call}"))
}

/// A session without the number of the message that opened it.
pub(super) fn plain(session: &SessionId) -> SessionId {
    match session.as_str().split_once("$$").and_then(|(_, call)| call.parse().ok()) {
        Some(call) => child(&session.root(), call),
        None => session.clone(),
    }
}

/// A prompt without the number of the message that opened its session, if it is a sub-agent's.
pub(super) fn plain_prompt(prompt: &PromptId) -> PromptId {
    PromptId::new(plain(&SessionId::new(prompt.as_str())).as_str())
}

/// The session that opened this one, and the call that did.
fn parent(session: &SessionId) -> Option<(SessionId, CallId)> {
    let (root, call) = session.as_str().split_once("$$")?;
    Some((SessionId::new(root), call.parse().ok()?))
}

impl Reference {
    /// Tells what a session has for others, and what those have for others then.
    pub(super) fn carry(&mut self, process: usize, now: Timestamp, session: &SessionId) {
        let Some(Place::Open(story)) = self.places.get_mut(&(process, session.clone())) else { return };
        for word in std::mem::take(&mut story.words) {
            self.carry_one(process, now, session, word);
        }
    }

    fn carry_one(&mut self, process: usize, now: Timestamp, session: &SessionId, word: Word) {
        match word {
            Word::Open(call, terms, renews) => {
                self.open_child(process, now, &child(session, call), *terms, renews);
            }
            Word::Stop(call, late) => {
                let reason = if late { Reason::Timeout } else { Reason::User };
                self.tell_one(process, now, &child(session, call), |story, fates| {
                    story.cancel(now, None, reason, fates);
                });
            }
            Word::Decided(agent, call, allowed, ends) => {
                self.tell_one(process, now, &child(session, agent), |story, fates| {
                    story.hear_decision(now, call, allowed, ends, fates);
                });
            }
            Word::Ended | Word::Needs(..) | Word::Withdraws(_) => {
                self.tell_parent(process, now, session, word)
            }
        }
    }

    fn tell_parent(&mut self, process: usize, now: Timestamp, session: &SessionId, word: Word) {
        let Some((root, agent)) = parent(session) else { return };
        self.tell_one(process, now, &root, |story, fates| match word {
            Word::Ended => story.agent_ended(now, agent, fates),
            Word::Needs(call, needs) => {
                story.put(now, Name { agent: Some(agent), call }, needs, fates);
            }
            Word::Withdraws(call) => story.withdraw(|name| *name == Name { agent: Some(agent), call }, fates),
            Word::Open(..) | Word::Stop(..) | Word::Decided(..) => {}
        });
    }

    fn open_child(
        &mut self,
        process: usize,
        now: Timestamp,
        session: &SessionId,
        terms: Terms,
        renews: bool,
    ) {
        let id = PromptId::new(session.as_str());
        let client = hostler_core::ids::ClientId::new("agent");
        let prompt = Prompt { id, run: None, client, text: "x".to_owned(), attachments: Vec::new(), terms };
        let mut story = Story::new(super::past::Past::default(), self.settings.clone());
        (story.is_agent, story.renews) = (true, renews);
        self.places.insert((process, session.clone()), Place::Open(Box::new(story)));
        self.tell_one(process, now, session, |story, fates| {
            fates.push(Fate::Accepted(prompt.id.clone()));
            story.begin_task(now, prompt, fates);
        });
    }
}
