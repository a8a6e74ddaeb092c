//! One moment of a flight record in words: what happened, what was decided, and the state behind it.

use alloc::format;
use alloc::string::String;

use serde_json::Value;

use super::outline::{Outline, seconds, shown};
use super::{Batch, FlightError, Segment, digest, handle};
use crate::content::{AssistantMessage, Block, MessageBody};
use crate::machine::{Effects, Machine};
use crate::quote::count;
use crate::session::{Durable, Phase};
use crate::time::Timestamp;
use crate::workspace::{Effect, Workspace};

/// How many of a session's last messages are shown.
const MESSAGES: usize = 8;

/// A moment of a flight record.
#[derive(Clone, Debug)]
pub struct Moment {
    /// When the record begins.
    pub began: Timestamp,
    /// The number of its last batch.
    pub last: u64,
    /// What happened; nothing if the moment is the beginning.
    pub batch: Option<Batch>,
    /// What that led to.
    pub out: Effects<Effect>,
    /// The state behind it.
    pub state: Workspace,
    /// The first batch up to here that is decided differently than it was recorded, if there is one.
    pub differs: Option<u64>,
}

/// Shows the moment behind the batch of that number; 0 is the beginning of the record.
pub fn at(text: &str, number: u64) -> Result<Moment, FlightError> {
    let Segment { header, batches, .. } = Segment::read(text)?;
    let first = batches.first().map_or(0, |batch| batch.batch);
    let last = batches.last().map_or(0, |batch| batch.batch);
    let state = header.state;
    let out = Effects::new();
    let mut moment = Moment { began: header.at, last, batch: None, out, state, differs: None };
    if number == 0 {
        return Ok(moment);
    }
    for batch in batches {
        moment.out = handle(&mut moment.state, batch.at, batch.inputs.clone());
        if moment.differs.is_none() && digest(&moment.out) != batch.digest {
            moment.differs = Some(batch.batch);
        }
        if batch.batch == number {
            moment.batch = Some(batch);
            return Ok(moment);
        }
    }
    Err(FlightError::NoBatch { number, first, last })
}

impl Moment {
    /// All of it, for people.
    pub fn describe(&self) -> String {
        let now = self.batch.as_ref().map_or(self.began, |batch| batch.at);
        let mut outline = Outline::at(now);
        match &self.batch {
            None => outline.line(0, &format!("The beginning of the record, before batch 1 of {}", self.last)),
            Some(batch) => self.lead_up(batch, &mut outline),
        }
        if let Some(differs) = self.differs {
            let text =
                "is decided differently here than it was recorded; what follows it is not what happened";
            outline.line(0, &format!("\nBatch {differs} {text}"));
        }
        self.state(&mut outline);
        outline.text
    }

    fn lead_up(&self, batch: &Batch, outline: &mut Outline) {
        let since = seconds(batch.at.since(self.began));
        outline.line(0, &format!("Batch {} of {}, {since} after the record began", batch.batch, self.last));
        outline.line(0, "\nWhat happened");
        for input in &batch.inputs {
            outline.value(1, "-", &serde_json::to_value(input).unwrap_or_default());
        }
        outline.line(0, "\nWhat was decided: records to commit");
        for entry in self.out.records() {
            let record = serde_json::to_value(&entry.record).unwrap_or_default();
            outline.value(1, entry.session.as_str(), &record);
        }
        outline.line(0, "\nWhat was decided: effects to start then");
        for effect in self.out.effects() {
            outline.value(1, "-", &serde_json::to_value(effect).unwrap_or_default());
        }
    }

    fn state(&self, outline: &mut Outline) {
        outline.line(0, "\nThe state behind it");
        let state = serde_json::to_value(&self.state).unwrap_or_default();
        let sessions = state.get("sessions").and_then(Value::as_object).into_iter().flatten();
        for (session, slot) in sessions {
            let open = self.state.durables().find(|durable| durable.id.as_str() == session);
            match open {
                Some(durable) => {
                    describe(durable, outline);
                    let live = slot.get("Open").and_then(|open| open.get("live"));
                    outline.value(2, "awaited in this process", live.unwrap_or(&Value::Null));
                }
                None => outline.value(1, &format!("session {session}, not open"), slot),
            }
        }
        if self.state.is_idle() {
            outline.line(1, "no session is in use");
        }
        if let Some((at, what)) = self.state.deadline() {
            let when = outline.time(at.as_millis());
            outline.line(1, &format!("the next deadline is {when}, for {what:?}"));
        }
    }
}

fn describe(durable: &Durable, outline: &mut Outline) {
    outline.line(1, &format!("session {} {}, open", durable.id, shown(&durable.title)));
    for (sequence, open) in &durable.open {
        let phase = match open.phase {
            Phase::Preparing => "is accepted and not begun",
            Phase::Queued => "is queued",
            Phase::InTurn => "is part of the turn",
        };
        let text = shown(&open.prompt.text);
        outline.line(2, &format!("prompt {sequence} ({}) {phase}: {text}", open.prompt.id));
    }
    if let Some(turn) = &durable.turn {
        let cancelling = turn.cancelling.map(|reason| format!(", being cancelled ({reason:?})"));
        let (id, run, step, attempt) = (turn.id, &turn.run, turn.step, turn.attempt);
        let cancelling = cancelling.unwrap_or_default();
        outline.line(2, &format!("turn {id} of run {run}: step {step}, attempt {attempt}{cancelling}"));
    }
    let left_out = durable.messages.len().saturating_sub(MESSAGES);
    if left_out > 0 {
        outline.line(2, &format!("{} before these", count(left_out, "message")));
    }
    for message in durable.messages.iter().skip(left_out) {
        let (id, said) = (message.id, said(&message.body));
        outline.line(2, &format!("message {id}, {said}"));
    }
}

fn said(body: &MessageBody) -> String {
    match body {
        MessageBody::User(user) => format!("user: {}", shown(&user.text)),
        MessageBody::Summary(text) => format!("summary: {}", shown(text)),
        MessageBody::Assistant(answer) => format!("model: {}", answered(answer)),
    }
}

fn answered(answer: &AssistantMessage) -> String {
    let mut said = String::new();
    for block in &answer.blocks {
        said.push_str(&match block {
            Block::Text(text) => format!("{} ", shown(text)),
            Block::Reasoning(reasoning) => format!("(thought {}) ", shown(&reasoning.text)),
            Block::Call(call) => {
                let status = call.outcome.as_ref().map(|outcome| format!("{:?}", outcome.status));
                let status = status.unwrap_or_else(|| "no outcome".into());
                format!("[{} {}: {status}] ", call.id, call.name)
            }
        });
    }
    match &answer.finish {
        Some(finish) => said.push_str(&shown(&format!("{finish:?}"))),
        None => said.push_str("not complete"),
    }
    said
}
