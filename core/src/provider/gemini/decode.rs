//! The stream that answers a Gemini request, as events of ours.
//!
//! Each chunk has more parts of the answer; calls come whole. The stream has no last word of its own: it is over when
//! the connection is, and complete if a reason was given for finishing.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::Value;
use serde_json::value::RawValue;

use super::seal::{Seal, is_signature};
use super::wire::{self, Candidate, Chunk, FunctionCall, Part};
use crate::model::{CallError, CallErrorKind, FinishReason};
use crate::provider::answer::{Answer, Voice};
use crate::provider::excerpt::{MESSAGE, one_line};
use crate::provider::lenient;
use crate::provider::refusal;
use crate::provider::sse::SseEvent;
use crate::provider::stream::{Dialect, read};

/// What has to be remembered of a Gemini stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Gemini {
    finish: Option<FinishReason>,
}

impl Dialect for Gemini {
    fn event(&mut self, event: &SseEvent, answer: &mut Answer) {
        let data = event.data.trim();
        if data == "[DONE]" {
            return self.end(answer);
        }
        let Some(chunk) = read::<Chunk<'_>>(data, "Gemini chunk", answer) else { return };
        if refusal::is_said(&chunk.error) {
            return broken(&chunk.error, data, answer);
        }
        if let Some(usage) = chunk.usage_metadata.and_then(wire::usage) {
            answer.usage(usage);
        }
        if chunk.prompt_feedback["blockReason"].is_string() {
            self.ends(FinishReason::ContentFilter, answer);
        }
        let first = |candidate: &Candidate<'_>| candidate.index.as_u64().unwrap_or(0) == 0;
        for candidate in chunk.candidates.unwrap_or_default().into_iter().filter(first) {
            self.candidate(candidate, answer);
        }
    }

    fn end(&mut self, answer: &mut Answer) {
        if self.finish.is_some() { answer.finish(self.finish) } else { answer.cut() }
    }
}

impl Gemini {
    fn ends(&mut self, reason: FinishReason, answer: &mut Answer) {
        self.finish = Some(reason);
        answer.ending(reason);
    }

    fn candidate(&mut self, candidate: Candidate<'_>, answer: &mut Answer) {
        let parts = candidate.content.and_then(|content| content.parts);
        for part in parts.unwrap_or_default() {
            take(part, answer);
        }
        match candidate.finish_reason.as_str().unwrap_or_default() {
            "" => {}
            reason @ ("MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL") => {
                garbled(reason, candidate.finish_message, answer);
            }
            reason => self.ends(finish_reason(reason), answer),
        }
    }
}

fn take(part: Part<'_>, answer: &mut Answer) {
    let signature = part.thought_signature.filter(|signature| is_signature(signature));
    if let Some(function) = part.function_call {
        return call(function, signature, answer);
    }
    let voice = if part.thought == true { Voice::Reasoning } else { Voice::Text };
    let text = lenient::text(part.text);
    match signature {
        Some(signature) => signed(voice, text, signature, answer),
        None => drop(answer.say(voice, text)),
    }
}

fn call(function: FunctionCall<'_>, signature: Option<&RawValue>, answer: &mut Answer) {
    let block = answer.call(lenient::id(function.id), lenient::text(function.name));
    let arguments = function.args.map(RawValue::get).filter(|arguments| *arguments != "null");
    answer.input(block, arguments.unwrap_or_default().to_string());
    if let Some(signature) = signature {
        answer.seal(block, signature.get());
    }
}

/// A signed part is a block of its own, so that it can go back as it came.
fn signed(voice: Voice, text: String, signature: &RawValue, answer: &mut Answer) {
    let thought = voice == Voice::Reasoning;
    let kept = thought || !text.trim().is_empty();
    let mut block = answer.begin();
    let own = (!kept).then(|| text.clone().into());
    if kept {
        answer.speak(block, voice, text);
    }
    if kept && !thought {
        block = answer.begin();
    }
    answer.seal(block, &Seal { thought, text: own, thought_signature: signature }.write());
}

/// The provider reported an error. Its number says best what kind that is.
fn broken(error: &Value, data: &str, answer: &mut Answer) {
    let mut report = refusal::report_text(data);
    if let Some(number) = error["code"].as_u64() {
        report.code = number.to_string();
    }
    answer.report(report);
}

/// The model wrote something that could not be understood at the provider. It is not bound to do so again.
fn garbled(reason: &str, message: Value, answer: &mut Answer) {
    let message = match one_line(&lenient::text(message), MESSAGE) {
        message if message.is_empty() => {
            format!("The model's answer could not be read at the provider: {reason}.")
        }
        message => message,
    };
    let kind = CallErrorKind::Stream { code: reason.into() };
    answer.abort(CallError { kind, message, retry_after: None, should_retry: Some(true) });
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            FinishReason::ContentFilter
        }
        _ => FinishReason::Unknown,
    }
}
