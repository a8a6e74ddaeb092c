//! A session whose lock is being asked for, and the prompts that wait for that. None of them is accepted yet.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Effect, refuse};
use crate::ids::{PromptId, RequestId, RunId, SessionId};
use crate::machine::Effects;
use crate::prompt::Prompt;
use crate::protocol::{Holder, Notice, RefusalKind, Reply, SessionChoice};
use crate::record::CancelScope;
use crate::session::Seed;

/// What waits for a session's lock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Opening {
    waiting: Vec<Waiting>,
    /// Who wants what done that is no prompt.
    #[serde(default)]
    errands: Vec<(RequestId, Errand)>,
    holder: Option<Holder>,
}

/// Something that is done with a session as soon as it is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Errand {
    /// It is called so.
    Rename(String),
    /// It is made from another one.
    Fork(Box<Seed>),
    /// It is forgotten.
    Delete,
}

/// A prompt that is not yet accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) to: RequestId,
    pub(super) choice: SessionChoice,
    pub(super) prompt: Box<Prompt>,
}

impl Opening {
    pub(super) fn add(
        &mut self,
        to: RequestId,
        choice: SessionChoice,
        prompt: Box<Prompt>,
        out: &mut Effects<Effect>,
    ) {
        if let Some(holder) = &self.holder {
            out.push(busy(choice.id(), &prompt, holder));
        }
        self.waiting.push(Waiting { to, choice, prompt });
    }

    /// An errand waits for the session's lock, but not for another process to give it back.
    pub(super) fn add_errand(&mut self, to: RequestId, errand: Errand, out: &mut Effects<Effect>) {
        match &self.holder {
            Some(holder) => refuse(to, RefusalKind::Conflict, taken(holder), out),
            None => self.errands.push((to, errand)),
        }
    }

    /// Tells those who wait who has the session.
    pub(super) fn held(&mut self, session: &SessionId, holder: &Holder, out: &mut Effects<Effect>) {
        for waiting in &self.waiting {
            out.push(busy(session, &waiting.prompt, holder));
        }
        for (to, _) in self.errands.drain(..) {
            refuse(to, RefusalKind::Conflict, taken(holder), out);
        }
        self.holder = Some(holder.clone());
    }

    /// Gives back the prompts that the scope covers, which is all there is to stopping what has not begun.
    pub(super) fn cancel(&mut self, by: RequestId, scope: &CancelScope, out: &mut Effects<Effect>) {
        let covered = |waiting: &Waiting| match scope {
            CancelScope::Session => true,
            CancelScope::Run(run) => waiting.prompt.run_id() == *run,
        };
        let (stopped, kept): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(covered);
        self.waiting = kept;
        let runs = stopped.iter().map(|waiting| waiting.prompt.run_id()).collect();
        for waiting in stopped {
            let text = "The prompt was cancelled while it waited for its session; nothing was done.";
            refuse(waiting.to, RefusalKind::Cancelled, text, out);
        }
        out.push(super::reply(by, Reply::Cancelled { runs }));
    }

    /// Whether a prompt with that run waits here, other than the one that is left out.
    pub(super) fn has_run(&self, run: &RunId, but: Option<&PromptId>) -> bool {
        let counts = |prompt: &Prompt| prompt.run_id() == *run && but != Some(&prompt.id);
        self.waiting.iter().any(|waiting| counts(&waiting.prompt))
    }

    pub(super) fn refuse(self, kind: RefusalKind, why: &str, out: &mut Effects<Effect>) {
        for waiting in self.waiting {
            refuse(waiting.to, kind, why, out);
        }
        for (to, _) in self.errands {
            refuse(to, kind, why, out);
        }
    }

    /// The ids that were chosen for the runs that wait here.
    pub(super) fn runs(&self) -> impl Iterator<Item = &RunId> {
        self.waiting.iter().filter_map(|waiting| waiting.prompt.run.as_ref())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.errands.is_empty()
    }

    pub(super) fn into_parts(self) -> (Vec<Waiting>, Vec<(RequestId, Errand)>) {
        (self.waiting, self.errands)
    }
}

fn taken(holder: &Holder) -> String {
    alloc::format!("Process {} is at work in the session; try again when that is done.", holder.pid)
}

fn busy(session: &SessionId, prompt: &Prompt, holder: &Holder) -> Effect {
    Effect::Notify(Notice::SessionBusy {
        session: session.clone(),
        prompt: prompt.id.clone(),
        holder: holder.clone(),
    })
}
