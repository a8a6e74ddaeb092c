//! The stream that answers a chat completions request, as events of ours.
//!
//! Servers differ; what each is known to do otherwise is tolerated here, in `wire` and in `calls`, and what would have
//! to be guessed is an error. The events begin after `Connected`, which only whoever holds the connection can tell.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::calls::{Calls, PartialCall};
use super::thoughts::Thoughts;
use super::wire::{self, CallDelta, Choice, Chunk, Delta};
use crate::model::FinishReason;
use crate::provider::answer::{Answer, Voice};
use crate::provider::lenient;
use crate::provider::refusal::{self, Report};
use crate::provider::sse::SseEvent;
use crate::provider::stream::{Dialect, read};

/// What has to be remembered of a stream of chat completions.
#[derive(Clone, Debug, Default)]
pub(super) struct Chat {
    calls: Calls,
    thoughts: Thoughts,
    finish: Option<FinishReason>,
}

impl Dialect for Chat {
    fn event(&mut self, event: &SseEvent, answer: &mut Answer) {
        let data = event.data.trim();
        if data == "[DONE]" {
            return self.finished(answer);
        }
        if event.name == "error" {
            return answer.report(refusal::report_text(data));
        }
        if let Some(chunk) = read::<Chunk<'_>>(data, "chat completion chunk", answer) {
            self.chunk(chunk, data, answer);
        }
    }

    fn end(&mut self, answer: &mut Answer) {
        if self.finish.is_some() { self.finished(answer) } else { answer.cut() }
    }
}

impl Chat {
    fn chunk(&mut self, chunk: Chunk<'_>, data: &str, answer: &mut Answer) {
        if chunk.object == "error" || refusal::is_said(&chunk.error) {
            return answer.report(refusal::report_text(data));
        }
        let first = |choice: &Choice<'_>| choice.index.as_u64().unwrap_or(0) == 0;
        for choice in chunk.choices.unwrap_or_default().into_iter().filter(first) {
            self.choice(choice, answer);
        }
        if let Some(usage) = chunk.usage.and_then(wire::usage) {
            answer.usage(usage);
        }
    }

    fn choice(&mut self, choice: Choice<'_>, answer: &mut Answer) {
        if let Some(delta) = choice.delta {
            self.delta(delta, answer);
        }
        if let Some(usage) = choice.usage.and_then(wire::usage) {
            answer.usage(usage);
        }
        if refusal::is_said(&choice.error) {
            return answer.report(refusal::report(&choice.error));
        }
        match choice.finish_reason.as_str() {
            None | Some("") => {}
            // The answer did not end, it broke: OpenRouter's word for it, and DeepSeek's for want of machines.
            Some(code @ ("error" | "insufficient_system_resource")) => {
                let message = format!("The answer broke off: {code}.");
                answer.report(Report { code: code.into(), message });
            }
            Some(reason) => {
                let reason = finish_reason(reason);
                self.finish = Some(reason);
                self.settle(answer);
                answer.ending(reason);
            }
        }
    }

    fn delta(&mut self, delta: Delta, answer: &mut Answer) {
        if delta.reasoning_content.is_string() {
            self.thoughts.has_content();
        }
        let details = self.thoughts.details(delta.reasoning_details);
        let thought = [lenient::text(delta.reasoning_content), lenient::text(delta.reasoning), details];
        let thought = thought.into_iter().find(|text| !text.is_empty()).map(|text| (Voice::Reasoning, text));
        for (voice, text) in thought.into_iter().chain(content(delta.content)) {
            if let Some(block) = answer.say(voice, text).filter(|_| voice == Voice::Reasoning) {
                self.thoughts.are_in(block);
            }
        }
        answer.say(Voice::Text, lenient::text(delta.refusal));
        let old = delta
            .function_call
            .map(|function| CallDelta { function: Some(function), ..CallDelta::default() });
        for call in delta.tool_calls.unwrap_or_default().into_iter().chain(old) {
            self.call(call, answer);
        }
    }

    fn call(&mut self, delta: CallDelta, answer: &mut Answer) {
        let (index, id) = (delta.index.as_u64(), lenient::id(delta.id));
        let function = delta.function.unwrap_or_default();
        let name = lenient::text(function.name);
        let arguments = function.arguments.map(|arguments| arguments.0).unwrap_or_default();
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return;
        }
        let call = self.calls.place(index, &id, &name);
        match call.block {
            Some(block) => answer.input(block, arguments),
            None => call.pending.push_str(&arguments),
        }
        if call.block.is_none() && !name.is_empty() {
            begin(call, name, answer);
        }
    }

    fn finished(&mut self, answer: &mut Answer) {
        self.settle(answer);
        answer.finish(self.finish);
    }

    /// Calls without a name are told all the same, so that the model learns that they were. Then thoughts are sealed.
    fn settle(&mut self, answer: &mut Answer) {
        for call in self.calls.iter_mut().filter(|call| call.block.is_none()) {
            begin(call, String::new(), answer);
        }
        self.thoughts.seal(answer.calls(), answer);
    }
}

fn begin(call: &mut PartialCall, name: String, answer: &mut Answer) {
    let block = answer.call(call.id.clone(), name);
    call.block = Some(block);
    answer.input(block, core::mem::take(&mut call.pending));
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
        return Vec::from([(Voice::Text, lenient::text(content))]);
    };
    let part = |part: &Value| match part["thinking"].as_array() {
        Some(thoughts) => {
            (Voice::Reasoning, thoughts.iter().filter_map(|thought| thought["text"].as_str()).collect())
        }
        None => (Voice::Text, part["text"].as_str().unwrap_or_default().to_string()),
    };
    parts.iter().map(part).collect()
}
