//! What a session is called: at first the beginning of its first prompt, then what a model makes of that if somebody wants
//! it, and what a person says for good.
//!
//! A model is asked beside the first turn and never holds it up. If nothing comes of that, nothing is lost.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use super::{Decisions, Effect, Session};
use crate::content::{MessageBody, Usage};
use crate::history;
use crate::ids::RequestId;
use crate::model::{FinishReason, ModelEvent, ModelRequest};
use crate::protocol::{Refusal, RefusalKind, Reply};
use crate::record::{Record, TitleSource};
use crate::time::{Deadline, Timestamp};

/// How many characters a person's title may have.
const LONGEST: usize = 200;

/// How many characters of a model's title are used.
const MODEL_CHARS: usize = 60;

/// How many bytes a model may say before it is not listened to any more.
const MODEL_BYTES: usize = 4_000;

/// A title that a model is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Titling {
    /// Until when it is waited for.
    until: Timestamp,
    /// What has come so far.
    text: String,
    /// What it has used so far.
    usage: Usage,
}

impl Session {
    /// Asks a model for a title beside the first turn, if whoever submitted its prompt wants one.
    pub(super) fn ask_title(&mut self, now: Timestamp, out: &mut Decisions) {
        let wanted = self.terms().is_some_and(|terms| terms.title)
            && self.durable.parent.is_none()
            && self.durable.last_turn.0 == 1
            && self.durable.titled_by.is_none();
        let Some(preparation) = self.durable.preparation.as_ref().filter(|_| wanted) else { return };
        out.effects.push(Effect::MakeTitle { model: preparation.small().0.clone() });
        let until = now.plus(self.settings.title);
        self.live.title = Some(Titling { until, text: String::new(), usage: Usage::default() });
    }

    /// The request that asks for a title; none if nobody waits for one.
    pub fn title_request(&self) -> Option<ModelRequest> {
        self.live.title.as_ref()?;
        let preparation = self.durable.preparation.as_ref()?;
        let first = self.durable.messages.iter().find_map(|message| match &message.body {
            MessageBody::User(user) => Some(user.text.as_str()),
            MessageBody::Assistant(_) | MessageBody::Summary(_) => None,
        });
        Some(history::title_request(preparation, first?))
    }

    /// The model that was asked for a title says something.
    pub(super) fn title_said(&mut self, now: Timestamp, event: ModelEvent, out: &mut Decisions) {
        let Some(title) = &mut self.live.title else { return };
        match event {
            ModelEvent::Text { text, .. } if title.text.len() < MODEL_BYTES => title.text.push_str(&text),
            ModelEvent::Usage(usage) => title.usage = usage,
            ModelEvent::Finished(reason) => {
                let text = if reason == FinishReason::Length { None } else { tidy(&title.text) };
                self.end_title(now, text, out);
            }
            ModelEvent::Failed(_) => self.end_title(now, None, out),
            ModelEvent::Connected
            | ModelEvent::Text { .. }
            | ModelEvent::Reasoning { .. }
            | ModelEvent::Opaque { .. }
            | ModelEvent::Call { .. }
            | ModelEvent::Input { .. }
            | ModelEvent::Ending(_) => {}
        }
    }

    /// What the title cost counts, whatever came of it; a person's is never replaced.
    fn end_title(&mut self, now: Timestamp, title: Option<String>, out: &mut Decisions) {
        let Some(Titling { usage, .. }) = self.live.title.take() else { return };
        let title = title.filter(|_| self.durable.titled_by != Some(TitleSource::Person));
        if title.is_none() && usage == Usage::default() {
            return;
        }
        let title = title.unwrap_or_else(|| self.durable.title.clone());
        let by = self.durable.titled_by.unwrap_or(TitleSource::Model);
        let prices = self.durable.preparation.as_ref().and_then(|preparation| preparation.small().1);
        let cost = prices.map(|prices| prices.cost(&usage));
        self.record(now, Record::TitleChanged { title, by, usage, cost }, out);
    }

    /// A person says what the session is called.
    pub(super) fn rename(&mut self, now: Timestamp, to: RequestId, title: &str, out: &mut Decisions) {
        let title: String = title.trim().chars().filter(|letter| !letter.is_control()).collect();
        let reply = if title.is_empty() || title.chars().count() > LONGEST {
            let text = alloc::format!("A title has between 1 and {LONGEST} characters; give another one.");
            Reply::Refused(Refusal::new(RefusalKind::Invalid, text))
        } else {
            let (by, usage, cost) = (TitleSource::Person, Usage::default(), None);
            self.record(now, Record::TitleChanged { title, by, usage, cost }, out);
            Reply::Renamed
        };
        out.effects.push(Effect::Reply { to, reply: Box::new(reply) });
    }

    pub(super) fn title_deadline(&self) -> Option<(Timestamp, Deadline)> {
        self.live.title.as_ref().map(|title| (title.until, Deadline::Title))
    }

    /// Waits no longer for a title.
    pub(super) fn tick_title(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.live.title.as_ref().is_some_and(|title| title.until <= now) {
            out.effects.push(Effect::CancelTitle);
            self.end_title(now, None, out);
        }
    }
}

/// A title as a model wrote it, without what models put around one; none if nothing is left.
fn tidy(text: &str) -> Option<String> {
    // Some models think aloud first.
    let said = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    let bare = line.trim_matches(|letter: char| {
        matches!(letter, '"' | '\'' | '`' | '*' | '#' | '.') || letter.is_whitespace()
    });
    let title: String = bare.chars().filter(|letter| !letter.is_control()).take(MODEL_CHARS).collect();
    let title = title.trim().to_string();
    (!title.is_empty() && !title.starts_with("<think>")).then_some(title)
}
