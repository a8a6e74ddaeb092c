//! A flight record that can be shown to others: what people, models and tools wrote is hidden, and what was decided
//! stays the same.
//!
//! Both records are decided batch by batch, side by side. The one that is hidden gets digests of its own, and each of its
//! batches must have led to the same records and effects with the same numbers in them.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::hidden::{self, Words};
use super::placeholder::Placeholders;
use super::stream_texts::StreamTexts;
use super::{Batch, FlightError, Header, Segment, digest, handle};
use crate::content::{AssistantMessage, MessageBody};
use crate::machine::Effects;
use crate::session::{Durable, footprint};
use crate::workspace::{Effect, Input, Opened, Workspace};

/// A record with everything hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The record.
    pub text: String,
    /// How many batches it has.
    pub batches: u64,
    /// Whether the original's last line was cut short; it is left out.
    pub cut: bool,
}

/// Why a record cannot be redacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    /// It cannot be read.
    #[error(transparent)]
    Flight(#[from] FlightError),
    /// It is decided differently here, so that new digests would hide that.
    #[error("batch {0} is decided differently here; redact it with the version of the program that wrote it")]
    Differs(u64),
    /// Hiding what it says would change what is decided.
    #[error(
        "batch {0} would be decided differently if its texts were hidden; look through it and show it as it is"
    )]
    Changes(u64),
}

/// Hides what a segment says. Its decisions are compared with the original's on the way.
pub fn redact(text: &str) -> Result<Redacted, RedactError> {
    let segment = Segment::read(text)?;
    let mut redaction = Redaction::default();
    redaction.learn(&segment).ok_or(RedactError::Changes(0))?;
    // The first time it gathers what comes in pieces and which digests belong together.
    redaction.all(&segment)?;
    redaction.streams.hide(&mut redaction.placeholders);
    let (header, batches) = redaction.all(&segment)?;
    let (mut original, mut hidden) = (segment.header.state, header.state.clone());
    let mut lines = alloc::vec![line(&header)];
    for (batch, inputs) in segment.batches.into_iter().zip(batches) {
        let before = handle(&mut original, batch.at, batch.inputs);
        if digest(&before) != batch.digest {
            return Err(RedactError::Differs(batch.batch));
        }
        let after = handle(&mut hidden, batch.at, inputs.clone());
        if shape(&before) != shape(&after) {
            return Err(RedactError::Changes(batch.batch));
        }
        lines.push(line(&Batch { digest: digest(&after), inputs, ..batch }));
    }
    Ok(Redacted { batches: lines.len() as u64 - 1, text: lines.join("\n") + "\n", cut: segment.cut })
}

fn line(line: &impl serde::Serialize) -> String {
    // Plain data always has a JSON form.
    serde_json::to_string(line).unwrap_or_default()
}

/// What a batch led to, without texts.
fn shape(out: &Effects<Effect>) -> Vec<Value> {
    let records = out.records().iter().map(|entry| serde_json::to_value(entry).unwrap_or_default());
    let effects = out.effects().iter().map(|effect| serde_json::to_value(effect).unwrap_or_default());
    records.chain(effects).map(without_texts).collect()
}

fn without_texts(value: Value) -> Value {
    match value {
        Value::String(_) => Value::String(String::new()),
        Value::Array(list) => Value::Array(list.into_iter().map(without_texts).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, without_texts(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[derive(Default)]
struct Redaction {
    placeholders: Placeholders,
    streams: StreamTexts,
    words: Words,
}

impl Redaction {
    /// Gathers the rules and what they are about, so that whatever is hidden keeps fitting them.
    fn learn(&mut self, segment: &Segment) -> Option<()> {
        hidden::learn(&serde_json::to_value(&segment.header.state).ok()?, &mut self.placeholders);
        for input in segment.batches.iter().flat_map(|batch| &batch.inputs) {
            hidden::learn(&serde_json::to_value(input).ok()?, &mut self.placeholders);
        }
        self.placeholders.settle();
        Some(())
    }

    fn all(&mut self, segment: &Segment) -> Result<(Header, Vec<Vec<Input>>), RedactError> {
        let state = self.state(&segment.header.state).ok_or(RedactError::Changes(0))?;
        let header = Header { state, ..segment.header.clone() };
        let batches = segment.batches.iter().map(|batch| {
            let inputs: Option<Vec<_>> = batch.inputs.iter().map(|input| self.input(input)).collect();
            inputs.ok_or(RedactError::Changes(batch.batch))
        });
        Ok((header, batches.collect::<Result<_, _>>()?))
    }

    fn state(&mut self, state: &Workspace) -> Option<Workspace> {
        let value = serde_json::to_value(state).ok()?;
        let mut hidden: Workspace = self.words.hide(&value, &mut self.placeholders)?;
        let streams = &mut self.streams;
        hidden.replace_streamed(state, |place, is_json, text| streams.piece(place, is_json, text));
        for durable in state.durables() {
            self.pair(durable, hidden.durable(&durable.id)?);
        }
        Some(hidden)
    }

    fn input(&mut self, input: &Input) -> Option<Input> {
        let mut streamed = input.clone();
        if let Input::Session { session, input: crate::session::Input::Model { attempt, event } } =
            &mut streamed
            && self.streams.event(session, *attempt, event)
        {
            return Some(streamed);
        }
        let value = serde_json::to_value(input).ok()?;
        let hidden: Input = self.words.hide(&value, &mut self.placeholders)?;
        if let (Some(durable), Some(hidden)) = (opened(input), opened(&hidden)) {
            self.pair(durable, hidden);
        }
        Some(hidden)
    }

    /// Notes which digests of steps belong together, for turns that are checked for going round in circles.
    fn pair(&mut self, durable: &Durable, hidden: &Durable) {
        for (before, after) in answers(durable).zip(answers(hidden)) {
            if let (Some(before), Some(after)) = (footprint(before), footprint(after)) {
                self.placeholders.pair(before.whole, after.whole);
                self.placeholders.pair(before.results, after.results);
            }
        }
    }
}

fn opened(input: &Input) -> Option<&Durable> {
    match input {
        Input::SessionOpened { opened: Opened::Ready(Some(durable)), .. } => Some(durable),
        Input::Request { source: Some(durable), .. } => Some(durable),
        Input::SessionOpened { .. }
        | Input::Request { source: None, .. }
        | Input::SessionDeleted { .. }
        | Input::SessionHeld { .. }
        | Input::Session { .. }
        | Input::Tick => None,
    }
}

fn answers(durable: &Durable) -> impl Iterator<Item = &AssistantMessage> {
    durable.messages.iter().filter_map(|message| match &message.body {
        MessageBody::Assistant(answer) => Some(answer),
        MessageBody::User(_) | MessageBody::Summary(_) => None,
    })
}
