//! The stream that answers a Responses request, as events of ours.
//!
//! A response is a list of items: thoughts, messages, calls. Each is announced, streamed, and then told as a whole; what
//! was not streamed is taken from the whole. Everything that is known twice is said once.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde_json::Value;
use serde_json::value::RawValue;

use super::wire::{self, Event, Item, Response};
use crate::model::FinishReason;
use crate::provider::answer::{Answer, Voice};
use crate::provider::lenient;
use crate::provider::refusal::{self, Report};
use crate::provider::sse::SseEvent;
use crate::provider::stream::{Dialect, read};

/// What has to be remembered of a response stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    items: BTreeMap<Key, Piece>,
}

/// What an item goes by: its number, or its id where items are not numbered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(u64),
    Id(String),
}

/// An item of the output.
#[derive(Clone, Debug, Default)]
struct Piece {
    /// Our number for what it says.
    text: Option<u32>,
    /// Our number for what it thinks, and the part of the summary that was last.
    thought: Option<(u32, u64)>,
    /// Our number for the call that it is, and whether arguments have come.
    call: Option<(u32, bool)>,
}

impl Dialect for Responses {
    fn event(&mut self, event: &SseEvent, answer: &mut Answer) {
        let data = event.data.trim();
        // The protocol ends with the response; but some who offer it add this.
        if data == "[DONE]" {
            return answer.cut();
        }
        let Some(mut found) = read::<Event<'_>>(data, "response event", answer) else { return };
        let name = lenient::text(found.r#type.take());
        let name = if name.is_empty() { &event.name } else { &name };
        match name.as_str() {
            "response.completed" | "response.incomplete" => ended(found.response, answer),
            "response.failed" | "response.cancelled" => failed(found.response, answer),
            _ if name == "error" || refusal::is_said(&found.error) => {
                answer.report(refusal::report_text(data));
            }
            _ => self.take(name, found, answer),
        }
    }

    fn end(&mut self, answer: &mut Answer) {
        answer.cut();
    }
}

impl Responses {
    fn take(&mut self, name: &str, event: Event<'_>, answer: &mut Answer) {
        let key = key(event.output_index, event.item_id);
        match name {
            "response.output_item.added" => self.added(key, event.item, answer),
            "response.output_item.done" => self.done(key, event.item, answer),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.piece(key).say(lenient::text(event.delta), answer);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let part = event.summary_index.as_u64().unwrap_or(0);
                self.piece(key).think(part, lenient::text(event.delta), answer);
            }
            "response.function_call_arguments.delta" => {
                self.piece(key).write(lenient::text(event.delta), answer);
            }
            "response.function_call_arguments.done" => {
                self.piece(key).written(lenient::text(event.arguments), answer);
            }
            // How far it is, what is told as a whole later, and whatever else there may be.
            _ => {}
        }
    }

    fn piece(&mut self, key: Key) -> &mut Piece {
        self.items.entry(key).or_default()
    }

    fn added(&mut self, key: Key, raw: Option<&RawValue>, answer: &mut Answer) {
        let Some((key, item)) = item(key, raw, answer) else { return };
        if item.r#type == "function_call" {
            self.piece(key).begin(item, answer);
        }
    }

    fn done(&mut self, key: Key, raw: Option<&RawValue>, answer: &mut Answer) {
        let Some((key, mut item)) = item(key, raw, answer) else { return };
        let piece = self.piece(key);
        match item.r#type.as_str().unwrap_or_default() {
            "function_call" => {
                let arguments = lenient::text(item.arguments.take());
                piece.begin(item, answer);
                piece.written(arguments, answer);
            }
            "message" if piece.text.is_none() => piece.say(wire::said(&item.content).concat(), answer),
            "reasoning" => piece.thought_whole(&item, raw, answer),
            _ => {}
        }
    }
}

impl Piece {
    fn say(&mut self, text: String, answer: &mut Answer) {
        if !text.is_empty() {
            let block = *self.text.get_or_insert_with(|| answer.begin());
            answer.speak(block, Voice::Text, text);
        }
    }

    /// More of a thought; the parts of its summary are paragraphs.
    fn think(&mut self, part: u64, text: String, answer: &mut Answer) {
        if text.is_empty() {
            return;
        }
        let (block, last) = *self.thought.get_or_insert_with(|| (answer.begin(), part));
        if last != part {
            answer.speak(block, Voice::Reasoning, "\n\n".into());
        }
        self.thought = Some((block, part));
        answer.speak(block, Voice::Reasoning, text);
    }

    /// A thought is complete: what of it was not streamed, and the whole item if there is anything in it that only
    /// OpenAI can read.
    fn thought_whole(&mut self, item: &Item, raw: Option<&RawValue>, answer: &mut Answer) {
        if self.thought.is_none() {
            for (part, text) in (0..).zip(wire::said(&item.summary)) {
                self.think(part, text.into(), answer);
            }
        }
        let sealed = item.encrypted_content.as_str().is_some_and(|content| !content.is_empty());
        if let Some(raw) = raw.filter(|_| sealed) {
            let (block, _) = *self.thought.get_or_insert_with(|| (answer.begin(), 0));
            answer.seal(block, raw.get());
        }
    }

    fn begin(&mut self, item: Item, answer: &mut Answer) {
        if self.call.is_none() {
            let block = answer.call(lenient::id(item.call_id), lenient::text(item.name));
            self.call = Some((block, false));
        }
    }

    fn write(&mut self, text: String, answer: &mut Answer) {
        if let Some((block, written)) = &mut self.call {
            *written |= !text.is_empty();
            answer.input(*block, text);
        }
    }

    /// The arguments as a whole, unless they have been streamed.
    fn written(&mut self, arguments: String, answer: &mut Answer) {
        if matches!(self.call, Some((_, false))) {
            self.write(arguments, answer);
        }
    }
}

fn key(index: Value, id: Value) -> Key {
    match index.as_u64() {
        Some(number) => Key::Number(number),
        None => Key::Id(lenient::id(id)),
    }
}

/// Reads an item. Its own id is what it goes by if the event had nothing to say about that; llama.cpp's calls have none
/// but the one that their results go by.
fn item(key: Key, raw: Option<&RawValue>, answer: &mut Answer) -> Option<(Key, Item)> {
    let mut item: Item = read(raw?.get(), "output item", answer)?;
    let own = [item.id.take(), item.call_id.clone()].map(lenient::id);
    let key = match key {
        Key::Id(id) if id.is_empty() => {
            Key::Id(own.into_iter().find(|id| !id.is_empty()).unwrap_or_default())
        }
        Key::Id(_) | Key::Number(_) => key,
    };
    Some((key, item))
}

/// The response is over, and complete unless it says why not.
fn ended(raw: Option<&RawValue>, answer: &mut Answer) {
    let Some(response) = response(raw, answer) else { return };
    answer.finish(Some(match response.incomplete_details["reason"].as_str() {
        None => FinishReason::Stop,
        Some("max_output_tokens") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        Some(_) => FinishReason::Unknown,
    }));
}

fn failed(raw: Option<&RawValue>, answer: &mut Answer) {
    let Some(response) = response(raw, answer) else { return };
    let said = refusal::is_said(&response.error);
    answer.report(if said { refusal::report(&response.error) } else { Report::default() });
}

/// Reads a response, and says what it has used.
fn response<'a>(raw: Option<&'a RawValue>, answer: &mut Answer) -> Option<Response<'a>> {
    let response: Response<'_> = read(raw.map_or("{}", RawValue::get), "response", answer)?;
    if let Some(usage) = response.usage.and_then(wire::usage) {
        answer.usage(usage);
    }
    Some(response)
}
