//! What was sent along and is refused is left out or had anew, once: seals that a provider does not know, and keys.

use std::collections::BTreeMap;

use hostler_core::content::{Block, MessageBody};
use hostler_core::ids::{AttemptId, SessionId, StepId};
use hostler_core::model::{CallError, CallErrorKind, Item, ModelRef, ModelRequest};
use hostler_core::record::Record;
use hostler_core::session::{Durable, Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};
use crate::sometimes;

#[derive(Clone, Debug, Default)]
struct Session {
    /// The attempt that was asked last, whether its request had seals, and whether any answer has some that need not be shown.
    asked: Option<(AttemptId, bool, bool)>,
    /// The step in which seals were refused.
    bare: Option<StepId>,
    renewable: bool,
    /// The attempt after which the key is had anew.
    renews: Option<AttemptId>,
    /// The step in which it was.
    renewed: Option<StepId>,
}

/// What each session has sent along and was refused.
#[derive(Clone, Debug, Default)]
pub(super) struct Refused(BTreeMap<SessionId, Session>);

fn is_sealed(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Text(_) => false,
        Block::Reasoning(reasoning) => reasoning.opaque.is_some(),
        Block::Call(call) => call.opaque.is_some(),
    })
}

fn has_seals(request: &ModelRequest) -> bool {
    let own = |item: &Item| matches!(item, Item::Assistant { model, blocks } if *model == request.model && is_sealed(blocks));
    request.items.iter().any(own)
}

fn has_hidden(model: &ModelRef, durable: &Durable) -> bool {
    durable.messages.iter().any(|message| match &message.body {
        MessageBody::Assistant(answer) => answer.model == *model && is_sealed(&answer.blocks),
        MessageBody::User(_) | MessageBody::Summary(_) => false,
    })
}

fn about_seals(error: &CallError) -> bool {
    let words = error.message.contains("signature");
    match &error.kind {
        CallErrorKind::Status { status: 400 | 422, code } => words || code.contains("encrypted"),
        _ => false,
    }
}

/// Whether a key was refused, in the words of some provider.
pub(crate) fn refuses_key(error: &CallError) -> bool {
    match &error.kind {
        CallErrorKind::Status { code, .. } if code == "web_page" => false,
        CallErrorKind::Status { status, code } => *status == 401 || code == "API_KEY_INVALID",
        CallErrorKind::Stream { .. }
        | CallErrorKind::Transport
        | CallErrorKind::Truncated
        | CallErrorKind::Protocol
        | CallErrorKind::Credentials
        | CallErrorKind::Timeout(_) => false,
    }
}

impl Session {
    fn failed(
        &mut self,
        attempt: AttemptId,
        error: &CallError,
        seals: bool,
        again: Option<u64>,
    ) -> Result<(), String> {
        sometimes!("seals refused", if seals);
        // What was asked before power went is not known any more.
        let (shown, hidden) = match self.asked {
            Some((asked, shown, hidden)) if asked == attempt => (shown, hidden),
            _ => return Ok(()),
        };
        let right =
            if about_seals(error) && self.bare != Some(attempt.step) { seals || !shown } else { !seals };
        if !right || (seals && !shown && !hidden) || (seals && again != Some(0)) {
            return Err(format!(
                "{attempt} fails with {error:?}, its seals: {shown}, and they are left out: {seals}"
            ));
        }
        if seals {
            self.bare = Some(attempt.step);
        }
        let key = refuses_key(error);
        let renews = key && self.renewable && self.renewed != Some(attempt.step);
        if key && again.is_some() != renews {
            return Err(format!("{attempt} was refused its key, and another one is had: {}", !renews));
        }
        if renews {
            (self.renews, self.renewed) = (Some(attempt), Some(attempt.step));
        }
        Ok(())
    }

    fn start(&mut self, attempt: AttemptId, renew: bool) -> Result<(), String> {
        let expected = self
            .renews
            .take()
            .is_some_and(|failed| failed.step == attempt.step && failed.attempt + 1 == attempt.attempt);
        (renew == expected).then_some(()).ok_or(format!("{attempt} has its key anew: {renew}"))
    }

    fn ask(&mut self, attempt: AttemptId, request: &ModelRequest, durable: &Durable) -> Result<(), String> {
        let (shown, hidden) = (has_seals(request), has_hidden(&request.model, durable));
        self.asked = Some((attempt, shown, hidden));
        if shown && self.bare == Some(attempt.step) {
            return Err(format!("{attempt} is sent with seals that were refused"));
        }
        Ok(())
    }
}

