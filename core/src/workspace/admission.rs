//! How a prompt or an errand gets to its session: at once if that is open, otherwise once its lock is had and its log read.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::opening::{Errand, Opening};
use super::{
    BEING_DELETED, Effect, Opened, RunOwner, Slot, TakenRun, Workspace, already, no_session, refuse, used,
};
use crate::ids::{EffectId, RequestId, SessionId};
use crate::machine::Effects;
use crate::prompt::Prompt;
use crate::protocol::{Holder, RefusalKind, SessionChoice};
use crate::session::{self, Durable, Session};
use crate::time::Timestamp;

impl Workspace {
    /// Why a prompt cannot have the run id that it asks for, if another prompt's run has it. A prompt that was submitted
    /// before may have it again: its session recognises it.
    pub(super) fn run_conflict(
        &self,
        choice: &SessionChoice,
        prompt: &Prompt,
        taken: Option<&RunOwner>,
    ) -> Option<String> {
        let run = prompt.run.as_ref()?;
        let logged = taken.is_some_and(|taken| taken.session != *choice.id() || taken.prompt != prompt.id);
        let elsewhere = |session: &Session| session.durable().id != *choice.id() && session.has_run(run);
        let waiting = |(session, slot): (&SessionId, &Slot)| match slot {
            Slot::Opening(opening) => opening.has_run(run, (session == choice.id()).then_some(&prompt.id)),
            Slot::Open(_) | Slot::Deleting(_) => false,
        };
        let conflict = logged || self.open_sessions().any(elsewhere) || self.sessions.iter().any(waiting);
        conflict.then(|| used(run))
    }

    pub(super) fn submit(
        &mut self,
        now: Timestamp,
        to: RequestId,
        choice: SessionChoice,
        prompt: Box<Prompt>,
        out: &mut Effects<Effect>,
    ) {
        let session = choice.id().clone();
        if session.is_child() {
            let text = "This is a sub-agent's session; continue the session that it belongs to.";
            return refuse(to, RefusalKind::Invalid, text, out);
        }
        match self.sessions.get_mut(&session) {
            Some(Slot::Open(_)) => self.feed(now, &session, session::Input::Submit { to, prompt }, out),
            Some(Slot::Opening(opening)) => opening.add(to, choice, prompt, out),
            Some(Slot::Deleting(_)) => refuse(to, RefusalKind::Conflict, BEING_DELETED, out),
            None => {
                let mut opening = Opening::default();
                opening.add(to, choice, prompt, out);
                self.sessions.insert(session.clone(), Slot::Opening(opening));
                out.push(Effect::OpenSession { session });
            }
        }
    }

    pub(super) fn held(&mut self, session: &SessionId, holder: &Holder, out: &mut Effects<Effect>) {
        if let Some(Slot::Opening(opening)) = self.sessions.get_mut(session) {
            opening.held(session, holder, out);
            self.forget_if_empty(session, out);
        }
    }

    pub(super) fn opened(
        &mut self,
        now: Timestamp,
        session: SessionId,
        (opened, children, taken): (Opened, Vec<Durable>, Vec<TakenRun>),
        out: &mut Effects<Effect>,
    ) {
        let Some(opening) = self.end_opening(&session) else { return self.unwanted(session, &opened, out) };
        // A lock that comes late, after it was not wanted and then asked for anew, is not asked for once more.
        out.cancel(&EffectId::Open(session.clone()));
        match opened {
            Opened::Failed(why) => opening.refuse(RefusalKind::Storage, &why, out),
            Opened::Ready(durable) => {
                let exists = durable.as_ref().is_some_and(|durable| durable.created);
                let durable = durable.map_or_else(|| Durable::new(session.clone()), |durable| *durable);
                self.insert(durable);
                for child in children {
                    self.recover_child(now, child, out);
                }
                self.feed(now, &session, session::Input::Opened, out);
                self.admit(now, &session, (opening, taken), exists, out);
            }
        }
    }

    fn end_opening(&mut self, session: &SessionId) -> Option<Opening> {
        let slot = self.sessions.remove(session)?;
        match slot {
            Slot::Opening(opening) => Some(opening),
            other @ (Slot::Open(_) | Slot::Deleting(_)) => {
                self.sessions.insert(session.clone(), other);
                None
            }
        }
    }

    /// A lock that comes when nobody waits for it any more is given back.
    fn unwanted(&self, session: SessionId, opened: &Opened, out: &mut Effects<Effect>) {
        if matches!(opened, Opened::Ready(_)) && !self.sessions.contains_key(&session) {
            out.push(Effect::CloseSession { session });
        }
    }

    /// Hands over what was asked for while the session was being opened, in order.
    fn admit(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        (opening, taken): (Opening, Vec<TakenRun>),
        mut exists: bool,
        out: &mut Effects<Effect>,
    ) {
        let (waiting, errands) = opening.into_parts();
        let mut delete = Vec::new();
        for (to, errand) in errands {
            let input = match errand {
                Errand::Rename(title) if exists => session::Input::Rename { to, title },
                Errand::Fork(seed) if !exists => {
                    exists = true;
                    session::Input::Fork { to, seed }
                }
                Errand::Fork(_) => {
                    refuse(to, RefusalKind::Conflict, already(session), out);
                    continue;
                }
                Errand::Delete if exists => {
                    delete.push(to);
                    continue;
                }
                Errand::Rename(_) | Errand::Delete => {
                    refuse(to, RefusalKind::NotFound, no_session(session), out);
                    continue;
                }
            };
            self.with(session, |open, decisions| open.decide(now, input, decisions), now, out);
        }
        for waiting in waiting {
            if !exists && matches!(waiting.choice, SessionChoice::Existing { .. }) {
                refuse(waiting.to, RefusalKind::NotFound, no_session(session), out);
                continue;
            }
            let is_other = |taken: &&TakenRun| {
                Some(&taken.run) == waiting.prompt.run.as_ref()
                    && (taken.session != *session || taken.prompt != waiting.prompt.id)
            };
            if let Some(taken) = taken.iter().find(is_other) {
                refuse(waiting.to, RefusalKind::Conflict, used(&taken.run), out);
                continue;
            }
            exists = true;
            self.submit_to(now, session, waiting.to, waiting.prompt, out);
        }
        self.delete_idle(session, delete, out);
        self.let_go(session, out);
    }

    fn submit_to(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        to: RequestId,
        prompt: Box<Prompt>,
        out: &mut Effects<Effect>,
    ) {
        let input = session::Input::Submit { to, prompt };
        self.with(session, |open, decisions| open.decide(now, input, decisions), now, out);
    }

    pub(super) fn forget_if_empty(&mut self, session: &SessionId, out: &mut Effects<Effect>) {
        if matches!(self.sessions.get(session), Some(Slot::Opening(opening)) if opening.is_empty()) {
            self.sessions.remove(session);
            if !out.cancel(&EffectId::Open(session.clone())) {
                out.push(Effect::CancelOpen { session: session.clone() });
            }
        }
    }
}
