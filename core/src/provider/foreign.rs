//! What came where a stream of events was expected and is none: an error or an answer as one JSON text, a web page,
//! compressed data, plain words.
//!
//! Who answers so has something to say that would be lost if the stream were only called cut off. A body that may be the
//! beginning of a stream is not judged here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::excerpt::one_line;
use super::refusal;
use crate::model::{CallError, CallErrorKind};

/// As much of a body as is kept for that.
const KEPT: usize = 64 << 10;

/// As much of it as is shown.
const SHOWN: usize = 200;

/// The names of fields with which a line of a stream of events begins; a comment has none.
const FIELDS: [&str; 6] = ["data", "event", "id", "retry", "error", ""];

/// The beginning of a body of which no event has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginning {
    bytes: Vec<u8>,
    over: bool,
}

impl Beginning {
    /// Takes the next bytes of the body.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.over {
            let room = KEPT.saturating_sub(self.bytes.len()).min(bytes.len());
            self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
    }

    /// An event has come, so it is a stream.
    pub(super) fn is_stream(&mut self) {
        self.over = true;
        self.bytes = Vec::new();
    }

    /// What the whole body is, if it is certain that it is no stream.
    pub(super) fn judge(&self) -> Option<CallError> {
        if self.over {
            return None;
        }
        let text = match core::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            // Its last letter was cut.
            Err(error) if error.error_len().is_none() => self.valid(error.valid_up_to()),
            Err(_) => return self.unreadable(),
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        match text.chars().next()? {
            '<' => Some(protocol(&format!("{} {ADVICE}", sentence(&refusal::report_text(text).message)))),
            '{' | '[' => json(text),
            _ if begins_a_stream(text) => None,
            _ => Some(words(text)),
        }
    }

    fn valid(&self, end: usize) -> &str {
        self.bytes.get(..end).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// A body that is no text.
    fn unreadable(&self) -> Option<CallError> {
        let text = String::from_utf8_lossy(&self.bytes);
        if begins_a_stream(text.trim()) {
            return None;
        }
        let what = if self.bytes.starts_with(&[0x1f, 0x8b]) {
            "compressed data (gzip)"
        } else {
            "data that is no text"
        };
        Some(protocol(&format!("The provider sent {what} in place of a stream of events. {ADVICE}")))
    }
}

const ADVICE: &str = "Check that its base URL is that of the API.";

fn begins_a_stream(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let name = line.split(':').next().unwrap_or_default();
    FIELDS.contains(&name) || (!line.contains(':') && FIELDS.iter().any(|field| field.starts_with(line)))
}

/// An error as it would stand in a refusal, or an answer that is no stream. A text that breaks off says nothing.
fn json(text: &str) -> Option<CallError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = match values.next()? {
        Ok(value) => value,
        Err(error) if error.is_eof() => return None,
        Err(_) => return Some(words(text)),
    };
    let report = refusal::report(&value);
    if report.message.is_empty() {
        return Some(words(text));
    }
    let kind = CallErrorKind::Stream { code: report.code };
    Some(CallError { kind, message: report.message, retry_after: None, should_retry: None })
}

fn words(text: &str) -> CallError {
    protocol(&format!("The provider sent no stream of events but {:?}. {ADVICE}", one_line(text, SHOWN)))
}

/// The text with a full stop.
fn sentence(text: &str) -> String {
    if text.ends_with('.') { text.to_string() } else { format!("{text}.") }
}

fn protocol(message: &str) -> CallError {
    CallError {
        kind: CallErrorKind::Protocol,
        message: message.to_string(),
        retry_after: None,
        should_retry: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a body that comes in pieces of so many bytes.
    fn judged(body: &[u8], size: usize) -> Option<CallError> {
        let mut beginning = Beginning::default();
        body.chunks(size).for_each(|piece| beginning.push(piece));
        beginning.judge()
    }

    #[track_caller]
    fn check(body: &[u8], kind: CallErrorKind, message: &str) {
        for size in [1, 7, 1 << 20] {
            let error = judged(body, size).unwrap();
            assert_eq!((&error.kind, error.message.as_str()), (&kind, message));
        }
    }

    fn stream(code: &str) -> CallErrorKind {
        CallErrorKind::Stream { code: code.into() }
    }

    #[test]
    fn an_error_is_what_the_provider_says() {
        check(br#"{"error":{"message":"Slow down.","code":429}}"#, stream("429"), "Slow down.");
        check(
            b" \n[{\"error\":{\"code\":503,\"message\":\"Busy\",\"status\":\"UNAVAILABLE\"}}]",
            stream("UNAVAILABLE"),
            "Busy",
        );
        check(b"{\"error\":\"no such model\"}\n{\"done\":true}\n", stream(""), "no such model");
        check("\u{feff}{\"detail\":\"Not Found\"}".as_bytes(), stream(""), "Not Found");
    }

    #[test]
    fn what_is_no_stream_is_named_and_quoted() {
        let whole = br#"{"choices":[{"message":{"content":"Hi"}}]}"#;
        check(
            whole,
            CallErrorKind::Protocol,
            r#"The provider sent no stream of events but "{\"choices\":[{\"message\":{\"content\":\"Hi\"}}]}". Check that its base URL is that of the API."#,
        );
        check(
            b"<html><title>Sign in</title>",
            CallErrorKind::Protocol,
            "A web page came in place of an answer: Sign in. Check that its base URL is that of the API.",
        );
        check(
            b"It works!",
            CallErrorKind::Protocol,
            "The provider sent no stream of events but \"It works!\". Check that its base URL is that of the API.",
        );
        check(
            b"{nonsense}",
            CallErrorKind::Protocol,
            "The provider sent no stream of events but \"{nonsense}\". Check that its base URL is that of the API.",
        );
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        check(
            &gzip,
            CallErrorKind::Protocol,
            "The provider sent compressed data (gzip) in place of a stream of events. Check that its base URL is that of the API.",
        );
    }

    #[test]
    fn what_may_be_the_beginning_of_a_stream_is_not_judged() {
        for body in [
            "",
            " \n",
            "data: {\"x\"",
            "da",
            ": ping\n\n",
            "event: message_start\n",
            "{\"error\":{\"mess",
            "error: {",
        ] {
            assert_eq!(judged(body.as_bytes(), 3), None, "{body:?}");
        }
        assert_eq!(judged(&"data: é".as_bytes()[..7], 3), None, "a letter that is cut");
        let mut beginning = Beginning::default();
        beginning.is_stream();
        beginning.push(b"<html>");
        assert_eq!(beginning.judge(), None);
    }

    #[test]
    fn little_is_kept() {
        let mut beginning = Beginning::default();
        for _ in 0..3 {
            beginning.push(&[b'x'; KEPT]);
        }
        assert_eq!(beginning.bytes.len(), KEPT);
        assert!(beginning.judge().is_some_and(|error| error.message.len() < 400));
    }
}
