//! Streams in the shapes in which Anthropic and those who offer the same send them, and the events that they must become.

use proptest::prelude::*;

use super::decoder;
use crate::provider::fixture::streams::{self, Transcript, check_one_end, row};

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":90,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const END_TURN: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#;

/// A stream of those events, each under the name that its data has.
fn stream(data: &[&str]) -> String {
    let event = |data: &&str| {
        let value: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap_or_default())
    };
    data.iter().map(event).collect()
}

/// A message of those events between its start and its end.
fn message(data: &[&str]) -> String {
    let all: Vec<&str> = [START].into_iter().chain(data.iter().copied()).chain([END_TURN, STOP]).collect();
    stream(&all)
}

const TEXT: &[&str] = &[
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type": "ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Héllo"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" 😀"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
];

const THINKING_AND_CALLS: &[&str] = &[
    START,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":" look."}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB\/+=="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking", "data":"Zm9v"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_A","name":"ls","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \".\""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_B","name":"glob","input":{}}}"#,
    r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":90,"output_tokens":89,"output_tokens_details":{"thinking_tokens":60}}}"#,
    STOP,
];

/// Whole messages.
fn messages() -> Vec<Transcript> {
    vec![
        row(
            "text",
            message(TEXT),
            &["usage 25 1 90 7 0", "0 text Héllo", "0 text  😀", "usage 25 15 90 7 0", "finished Stop"],
        ),
        row(
            "thinking and calls",
            stream(THINKING_AND_CALLS),
            &[
                "usage 25 1 90 7 0",
                "0 thought Let me",
                "0 thought  look.",
                r#"0 seal "EqQB\/+==""#,
                r#"1 seal {"type":"redacted_thinking", "data":"Zm9v"}"#,
                "2 call ls toolu_A",
                r#"2 input {"path": ".""#,
                "2 input }",
                "3 call glob toolu_B",
                "3 input {}",
                "usage 25 89 90 7 60",
                "finished ToolCalls",
            ],
        ),
        row(
            "a thought that is not shown",
            message(&[
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"a"}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"b"}}"#,
            ]),
            &["usage 25 1 90 7 0", r#"0 seal "a""#, r#"0 seal "b""#, "usage 25 15 90 7 0", "finished Stop"],
        ),
        row(
            "whole blocks without deltas",
            stream(&[
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm","signature":"s"}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}"#,
                r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":7,"name":"ls","input":{"b":1, "a":2}}}"#,
                r#"{"type":"content_block_stop","index":2}"#,
                r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"x","name":"ls"}}"#,
                r#"{"type":"content_block_stop","index":3}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
            ]),
            &[
                "0 thought Hm",
                r#"0 seal "s""#,
                "1 text a",
                "2 call ls 7",
                r#"2 input {"b":1, "a":2}"#,
                "3 call ls x",
                "finished ToolCalls",
            ],
        ),
        row(
            "blocks of others, and out of order",
            stream(&[
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
                r#"{"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"a"}}"#,
                r#"{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"b"}}"#,
                r#"{"type":"content_block_delta","index":5,"delta":{"type":"citations_delta","citation":{}}}"#,
                r#"{"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"c"}}"#,
                r#"{"type":"something_new","index":5}"#,
                STOP,
            ]),
            &["0 text a", "1 text b", "0 text c", "finished Unknown"],
        ),
        row(
            "events without names, types only in the name",
            format!(
                "event: content_block_delta\ndata: {{\"index\":0,\"delta\":{{\"text\":\"a\"}}}}\n\ndata: {STOP}\n\n"
            ),
            &["0 text a", "finished Unknown"],
        ),
    ]
}

/// How streams end.
fn ends() -> Vec<Transcript> {
    let text =
        stream(&[r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#]);
    let stop = |reason: &str| {
        let delta = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        stream(&[&delta, STOP])
    };
    vec![
        row("empty", String::new(), &["failed Truncated"]),
        row("cut", text.clone(), &["0 text a", "failed Truncated"]),
        row("cut in an event", format!("{text}event: x\ndata: {{\"ty"), &["0 text a", "failed Truncated"]),
        row("stop only", stream(&[STOP]), &["failed Truncated"]),
        row("stop without delta", text.clone() + &stream(&[STOP]), &["0 text a", "finished Unknown"]),
        row("delta without stop", stream(&[END_TURN]), &["usage 0 15 0 0 0", "finished Stop"]),
        row("done", format!("{text}data: [DONE]\n\n"), &["0 text a", "failed Truncated"]),
        row("after the end", text.clone() + &stream(&[STOP]) + &text, &["0 text a", "finished Unknown"]),
        row("stop_sequence", stop("stop_sequence"), &["finished Stop"]),
        row("max_tokens", stop("max_tokens"), &["finished Length"]),
        row("window", stop("model_context_window_exceeded"), &["finished Length"]),
        row("refusal", stop("refusal"), &["finished ContentFilter"]),
        row("pause_turn", stop("pause_turn"), &["finished Unknown"]),
        row("tool_use", stop("tool_use"), &["finished ToolCalls"]),
        row(
            "overloaded",
            text.clone()
                + &stream(&[
                    r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}"#,
                ]),
            &["0 text a", "failed stream overloaded_error: Overloaded"],
        ),
        row(
            "an error without details",
            stream(&[r#"{"type":"error","error":{"type":"api_error"}}"#]),
            &["failed stream api_error: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"}}"],
        ),
        row("an error of another kind", "data: {\"error\":\"busy\"}\n\n".into(), &["failed stream : busy"]),
        row("broken", format!("{text}data: {{]\n\n{text}"), &["0 text a", "failed Protocol"]),
        row("not an object", "data: 7\n\n".into(), &["failed Protocol"]),
        row(
            "a block that is none",
            stream(&[r#"{"type":"content_block_start","index":0,"content_block":7}"#]),
            &["failed Protocol"],
        ),
    ]
}

proptest! {
    #[test]
    fn streams_become_these_events_however_they_are_split(sizes in prop::collection::vec(1usize..50, 1..20)) {
        streams::check(decoder, &messages(), &sizes);
        streams::check(decoder, &ends(), &sizes);
    }

    #[test]
    fn whatever_comes_there_is_one_end(bytes in prop::collection::vec(any::<u8>(), 0..200), at: usize) {
        check_one_end(decoder(), &stream(THINKING_AND_CALLS), bytes, at);
    }
}
