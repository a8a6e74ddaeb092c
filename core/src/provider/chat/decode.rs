//! The stream that answers a chat completions request, as events of ours.
//!
//! Servers differ; what each is known to do otherwise is tolerated here, in `wire` and in `calls`, and what would have
//! to be guessed is an error. The events begin after `Connected`, which only whoever holds the connection can tell.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::calls::Calls;
use super::error::{self, Report};
use super::wire::{self, CallDelta, Choice, Chunk, Delta};
use crate::content::Usage;
use crate::model::{CallError, CallErrorKind, FinishReason, ModelEvent};
use crate::provider::excerpt::one_line;
use crate::provider::sse::{SseDecoder, SseEvent};

/// What a model says aloud, and what it thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Text,
    Reasoning,
}

/// Reads the stream of one answer. Says `Finished` or `Failed` once, and nothing after that.
#[derive(Clone, Debug, Default)]
pub struct ChatDecoder {
    sse: SseDecoder,
    /// How many blocks have begun.
    blocks: u32,
    /// The block of text or reasoning that goes on if more of its kind comes.
    open: Option<(Voice, u32)>,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    over: bool,
}

impl ChatDecoder {
    /// Takes the next bytes of the stream, and pushes what they say.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        if self.over {
            return;
        }
        let mut events = Vec::new();
        let outcome = self.sse.push(bytes, &mut events);
        for event in &events {
            self.event(event, out);
        }
        if let Err(problem) = outcome {
            self.fail(CallErrorKind::Protocol, problem.to_string(), out);
        }
    }

    /// Takes the end of the stream.
    pub fn end(&mut self, out: &mut Vec<ModelEvent>) {
        let last = core::mem::take(&mut self.sse).end();
        if let Some(event) = last.filter(is_whole) {
            self.event(&event, out);
        }
        if self.finish.is_some() {
            self.finished(out);
        } else {
            self.fail(CallErrorKind::Truncated, "The stream ended before the answer did.".into(), out);
        }
    }

    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) {
        let data = event.data.trim();
        if self.over || data.is_empty() {
            return;
        }
        if data == "[DONE]" {
            return self.finished(out);
        }
        if event.name == "error" {
            return self.reported(error::report_text(data), out);
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.chunk(chunk, data, out),
            Err(problem) => self.fail(CallErrorKind::Protocol, not_a_chunk(data, &problem), out),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, data: &str, out: &mut Vec<ModelEvent>) {
        if chunk.object == "error" || error::is_said(&chunk.error) {
            return self.reported(error::report_text(data), out);
        }
        let first = |choice: &Choice<'_>| choice.index.as_u64().unwrap_or(0) == 0;
        for choice in chunk.choices.unwrap_or_default().into_iter().filter(first) {
            self.choice(choice, out);
        }
        self.usage(chunk.usage.and_then(wire::usage), out);
    }

    fn choice(&mut self, choice: Choice<'_>, out: &mut Vec<ModelEvent>) {
        if let Some(delta) = choice.delta {
            self.delta(delta, out);
        }
        self.usage(choice.usage.and_then(wire::usage), out);
        if error::is_said(&choice.error) {
            return self.reported(error::report(&choice.error), out);
        }
        match choice.finish_reason.as_str() {
            None | Some("") => {}
            // The answer did not end, it broke: OpenRouter's word for it, and DeepSeek's for want of machines.
            Some(code @ ("error" | "insufficient_system_resource")) => {
                self.reported(
                    Report { code: code.into(), message: format!("The answer broke off: {code}.") },
                    out,
                );
            }
            Some(reason) => self.finish = Some(finish_reason(reason)),
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<ModelEvent>) {
        let thought = [delta.reasoning_content, delta.reasoning].map(wire::text);
        self.say(
            Voice::Reasoning,
            thought.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
            out,
        );
        for (voice, text) in content(delta.content) {
            self.say(voice, text, out);
        }
        self.say(Voice::Text, wire::text(delta.refusal), out);
        let old = delta
            .function_call
            .map(|function| CallDelta { function: Some(function), ..CallDelta::default() });
        for call in delta.tool_calls.unwrap_or_default().into_iter().chain(old) {
            self.call(call, out);
        }
    }

    fn say(&mut self, voice: Voice, text: String, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        let block = match self.open {
            Some((open, block)) if open == voice => block,
            _ => next(&mut self.blocks),
        };
        self.open = Some((voice, block));
        out.push(match voice {
            Voice::Text => ModelEvent::Text { block, text },
            Voice::Reasoning => ModelEvent::Reasoning { block, text },
        });
    }

    fn call(&mut self, delta: CallDelta, out: &mut Vec<ModelEvent>) {
        let (index, id) = (delta.index.as_u64(), wire::id(delta.id));
        let function = delta.function.unwrap_or_default();
        let name = wire::text(function.name);
        let arguments = function.arguments.map(|arguments| arguments.0).unwrap_or_default();
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return;
        }
        let call = self.calls.place(index, &id, &name);
        match call.block {
            Some(block) => input(block, arguments, out),
            None => call.pending.push_str(&arguments),
        }
        if call.block.is_none() && !name.is_empty() {
            let block = next(&mut self.blocks);
            call.block = Some(block);
            out.push(ModelEvent::Call { block, id: call.id.clone(), name });
            input(block, core::mem::take(&mut call.pending), out);
            self.open = None;
        }
    }

    fn usage(&mut self, usage: Option<Usage>, out: &mut Vec<ModelEvent>) {
        if let Some(usage) = usage.filter(|usage| self.usage != Some(*usage)) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
    }

    /// The answer is over. Calls without a name are told all the same, so that the model learns that they were.
    fn finished(&mut self, out: &mut Vec<ModelEvent>) {
        if core::mem::replace(&mut self.over, true) {
            return;
        }
        for call in self.calls.iter_mut().filter(|call| call.block.is_none()) {
            let block = next(&mut self.blocks);
            call.block = Some(block);
            out.push(ModelEvent::Call { block, id: call.id.clone(), name: String::new() });
            input(block, core::mem::take(&mut call.pending), out);
        }
        out.push(ModelEvent::Finished(match self.finish {
            // Several servers say `stop` of an answer that calls tools.
            None | Some(FinishReason::Stop) if !self.calls.is_empty() => FinishReason::ToolCalls,
            None => FinishReason::Unknown,
            Some(reason) => reason,
        }));
    }

    fn reported(&mut self, report: Report, out: &mut Vec<ModelEvent>) {
        let silent = report.message.is_empty();
        let message =
            if silent { "The provider reported an error without a message.".into() } else { report.message };
        self.fail(CallErrorKind::Stream { code: report.code }, message, out);
    }

    fn fail(&mut self, kind: CallErrorKind, message: String, out: &mut Vec<ModelEvent>) {
        if !core::mem::replace(&mut self.over, true) {
            out.push(ModelEvent::Failed(CallError { kind, message, retry_after: None, should_retry: None }));
        }
    }
}

fn next(blocks: &mut u32) -> u32 {
    let block = *blocks;
    *blocks += 1;
    block
}

fn input(block: u32, text: String, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Input { block, text });
    }
}

/// Whether what the stream ended with can be taken for an event and not for the beginning of one.
fn is_whole(event: &SseEvent) -> bool {
    event.data.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(&event.data).is_ok()
}

fn not_a_chunk(data: &str, problem: &serde_json::Error) -> String {
    format!("The provider sent {:?}, which is no chat completion chunk ({problem}).", one_line(data, 200))
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Unknown,
    }
}

/// What content says: a string, or Mistral's list of parts, some of which are thoughts.
fn content(content: Value) -> Vec<(Voice, String)> {
    let Value::Array(parts) = content else {
        return Vec::from([(Voice::Text, wire::text(content))]);
    };
    let part = |part: &Value| match part["thinking"].as_array() {
        Some(thoughts) => {
            (Voice::Reasoning, thoughts.iter().filter_map(|thought| thought["text"].as_str()).collect())
        }
        None => (Voice::Text, part["text"].as_str().unwrap_or_default().to_string()),
    };
    parts.iter().map(part).collect()
}
