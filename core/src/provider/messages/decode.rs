//! The stream that answers a Messages request, as events of ours.
//!
//! A message is a list of blocks that come one after another. Blocks that are not known, such as those of tools that
//! run at the provider, say nothing here: none of them is asked for.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};

use serde_json::value::RawValue;

use super::wire::{BlockStart, Counts, Delta, Event};
use crate::model::FinishReason;
use crate::provider::answer::{Answer, Voice};
use crate::provider::lenient;
use crate::provider::refusal;
use crate::provider::sse::SseEvent;
use crate::provider::stream::{Dialect, read};

/// What has to be remembered of a message stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// The message's blocks by their numbers there.
    blocks: BTreeMap<u64, Piece>,
    counts: Counts,
    finish: Option<FinishReason>,
}

/// A block of the message.
#[derive(Clone, Debug)]
enum Piece {
    /// Text or thinking; it has a number of ours once it has said something.
    Speech(Voice, Option<u32>),
    /// A call: our number, the arguments with which it began, and whether others have come since.
    Call { block: u32, given: String, written: bool },
    /// Something that says nothing.
    Other,
}

impl Dialect for Messages {
    fn event(&mut self, event: &SseEvent, answer: &mut Answer) {
        let data = event.data.trim();
        // No such thing is in the protocol, but some who offer it end everything so.
        if data == "[DONE]" {
            return self.end(answer);
        }
        let Some(mut found) = read::<Event<'_>>(data, "message event", answer) else { return };
        let name = lenient::text(found.r#type.take());
        let name = if name.is_empty() { &event.name } else { &name };
        if name == "error" || refusal::is_said(&found.error) {
            return answer.report(refusal::report_text(data));
        }
        self.take(name, found, answer);
    }

    fn end(&mut self, answer: &mut Answer) {
        if self.finish.is_some() { answer.finish(self.finish) } else { answer.cut() }
    }
}

impl Messages {
    fn take(&mut self, name: &str, event: Event<'_>, answer: &mut Answer) {
        let index = event.index.as_u64().unwrap_or(0);
        match name {
            "message_start" => self.usage(event.message.and_then(|message| message.usage), answer),
            "content_block_start" => self.block_start(index, event.content_block, answer),
            "content_block_delta" => self.block_delta(index, event.delta, answer),
            "content_block_stop" => self.block_stop(index, answer),
            "message_delta" => self.message_delta(event, answer),
            "message_stop" => answer.finish(self.finish),
            // `ping`, and whatever else there may be.
            _ => {}
        }
    }

    fn usage(&mut self, raw: Option<&RawValue>, answer: &mut Answer) {
        if let Some(raw) = raw {
            self.counts.update(raw);
            answer.usage(self.counts.usage());
        }
    }

    fn block_start(&mut self, index: u64, raw: Option<&RawValue>, answer: &mut Answer) {
        let Some(raw) = raw else { return };
        let Some(start) = read::<BlockStart<'_>>(raw.get(), "content block", answer) else { return };
        let piece = match start.r#type.as_str().unwrap_or_default() {
            "text" => Piece::Speech(Voice::Text, None),
            "thinking" => Piece::Speech(Voice::Reasoning, None),
            "tool_use" => return self.call(index, start, answer),
            "redacted_thinking" => {
                let block = answer.begin();
                answer.seal(block, raw.get());
                Piece::Other
            }
            _ => Piece::Other,
        };
        self.blocks.insert(index, piece);
        self.speak(index, Voice::Text, lenient::text(start.text), answer);
        self.speak(index, Voice::Reasoning, lenient::text(start.thinking), answer);
        self.sign(index, start.signature, answer);
    }

    fn call(&mut self, index: u64, start: BlockStart<'_>, answer: &mut Answer) {
        let block = answer.call(lenient::id(start.id), lenient::text(start.name));
        let given = start.input.map(|input| input.get().to_string()).unwrap_or_default();
        self.blocks.insert(index, Piece::Call { block, given, written: false });
    }

    fn block_delta(&mut self, index: u64, delta: Option<Delta<'_>>, answer: &mut Answer) {
        let Some(delta) = delta else { return };
        self.speak(index, Voice::Text, lenient::text(delta.text), answer);
        self.speak(index, Voice::Reasoning, lenient::text(delta.thinking), answer);
        self.sign(index, delta.signature, answer);
        self.write(index, lenient::text(delta.partial_json), answer);
    }

    /// More text or thinking, in a block that may not have been announced.
    fn speak(&mut self, index: u64, voice: Voice, text: String, answer: &mut Answer) {
        if text.is_empty() {
            return;
        }
        let piece = self.blocks.entry(index).or_insert(Piece::Speech(voice, None));
        if let Piece::Speech(known, number) = piece
            && *known == voice
        {
            let block = *number.get_or_insert_with(|| answer.begin());
            answer.speak(block, voice, text);
        }
    }

    /// The signature of a thought, which is told as it is written: JSON text of a string.
    fn sign(&mut self, index: u64, signature: Option<&RawValue>, answer: &mut Answer) {
        let signature = signature.map(RawValue::get).filter(|text| text.starts_with('"') && *text != "\"\"");
        if let (Some(signature), Some(Piece::Speech(Voice::Reasoning, number))) =
            (signature, self.blocks.get_mut(&index))
        {
            let block = *number.get_or_insert_with(|| answer.begin());
            answer.seal(block, signature);
        }
    }

    fn write(&mut self, index: u64, text: String, answer: &mut Answer) {
        if let Some(Piece::Call { block, written, .. }) = self.blocks.get_mut(&index) {
            *written |= !text.is_empty();
            answer.input(*block, text);
        }
    }

    /// A call whose arguments were not streamed has those with which it began.
    fn block_stop(&mut self, index: u64, answer: &mut Answer) {
        if let Some(Piece::Call { block, given, written: false }) = self.blocks.remove(&index)
            && given != "null"
        {
            answer.input(block, given);
        }
    }

    fn message_delta(&mut self, event: Event<'_>, answer: &mut Answer) {
        self.usage(event.usage, answer);
        let reason = event.delta.map(|delta| lenient::text(delta.stop_reason)).unwrap_or_default();
        if !reason.is_empty() {
            let reason = finish_reason(&reason);
            self.finish = Some(reason);
            answer.ending(reason);
        }
    }
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        // Either limit on what it may write: the one that was set, or what was left of its context window.
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::ContentFilter,
        // `pause_turn` among them: only tools that run at the provider pause a turn.
        _ => FinishReason::Unknown,
    }
}
