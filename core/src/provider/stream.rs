//! The stream that answers a request, read by whichever protocol it is in.
//!
//! Takes bytes apart into events and hands them to the protocol's [`Dialect`]; ends once, whatever comes.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::Answer;
use super::excerpt::one_line;
use super::sse::{SseDecoder, SseEvent};
use crate::model::{CallErrorKind, ModelEvent};

/// Reads the stream of one answer. Says `Finished` or `Failed` once, and nothing after that.
///
/// The events begin after `Connected`, which only whoever holds the connection can tell.
pub trait Decoder: Send {
    /// Takes the next bytes of the stream, and pushes what they say.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>);

    /// Takes the end of the stream.
    fn end(&mut self, out: &mut Vec<ModelEvent>);
}

/// What the events of a protocol's stream mean.
pub(super) trait Dialect: Send {
    /// Takes an event whose data is not blank.
    fn event(&mut self, event: &SseEvent, answer: &mut Answer);

    /// Takes the end of a stream whose answer is not over.
    fn end(&mut self, answer: &mut Answer);
}

/// A stream in that dialect.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream<D> {
    sse: SseDecoder,
    answer: Answer,
    dialect: D,
}

impl<D: Dialect> Decoder for Stream<D> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        if self.answer.is_over() {
            return;
        }
        let mut events = Vec::new();
        let outcome = self.sse.push(bytes, &mut events);
        for event in &events {
            self.event(event);
        }
        if let Err(problem) = outcome {
            self.answer.fail(CallErrorKind::Protocol, problem.to_string());
        }
        self.answer.take(out);
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        let last = core::mem::take(&mut self.sse).end();
        if let Some(event) = last.filter(is_whole) {
            self.event(&event);
        }
        if !self.answer.is_over() {
            self.dialect.end(&mut self.answer);
        }
        self.answer.take(out);
    }
}

impl<D: Dialect> Stream<D> {
    fn event(&mut self, event: &SseEvent) {
        if !self.answer.is_over() && !event.data.trim().is_empty() {
            self.dialect.event(event, &mut self.answer);
        }
    }
}

/// Whether what the stream ended with can be taken for an event and not for the beginning of one.
fn is_whole(event: &SseEvent) -> bool {
    event.data.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(&event.data).is_ok()
}

/// Reads an event's data as what the protocol says it is; if it is not that, the attempt has failed.
pub(super) fn read<'a, T: Deserialize<'a>>(data: &'a str, what: &str, answer: &mut Answer) -> Option<T> {
    let problem = match serde_json::from_str(data) {
        Ok(value) => return Some(value),
        Err(problem) => problem,
    };
    let message = format!("The provider sent {:?}, which is no {what} ({problem}).", one_line(data, 200));
    answer.fail(CallErrorKind::Protocol, message);
    None
}
