//! What is done with a session beside running prompts in it: naming it, forking it and forgetting it. Nobody waits for another
//! process for that.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::opening::{Errand, Opening};
use super::{BEING_DELETED, Effect, Slot, Workspace, already, no_session, refuse, reply};
use crate::ids::{RequestId, SessionId};
use crate::machine::Effects;
use crate::protocol::{RefusalKind, Reply};
use crate::session::{self, Durable, Seed, Session};
use crate::time::Timestamp;

const AT_WORK: &str = "Something is under way in the session; delete it when that is done.";

impl Workspace {
    /// A session that is not open is opened for it. It waits for nobody: another process may be at work for long.
    pub(super) fn rename(
        &mut self,
        now: Timestamp,
        to: RequestId,
        session: SessionId,
        title: String,
        out: &mut Effects<Effect>,
    ) {
        match self.sessions.get_mut(&session) {
            Some(Slot::Open(_)) => self.feed(now, &session, session::Input::Rename { to, title }, out),
            Some(Slot::Opening(_)) | Some(Slot::Deleting(_)) | None => {
                self.errand(to, session, Errand::Rename(title), out);
            }
        }
    }

    /// Does an errand as soon as the session is open; it is not open yet.
    pub(super) fn errand(
        &mut self,
        to: RequestId,
        session: SessionId,
        errand: Errand,
        out: &mut Effects<Effect>,
    ) {
        match self.sessions.get_mut(&session) {
            Some(Slot::Opening(opening)) => opening.add_errand(to, errand, out),
            Some(Slot::Open(_) | Slot::Deleting(_)) => refuse(to, RefusalKind::Conflict, BEING_DELETED, out),
            None => {
                let mut opening = Opening::default();
                opening.add_errand(to, errand, out);
                self.sessions.insert(session.clone(), Slot::Opening(opening));
                out.push(Effect::OpenSession { session });
            }
        }
    }

    /// Makes a session from what the log of another one amounts to.
    pub(super) fn fork(
        &mut self,
        to: RequestId,
        from: &SessionId,
        session: SessionId,
        source: Option<Box<Durable>>,
        out: &mut Effects<Effect>,
    ) {
        if from.is_child() || session.is_child() {
            let text = "This is a sub-agent's session; fork the session that it belongs to.";
            return refuse(to, RefusalKind::Invalid, text, out);
        }
        let Some(source) = source.filter(|source| source.created) else {
            return refuse(to, RefusalKind::NotFound, no_session(from), out);
        };
        match self.sessions.get(&session) {
            Some(Slot::Open(_)) => refuse(to, RefusalKind::Conflict, already(&session), out),
            Some(Slot::Opening(_) | Slot::Deleting(_)) | None => {
                self.errand(to, session, Errand::Fork(Box::new(Seed::of(&source))), out);
            }
        }
    }

    /// Forgets a session in which nothing is under way, here or elsewhere.
    pub(super) fn delete(&mut self, to: RequestId, session: SessionId, out: &mut Effects<Effect>) {
        if session.is_child() {
            let text = "This is a sub-agent's session; delete the session that it belongs to.";
            return refuse(to, RefusalKind::Invalid, text, out);
        }
        match self.sessions.get_mut(&session) {
            Some(Slot::Open(_)) => refuse(to, RefusalKind::Conflict, AT_WORK, out),
            Some(Slot::Deleting(wanted)) => wanted.push(to),
            Some(Slot::Opening(_)) | None => self.errand(to, session, Errand::Delete, out),
        }
    }

    /// Forgets a session that was opened for that, unless something has begun in it.
    pub(super) fn delete_idle(
        &mut self,
        session: &SessionId,
        wanted: Vec<RequestId>,
        out: &mut Effects<Effect>,
    ) {
        if wanted.is_empty() {
            return;
        }
        if !self.open(session).is_some_and(Session::is_idle) {
            return wanted.into_iter().for_each(|to| refuse(to, RefusalKind::Conflict, AT_WORK, out));
        }
        self.sessions.insert(session.clone(), Slot::Deleting(wanted));
        out.push(Effect::DeleteSession { session: session.clone() });
    }

    /// The log has forgotten a session, or could not.
    pub(super) fn deleted(&mut self, session: SessionId, error: Option<String>, out: &mut Effects<Effect>) {
        match self.sessions.remove(&session) {
            Some(Slot::Deleting(wanted)) => {
                for to in wanted {
                    match &error {
                        None => out.push(reply(to, Reply::Deleted)),
                        Some(why) => refuse(to, RefusalKind::Storage, why.as_str(), out),
                    }
                }
                out.push(Effect::CloseSession { session });
            }
            Some(other) => drop(self.sessions.insert(session, other)),
            None => {}
        }
    }
}
