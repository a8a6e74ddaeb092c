//! Streams in the shapes in which Google sends them, and the events that they must become.

use proptest::prelude::*;

use super::decoder;
use crate::model::{CallErrorKind, ModelEvent};
use crate::provider::fixture::streams::{self, Transcript, check_one_end, row};

/// A stream of those chunks, with line ends as Google writes them.
fn stream(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\r\n\r\n")).collect()
}

/// A stream of chunks with nothing but those parts, which ends as it should.
fn parts(parts: &[&str]) -> String {
    let chunk = |part: &&str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}]}}"#)
    };
    let chunks: Vec<String> = parts.iter().map(chunk).collect();
    let mut data: Vec<&str> = chunks.iter().map(String::as_str).collect();
    data.push(r#"{"candidates":[{"finishReason":"STOP"}]}"#);
    stream(&data)
}

const TEXT: &[&str] = &[
    r#"{"candidates":[{"content":{"parts":[{"text":"Héllo"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":8,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}]},"modelVersion":"gemini","responseId":"r"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":" 😀"}],"role":"model"},"finishReason":"STOP","index":0,"safetyRatings":[]}],"usageMetadata":{"promptTokenCount":8,"cachedContentTokenCount":6,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":15},"modelVersion":"gemini"}"#,
];

const CALLS: &[&str] = &[
    r#"{"candidates":[{"content":{"parts":[{"text":"**Looking**","thought":true}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{"path": ".", "depth":2}},"thoughtSignature":"Cs\/=="},{"functionCall":{"id":"b","name":"glob"}}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
];

/// Whole answers.
fn answers() -> Vec<Transcript> {
    vec![
        row(
            "text",
            stream(TEXT),
            &["usage 8 0 0 0 0", "0 text Héllo", "usage 2 7 6 0 3", "0 text  😀", "finished Stop"],
        ),
        row(
            "calls",
            stream(CALLS),
            &[
                "0 thought **Looking**",
                "1 call ls ",
                r#"1 input {"path": ".", "depth":2}"#,
                r#"1 seal "Cs\/==""#,
                "2 call glob b",
                "finished ToolCalls",
            ],
        ),
        row(
            "signed texts and thoughts",
            parts(&[
                r#"{"text":"a"}"#,
                r#"{"text":"b","thoughtSignature":"1"}"#,
                r#"{"text":"c"}"#,
                r#"{"text":"","thoughtSignature":"2\/"}"#,
                r#"{"text":"d","thought":true},{"text":"e","thought":true,"thoughtSignature":"3"}"#,
                r#"{"thought":true,"thoughtSignature":"4"}"#,
                r#"{"text":"f","thoughtSignature":""}"#,
                r#"{"text":"g","thoughtSignature":null}"#,
            ]),
            &[
                "0 text a",
                "1 text b",
                r#"2 seal {"thoughtSignature":"1"}"#,
                "3 text c",
                r#"4 seal {"text":"","thoughtSignature":"2\/"}"#,
                "5 thought d",
                "6 thought e",
                r#"6 seal {"thought":true,"thoughtSignature":"3"}"#,
                r#"7 seal {"thought":true,"thoughtSignature":"4"}"#,
                "8 text f",
                "8 text g",
                "finished Stop",
            ],
        ),
        row(
            "parts of other kinds",
            parts(&[
                r#"{"executableCode":{"code":"1"}}"#,
                r#"{"text":7}"#,
                r#"{"functionCall":{"name":"ls","args":null}}"#,
            ]),
            &["0 call ls ", "finished ToolCalls"],
        ),
        row(
            "other candidates",
            stream(&[
                r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}"#,
            ]),
            &["failed Truncated"],
        ),
    ]
}

/// How streams end.
fn ends() -> Vec<Transcript> {
    let text = stream(&[r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#]);
    let finish = |reason: &str| stream(&[&format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#)]);
    vec![
        row("empty", String::new(), &["failed Truncated"]),
        row("cut", text.clone(), &["0 text a", "failed Truncated"]),
        row("cut in a chunk", format!("{text}data: {{\"can"), &["0 text a", "failed Truncated"]),
        row("no empty line at the end", finish("STOP").trim().into(), &["finished Stop"]),
        row("done", finish("STOP") + "data: [DONE]\n\n", &["finished Stop"]),
        row(
            "usage at last",
            finish("STOP") + &stream(&[r#"{"usageMetadata":{"promptTokenCount":3}}"#]),
            &["usage 3 0 0 0 0", "finished Stop"],
        ),
        row("max_tokens", finish("MAX_TOKENS"), &["finished Length"]),
        row("safety", finish("SAFETY"), &["finished ContentFilter"]),
        row("recitation", finish("RECITATION"), &["finished ContentFilter"]),
        row("other", finish("OTHER"), &["finished Unknown"]),
        row(
            "a prompt that is blocked",
            stream(&[
                r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":12}}"#,
            ]),
            &["usage 12 0 0 0 0", "finished ContentFilter"],
        ),
        row(
            "a prompt that is not",
            stream(&[r#"{"promptFeedback":{"safetyRatings":[]}}"#]),
            &["failed Truncated"],
        ),
        row(
            "a call that is none",
            text.clone() + &finish("MALFORMED_FUNCTION_CALL"),
            &[
                "0 text a",
                "failed stream MALFORMED_FUNCTION_CALL: The model's answer could not be read at the provider: MALFORMED_FUNCTION_CALL.",
            ],
        ),
        row(
            "a call that is none, with a word",
            stream(&[
                r#"{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL","finishMessage":"Tool x\nis not there."}]}"#,
            ]),
            &["failed stream UNEXPECTED_TOOL_CALL: Tool x is not there."],
        ),
        row(
            "error",
            text.clone()
                + &stream(&[
                    r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
                ]),
            &["0 text a", "failed stream 503: The model is overloaded."],
        ),
        row("broken", format!("{text}data: {{]\n\n{text}"), &["0 text a", "failed Protocol"]),
        row("not an object", "data: 7\n\n".into(), &["failed Protocol"]),
    ]
}

#[test]
fn a_garbled_answer_is_worth_another_attempt() {
    let (mut decoder, mut out) = (decoder(), Vec::new());
    let stream = stream(&[r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#]);
    decoder.push(stream.as_bytes(), &mut out);
    let [ModelEvent::Failed(error)] = &out[..] else { panic!("{out:?}") };
    assert!(matches!(error.kind, CallErrorKind::Stream { .. }));
    assert_eq!(error.should_retry, Some(true));
}

proptest! {
    #[test]
    fn streams_become_these_events_however_they_are_split(sizes in prop::collection::vec(1usize..50, 1..20)) {
        streams::check(decoder, &answers(), &sizes);
        streams::check(decoder, &ends(), &sizes);
    }

    #[test]
    fn whatever_comes_there_is_one_end(bytes in prop::collection::vec(any::<u8>(), 0..200), at: usize) {
        check_one_end(decoder(), &stream(CALLS), bytes, at);
    }
}
