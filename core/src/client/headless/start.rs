//! How a run gets to its session: its prompt is put together, the session looked up or made from another one, and the
//! prompt submitted.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;

use super::super::{lines, one_line};
use super::{Earlier, Effect, Format, Gathered, Headless, Phase, Which};
use crate::machine::Effects;
use crate::prompt::PermissionMode;
use crate::protocol::{Command, Query, Refusal, RefusalKind, Reply, Request, SessionChoice};
use crate::record::{Reason, RunStatus};
use crate::time::Timestamp;

impl Headless {
    pub(super) fn begin(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        let (version, cwd) = (self.options.version.clone(), self.options.cwd.clone());
        // A session that is gone on with may have one of its own, which is not known yet.
        let terms = &self.options.prompt.terms;
        let is_known = !terms.usual_model || matches!(self.options.session, Which::New(_));
        let model = terms.model.clone().filter(|_| is_known);
        let permission_mode = match self.options.prompt.terms.permission {
            PermissionMode::Headless => "deny",
            PermissionMode::Yolo => "yolo",
            PermissionMode::Interactive => "ask",
            PermissionMode::Plan => "plan",
        };
        let started =
            lines::RunStarted { version: &version, model: model.as_deref(), cwd: &cwd, permission_mode };
        self.line(now, "run.started", &started, None, out);
        for warning in self.options.warnings.clone() {
            self.warn(now, &warning, out);
        }
    }

    pub(super) fn ready(&mut self, now: Timestamp, gathered: Gathered, out: &mut Effects<Effect>) {
        if self.phase != Phase::Reading {
            return;
        }
        let Gathered { text, attachments, rules, system, schema, warnings } = gathered;
        for warning in warnings {
            self.warn(now, &warning, out);
        }
        if text.trim().is_empty() {
            let message = "The prompt is empty; say what is to be done, as an argument or on standard input.";
            return self.mistake(now, Reason::Usage, message, out);
        }
        let prompt = &mut self.options.prompt;
        prompt.text = text;
        prompt.attachments = attachments;
        prompt.terms.rules.extend(rules);
        prompt.terms.system = system.or(prompt.terms.system.take());
        prompt.terms.answer_schema = schema.or(prompt.terms.answer_schema.take());
        let goes_on = match &self.options.session {
            Which::New(_) => false,
            Which::Latest(_) | Which::Prefix(_) => true,
        };
        if let (true, Earlier::ReadOnly(place)) = (goes_on, &self.options.earlier) {
            let message = format!(
                "The sessions are in {place}, which cannot be written to, so none of them can be gone on with; make it \
                 writable, or begin a new session."
            );
            let refusal = Refusal::new(RefusalKind::Storage, message);
            return self.refused(now, &refusal, out);
        }
        self.phase = Phase::Opening;
        out.push(Effect::Open);
    }

    /// The session is looked up, or the prompt submitted to a new one.
    pub(super) fn opened(&mut self, out: &mut Effects<Effect>) {
        if self.phase != Phase::Opening {
            return;
        }
        self.phase = Phase::Finding;
        let query = match &self.options.session {
            Which::New(id) => return self.submit(SessionChoice::New { id: id.clone() }, out),
            Which::Latest(_) => Query::LatestSession,
            Which::Prefix(prefix) => Query::FindSession { prefix: prefix.clone() },
        };
        out.push(Effect::Request(Box::new(Request::Query(query))));
    }

    /// There is no session to go on with. Where that only means that there never was one, a new one is begun.
    pub(super) fn not_found(&mut self, now: Timestamp, refusal: &Refusal, out: &mut Effects<Effect>) {
        let latest = match &self.options.session {
            Which::Latest(id) if refusal.kind == RefusalKind::NotFound && self.options.fork.is_none() => {
                Some(id.clone())
            }
            Which::Latest(_) | Which::Prefix(_) | Which::New(_) => None,
        };
        match (latest, &self.options.earlier) {
            (Some(id), Earlier::Reachable) => self.submit(SessionChoice::New { id }, out),
            (Some(_), Earlier::Unknown | Earlier::ReadOnly(_)) => {
                let message = "There is no session to go on with where sessions are kept this time, and the usual place cannot \
                               be used; make that writable, or leave --continue out to begin a new session.";
                self.refused(now, &Refusal::new(RefusalKind::NotFound, message), out);
            }
            (None, _) => self.refused(now, refusal, out),
        }
    }

    /// What was asked for makes no sense.
    pub(super) fn mistake(
        &mut self,
        now: Timestamp,
        reason: Reason,
        message: &str,
        out: &mut Effects<Effect>,
    ) {
        if self.phase == Phase::Reading {
            self.finish(now, self.unrecorded(now, RunStatus::Error, reason, message), out);
        }
    }

    pub(super) fn warn(&mut self, now: Timestamp, message: &str, out: &mut Effects<Effect>) {
        self.line(now, "warning", &lines::Warning { message }, None, out);
        if self.options.format != Format::Jsonl {
            out.push(Effect::Err(format!("hostler: warning: {}\n", one_line(message))));
        }
    }

    pub(super) fn submit(&mut self, session: SessionChoice, out: &mut Effects<Effect>) {
        self.phase = Phase::Submitted;
        self.session = Some(session.id().clone());
        let prompt = self.options.prompt.clone();
        out.push(Effect::Request(Box::new(Request::Command(Command::Submit { session, prompt }))));
    }

    pub(super) fn reply(&mut self, now: Timestamp, reply: Reply, out: &mut Effects<Effect>) {
        match (self.phase, reply) {
            (Phase::Finding, Reply::Session(info)) => match self.options.fork.clone() {
                Some(session) => {
                    self.phase = Phase::Forking;
                    let fork = Command::Fork { from: info.id, session };
                    out.push(Effect::Request(Box::new(Request::Command(fork))));
                }
                None => self.submit(SessionChoice::Existing { id: info.id }, out),
            },
            (Phase::Forking, Reply::Forked { session }) => {
                self.submit(SessionChoice::Existing { id: session }, out);
            }
            (Phase::Finding, Reply::Refused(refusal)) => self.not_found(now, &refusal, out),
            (Phase::Submitted, Reply::Accepted { ended: None, .. }) => self.phase = Phase::Accepted,
            // It was submitted before and is over, so that nothing more will happen to it: the log says how.
            (Phase::Submitted, Reply::Accepted { run, ended: Some(_), .. }) => {
                self.phase = Phase::Accepted;
                let query = Query::FindRun { prefix: run.as_str().to_string() };
                out.push(Effect::Request(Box::new(Request::Query(query))));
            }
            (Phase::Accepted, Reply::Runs(runs)) => {
                let own = runs.into_iter().find(|info| info.prompt == *self.prompt());
                let lost = "The run is over, but how it ended cannot be found; see `hostler runs list`.";
                let lost = || self.unrecorded(now, RunStatus::Error, Reason::Storage, lost);
                let finished = own.and_then(|info| info.finished).unwrap_or_else(lost);
                self.finish(now, finished, out);
            }
            (_, Reply::Refused(refusal)) => self.refused(now, &refusal, out),
            (
                _,
                Reply::Accepted { .. }
                | Reply::Session(_)
                | Reply::Cancelled { .. }
                | Reply::Cleared { .. }
                | Reply::Renamed
                | Reply::Forked { .. }
                | Reply::Deleted
                | Reply::Answered { .. },
            ) => {}
            (_, Reply::Sessions(_) | Reply::Transcript(_) | Reply::Runs(_) | Reply::Asks(_)) => {}
        }
    }
}