impl Oracle for Refused {
    fn name(&self) -> &'static str {
        "refused once"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let (session, judged) = match seen {
            Seen::Log { entry, .. } => {
                let known = self.0.entry(entry.session.clone()).or_default();
                let judged = match &entry.record {
                    Record::Prepared { preparation } => {
                        known.renewable = preparation.renewable;
                        Ok(())
                    }
                    Record::AttemptFailed { attempt, error, seals, retry_after, .. } => {
                        known.failed(*attempt, error, *seals, *retry_after)
                    }
                    _ => Ok(()),
                };
                (&entry.session, judged)
            }
            Seen::Start {
                effect: Effect::Session(Owned { session, effect: Ask::CallModel { attempt, renew, .. } }),
                ..
            } => (session, self.0.entry(session.clone()).or_default().start(*attempt, *renew)),
            Seen::Asks { session, attempt, request, durable } => {
                (*session, self.0.entry((*session).clone()).or_default().ask(*attempt, request, durable))
            }
            _ => return Ok(()),
        };
        judged.map_err(|what| format!("{session}: {what}"))
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::{Reasoning, Usage};
    use hostler_core::ids::MessageId;

    use super::super::fixture::{ATTEMPT, entry, session};
    use super::*;

    fn asks(oracle: &mut Refused, attempt: u32, sealed: bool) -> Result<(), String> {
        let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
        let opaque = sealed.then(|| "x".to_owned());
        let blocks = vec![Block::Reasoning(Reasoning { text: "hm".to_owned(), opaque })];
        let items = vec![Item::Assistant { model: model.clone(), blocks }];
        let request = ModelRequest { model, system: String::new(), tools: Vec::new(), items };
        let (session, durable) = (session(), Durable::new(session()));
        let attempt = AttemptId { attempt, ..ATTEMPT };
        oracle.see(&Seen::Asks { session: &session, attempt, request: &request, durable: &durable })
    }

    fn fails(
        oracle: &mut Refused,
        status: u16,
        message: &str,
        (seals, again): (bool, Option<u64>),
    ) -> Result<(), String> {
        let kind = CallErrorKind::Status { status, code: String::new() };
        let error = CallError { kind, message: message.to_owned(), retry_after: None, should_retry: None };
        let (attempt, message, usage) = (ATTEMPT, MessageId(11), Usage::default());
        let failed = Record::AttemptFailed {
            attempt,
            message,
            error,
            usage,
            cost: None,
            too_long: false,
            seals,
            retry_after: again,
        };
        oracle.see(&Seen::Log { seq: 1, entry: &entry(failed) })
    }

    #[test]
    fn seals_that_are_refused_are_left_out() {
        let check = |sealed, message, seals| {
            let mut oracle = Refused::default();
            asks(&mut oracle, 1, sealed)
                .and_then(|()| fails(&mut oracle, 400, message, (seals, seals.then_some(0))))
        };
        assert_eq!(check(true, "Invalid signature", true), Ok(()));
        assert_eq!(check(false, "Invalid signature", false), Ok(()));
        assert!(check(true, "Invalid signature", false).is_err());
        assert!(check(false, "Invalid signature", true).is_err());
        assert!(check(true, "Invalid temperature", true).is_err());
        let mut oracle = Refused::default();
        let first =
            asks(&mut oracle, 1, true).and_then(|()| fails(&mut oracle, 400, "signature", (true, Some(0))));
        assert_eq!(first, Ok(()));
        assert_eq!(asks(&mut oracle.clone(), 2, false), Ok(()));
        assert!(asks(&mut oracle, 2, true).is_err());
    }

    #[test]
    fn a_key_is_had_anew_after_it_was_refused_and_at_no_other_time() {
        let start = |oracle: &mut Refused, attempt, renew| {
            let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
            let effect = Ask::CallModel { attempt: AttemptId { attempt, ..ATTEMPT }, model, renew };
            oracle.see(&Seen::Start { process: 0, effect: &super::super::fixture::asks(effect) })
        };
        let mut oracle = Refused::default();
        oracle.0.entry(session()).or_default().renewable = true;
        assert_eq!(asks(&mut oracle, 1, false), Ok(()));
        assert!(fails(&mut oracle.clone(), 401, "", (false, None)).is_err());
        assert_eq!(fails(&mut oracle, 401, "", (false, Some(0))), Ok(()));
        assert!(start(&mut oracle.clone(), 2, false).is_err());
        assert_eq!(start(&mut oracle, 2, true), Ok(()));
        assert!(start(&mut oracle.clone(), 3, true).is_err());
        assert!(fails(&mut oracle, 401, "", (false, Some(0))).is_err());
    }
}
