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
use super::foreign::Beginning;
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
    beginning: Beginning,
    answer: Answer,
    dialect: D,
}

impl<D: Dialect> Decoder for Stream<D> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) {
        if self.answer.is_over() {
            return;
        }
        let mut events = Vec::new();
        self.beginning.push(bytes);
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
            match self.beginning.judge() {
                Some(error) => self.answer.abort(error),
                None => self.dialect.end(&mut self.answer),
            }
        }
        self.answer.take(out);
    }
}

impl<D: Dialect> Stream<D> {
    fn event(&mut self, event: &SseEvent) {
        self.beginning.is_stream();
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::model::{CallErrorKind, FinishReason, ModelEvent};
    use crate::provider::wire::Protocol;

    /// What the beginning of a stream says.
    fn said(protocol: Protocol, stream: &str) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        protocol.decoder().push(stream.as_bytes(), &mut out);
        out
    }

    #[test]
    fn a_model_that_is_done_is_known_to_be_before_the_stream_ends() {
        for (protocol, stream) in [
            (
                Protocol::Chat,
                r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]},"finish_reason":"stop"}]}"#,
            ),
            (
                Protocol::Messages,
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"\",\"input\":{}}}\n\n\
                 data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
                 data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}",
            ),
            (
                Protocol::Gemini,
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"args":{}}}]},"finishReason":"STOP"}]}"#,
            ),
        ] {
            let events = said(protocol, &alloc::format!("data: {stream}\n\n"));
            let [ModelEvent::Call { .. }, ModelEvent::Input { text, .. }, end] = &events[..] else {
                panic!("{events:?}")
            };
            assert_eq!((text.as_str(), end), ("{}", &ModelEvent::Ending(FinishReason::ToolCalls)));
        }
    }

    #[test]
    fn an_answer_of_nothing_is_one_where_the_model_is_said_to_be_done_and_else_broken_off() {
        let start = r#"data: {"type":"message_start","message":{"content":[]}}"#;
        let done = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
        let stop = r#"data: {"type":"message_stop"}"#;
        let messages = [start, done, stop].join("\n\n");
        for (protocol, said, silent) in [
            (
                Protocol::Chat,
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]",
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: [DONE]",
            ),
            (Protocol::Messages, messages.as_str(), &[start, stop].join("\n\n")),
            (
                Protocol::Responses,
                r#"data: {"type":"response.completed","response":{"status":"completed","output":[]}}"#,
                r#"data: {"type":"response.created","response":{"status":"in_progress","output":[]}}"#,
            ),
            (
                Protocol::Gemini,
                r#"data: {"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}"#,
                r#"data: {"candidates":[{"content":{"parts":[{"text":""}]}}]}"#,
            ),
        ] {
            let ends = |stream: &str| {
                let (mut decoder, mut out) = (protocol.decoder(), Vec::new());
                decoder.push(alloc::format!("{stream}\n\n").as_bytes(), &mut out);
                decoder.end(&mut out);
                out.retain(|event| matches!(event, ModelEvent::Finished(_) | ModelEvent::Failed(_)));
                out
            };
            assert!(matches!(ends(said)[..], [ModelEvent::Finished(FinishReason::Stop)]), "{protocol:?}");
            let [ModelEvent::Failed(error)] = &ends(silent)[..] else { panic!("{protocol:?}") };
            assert_eq!(error.kind, CallErrorKind::Truncated, "{protocol:?}");
        }
    }

    #[test]
    fn what_is_no_stream_is_said_to_be_none() {
        for protocol in Protocol::ALL {
            for (body, kind) in [
                (
                    r#"{"error":{"message":"Busy.","code":"overloaded"}}"#,
                    CallErrorKind::Stream { code: "overloaded".into() },
                ),
                ("<html>", CallErrorKind::Protocol),
                ("", CallErrorKind::Truncated),
                ("data: {\"half", CallErrorKind::Truncated),
                (": ping\n\n", CallErrorKind::Truncated),
                ("data: [DONE]\n\n", CallErrorKind::Truncated),
            ] {
                let (mut decoder, mut out) = (protocol.decoder(), Vec::new());
                decoder.push(body.as_bytes(), &mut out);
                decoder.end(&mut out);
                let [ModelEvent::Failed(error)] = &out[..] else { panic!("{body}: {out:?}") };
                assert_eq!(error.kind, kind, "{protocol:?} {body}");
            }
        }
    }
}
