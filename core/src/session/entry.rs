//! How a prompt gets in: acceptance, preparation, and the decision to begin or to queue, in the order of acceptance.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Decisions, Effect, Phase, Session};
use crate::content::{ErrorClass, ErrorInfo, MessageBody};
use crate::digest;
use crate::ids::{PromptId, RequestId, RunId};
use crate::model::{ModelRef, Preparation, PrepareError};
use crate::prompt::{Delivery, PROMPT_BYTES, Prompt, Terms};
use crate::protocol::{Ended, Refusal, RefusalKind, Reply};
use crate::record::Record;
use crate::time::Timestamp;

/// How many characters of its first prompt a session is called by.
const TITLE_CHARS: usize = 60;

impl Session {
    pub(super) fn submit(&mut self, now: Timestamp, to: RequestId, prompt: Prompt, out: &mut Decisions) {
        let reply = match self.known(&prompt) {
            Some(reply) => reply,
            None => self.accept(now, prompt, out),
        };
        out.effects.push(Effect::Reply { to, reply: Box::new(reply) });
        self.advance(now, out);
    }

    /// The answer to a prompt that needs no acceptance: it makes no sense, or it was submitted before.
    fn known(&self, prompt: &Prompt) -> Option<Reply> {
        if prompt.text.trim().is_empty() && prompt.attachments.is_empty() {
            return Some(refuse(RefusalKind::Invalid, "The prompt is empty; say what is to be done."));
        }
        if prompt.bytes() > PROMPT_BYTES {
            let most = PROMPT_BYTES >> 20;
            let text = format!(
                "The prompt is longer than {most} MiB, which no provider takes; put it in a file and name that."
            );
            return Some(refuse(RefusalKind::Invalid, text));
        }
        if prompt.run.is_some() && prompt.terms.delivery == Delivery::Fold {
            let text = "A prompt with a run id of its own cannot join another run; leave out one of the two.";
            return Some(refuse(RefusalKind::Invalid, text));
        }
        if prompt.terms.answer_schema.is_some() && prompt.terms.delivery == Delivery::Fold {
            let text = "A prompt whose answer must satisfy a schema cannot join another run; leave out one of the two.";
            return Some(refuse(RefusalKind::Invalid, text));
        }
        if prompt.run.as_ref().is_some_and(|run| run.as_str().is_empty()) {
            return Some(refuse(RefusalKind::Invalid, "A run id cannot be empty; leave it out."));
        }
        let (sequence, run, ended, same) = self.earlier(&prompt.id, &prompt.text)?;
        if same {
            let session = self.durable.id.clone();
            return Some(Reply::Accepted { session, prompt: prompt.id.clone(), run, sequence, ended });
        }
        let text = format!(
            "A prompt with the id {} and another text was submitted before; use a new id.",
            prompt.id
        );
        Some(refuse(RefusalKind::Conflict, text))
    }

    /// The sequence, the run and, if it has one, the end of a prompt with that id, and whether its text was the same.
    fn earlier(&self, id: &PromptId, text: &str) -> Option<(u64, RunId, Option<Ended>, bool)> {
        if let Some((sequence, open)) = self.durable.find_open(id) {
            return Some((sequence, open.prompt.run_id(), None, open.prompt.text == text));
        }
        let closed = self.durable.closed.get(id)?;
        let (ended, same) = (Ended::of(closed), closed.digest == digest::of(text.as_bytes()));
        Some((closed.sequence, closed.run.clone(), Some(ended), same))
    }

    fn accept(&mut self, now: Timestamp, prompt: Prompt, out: &mut Decisions) -> Reply {
        let run = prompt.run_id();
        if self.has_run(&run) {
            return refuse(RefusalKind::Conflict, format!("There is a run {run} already; use a new run id."));
        }
        if !self.durable.created {
            let title = title_of(&prompt.text);
            self.record(now, Record::SessionCreated { title, parent: None }, out);
        }
        let sequence = self.durable.sequence + 1;
        let (id, terms) = (prompt.id.clone(), self.to_prepare(&prompt.terms));
        self.record(now, Record::PromptAccepted { sequence, prompt }, out);
        self.live.preparing.insert(sequence, now.plus(self.settings.prepare));
        out.effects.push(Effect::Prepare { prompt: id.clone(), terms });
        Reply::Accepted { session: self.durable.id.clone(), prompt: id, run, sequence, ended: None }
    }

    /// The terms for whoever prepares the run. A session goes on with the model that it had last, unless another one was asked
    /// for.
    pub(super) fn to_prepare(&self, terms: &Terms) -> Terms {
        let asked = terms.model.clone().filter(|_| !terms.usual_model);
        let model = asked.or_else(|| self.last_model()).or_else(|| terms.model.clone());
        Terms { model, ..terms.clone() }
    }

    /// The model that it had last; in one that was made from another one that is who answered there last.
    fn last_model(&self) -> Option<String> {
        let prepared = self.durable.preparation.as_ref().map(|preparation| &preparation.model);
        let answered = || {
            self.durable.messages.iter().rev().find_map(|message| match &message.body {
                MessageBody::Assistant(answer) => Some(&answer.model),
                MessageBody::User(_) | MessageBody::Summary(_) => None,
            })
        };
        prepared.or_else(answered).map(ModelRef::shown)
    }

    /// Whether one of its prompts has that run.
    pub(crate) fn has_run(&self, run: &RunId) -> bool {
        self.durable.has_run(run)
    }

    pub(super) fn prepared(
        &mut self,
        now: Timestamp,
        prompt: &PromptId,
        result: Result<Preparation, PrepareError>,
        out: &mut Decisions,
    ) {
        let Some((sequence, _)) = self.durable.find_open(prompt) else { return };
        if self.live.preparing.remove(&sequence).is_some() {
            self.live.prepared.insert(sequence, result);
            self.advance(now, out);
        }
    }

    /// Calls off preparations that have taken too long, so that what came later is not held back.
    pub(super) fn tick_preparing(&mut self, now: Timestamp, out: &mut Decisions) {
        while let Some((sequence, _)) = self.live.preparing.iter().find(|(_, until)| **until <= now) {
            let sequence = *sequence;
            self.call_off(sequence, out);
            let seconds = self.settings.prepare / 1000;
            let message = format!("Preparing the run took longer than {seconds} s; try again.");
            let error = ErrorInfo::new(ErrorClass::Timeout, message);
            self.live.prepared.insert(sequence, Err(error));
            self.advance(now, out);
        }
    }

    /// Stops preparing a prompt's run, if that is under way, and forgets what it came to.
    pub(super) fn call_off(&mut self, sequence: u64, out: &mut Decisions) {
        self.live.prepared.remove(&sequence);
        if self.live.preparing.remove(&sequence).is_some()
            && let Some(open) = self.durable.open.get(&sequence)
        {
            out.effects.push(Effect::CancelPrepare { prompt: open.prompt.id.clone() });
        }
    }

    /// Decides about every prompt whose time has come: the first one begins a turn if there is none; behind a turn,
    /// prompts queue up. Always in the order of acceptance.
    pub(super) fn advance(&mut self, now: Timestamp, out: &mut Decisions) {
        while let Some((sequence, prompt)) = self.next_entry() {
            let Some(result) = self.live.prepared.get(&sequence) else { return };
            if self.durable.turn.is_some() {
                self.record(now, Record::PromptQueued { prompt }, out);
            } else {
                let result = result.clone();
                self.live.prepared.remove(&sequence);
                self.start_turn(now, &prompt, result, out);
            }
        }
    }

    /// The prompt about which is decided next: without a turn the first one that waits, with one the first undecided.
    fn next_entry(&self) -> Option<(u64, PromptId)> {
        let free = self.durable.turn.is_none();
        let mut open = self.durable.open.iter();
        let next = open.find(|(_, open)| match open.phase {
            Phase::Preparing => true,
            Phase::Queued => free,
            Phase::InTurn => false,
        });
        next.map(|(sequence, open)| (*sequence, open.prompt.id.clone()))
    }
}

fn refuse(kind: RefusalKind, message: impl Into<String>) -> Reply {
    Reply::Refused(Refusal::new(kind, message))
}

/// What a session is called until somebody gives it a title: the beginning of its first prompt.
pub(super) fn title_of(text: &str) -> String {
    let lines = text.lines().map(|line| line.chars().filter(|char| !char.is_control()).collect::<String>());
    let clean = lines.map(|line| line.trim().to_string()).find(|line| !line.is_empty());
    let clean = clean.unwrap_or_else(|| "New session".to_string());
    if clean.chars().count() <= TITLE_CHARS {
        return clean;
    }
    let cut: String = clean.chars().take(TITLE_CHARS - 1).collect();
    format!("{}…", cut.trim_end()).to_string()
}
