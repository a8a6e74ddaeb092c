//! Streams in the shapes in which OpenAI and those who offer the same send them, and the events that they must become.

use proptest::prelude::*;

use super::decoder;
use crate::provider::fixture::streams::{self, Transcript, check_one_end, row};

const CREATED: &str = r#"{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"incomplete_details":null,"output":[],"usage":null},"sequence_number":0}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[],"usage":{"input_tokens":40,"input_tokens_details":{"cached_tokens":30},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":49}},"sequence_number":9}"#;

/// A stream of those events, each under the name that its data has.
fn stream(data: &[&str]) -> String {
    let event = |data: &&str| {
        let value: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap_or_default())
    };
    data.iter().map(event).collect()
}

/// A response of those events between its start and its end.
fn response(data: &[&str]) -> String {
    let all: Vec<&str> = [CREATED].into_iter().chain(data.iter().copied()).chain([COMPLETED]).collect();
    stream(&all)
}

const TEXT: &[&str] = &[
    r#"{"type":"response.in_progress","response":{"status":"in_progress"}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
    r#"{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Héllo","logprobs":[],"obfuscation":"x"}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" 😀"}"#,
    r#"{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"Héllo 😀"}"#,
    r#"{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Héllo 😀"}}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":"Héllo 😀"}],"role":"assistant"}}"#,
];

const THINKING_AND_CALLS: &[&str] = &[
    CREATED,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAA","summary":[]}}"#,
    r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Let me"}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":" look."}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Now."}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1", "type":"reasoning","encrypted_content":"gAAA\/=","summary":[{"type":"summary_text","text":"Let me look."},{"type":"summary_text","text":"Now."}]}}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_A","name":"ls"}}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"path\": "}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"\".\"}"}"#,
    r#"{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":1,"arguments":"{\"path\": \".\"}"}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\": \".\"}","call_id":"call_A","name":"ls"}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_2","type":"function_call","arguments":"","call_id":"call_B","name":"glob"}}"#,
    r#"{"type":"response.function_call_arguments.done","item_id":"fc_2","output_index":2,"arguments":"{}"}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_2","type":"function_call","arguments":"{}","call_id":"call_B","name":"glob"}}"#,
    COMPLETED,
];

/// A server that does not number items.
const LLAMA_CPP: &[&str] = &[
    r#"{"type":"response.created","response":{"id":"resp_x","object":"response","status":"in_progress"}}"#,
    r#"{"type":"response.output_item.added","item":{"id":"rs_x","summary":[],"type":"reasoning","content":[],"encrypted_content":"","status":"in_progress"}}"#,
    r#"{"type":"response.reasoning_text.delta","delta":"Hm","item_id":"rs_x"}"#,
    r#"{"type":"response.output_item.added","item":{"content":[],"id":"msg_x","role":"assistant","status":"in_progress","type":"message"}}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_x","delta":"Hi"}"#,
    r#"{"type":"response.output_item.added","item":{"arguments":"","call_id":"fc_x","name":"ls","type":"function_call","status":"in_progress"}}"#,
    r#"{"type":"response.function_call_arguments.delta","delta":"{}","item_id":"fc_x"}"#,
    r#"{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_x","summary":[],"content":[{"text":"Hm","type":"reasoning_text"}],"encrypted_content":"","status":"completed"}}"#,
    r#"{"type":"response.output_item.done","item":{"type":"message","status":"completed","id":"msg_x","content":[{"type":"output_text","text":"Hi"}],"role":"assistant"}}"#,
    r#"{"type":"response.output_item.done","item":{"type":"function_call","status":"completed","arguments":"{}","call_id":"fc_x","name":"ls"}}"#,
    r#"{"type":"response.completed","response":{"id":"resp_x","object":"response","status":"completed","usage":{"input_tokens":10,"output_tokens":16,"total_tokens":26,"input_tokens_details":{"cached_tokens":9}}},"timings":{"cache_n":9}}"#,
];

/// Whole responses.
fn responses() -> Vec<Transcript> {
    vec![
        row("text", response(TEXT), &["0 text Héllo", "0 text  😀", "usage 10 9 30 0 5", "finished Stop"]),
        row(
            "thinking and calls",
            stream(THINKING_AND_CALLS),
            &[
                "0 thought Let me",
                "0 thought  look.",
                "0 thought \n\n",
                "0 thought Now.",
                r#"0 seal {"id":"rs_1", "type":"reasoning","encrypted_content":"gAAA\/=","summary":[{"type":"summary_text","text":"Let me look."},{"type":"summary_text","text":"Now."}]}"#,
                "1 call ls call_A",
                r#"1 input {"path": "#,
                r#"1 input "."}"#,
                "2 call glob call_B",
                "2 input {}",
                "usage 10 9 30 0 5",
                "finished ToolCalls",
            ],
        ),
        row(
            "llama.cpp",
            stream(LLAMA_CPP),
            &[
                "0 thought Hm",
                "1 text Hi",
                "2 call ls fc_x",
                "2 input {}",
                "usage 1 16 9 0 0",
                "finished ToolCalls",
            ],
        ),
        row(
            "refusal",
            response(&[
                r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I can"}"#,
                r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"not."}"#,
                r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}}"#,
            ]),
            &["0 text I can", "0 text not.", "usage 10 9 30 0 5", "finished Stop"],
        ),
        row(
            "whole items without deltas",
            response(&[
                r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}}"#,
                r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","summary":[],"encrypted_content":"x"}}"#,
                r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"message","content":[{"type":"output_text","text":"c"},{"type":"refusal","refusal":"d"},7]}}"#,
                r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"i","name":"ls","arguments":"{}"}}"#,
                r#"{"type":"response.output_item.done","output_index":4,"item":{"type":"web_search_call","id":"ws"}}"#,
            ]),
            &[
                "0 thought a",
                "0 thought \n\n",
                "0 thought b",
                r#"1 seal {"type":"reasoning","summary":[],"encrypted_content":"x"}"#,
                "2 text cd",
                "3 call ls i",
                "3 input {}",
                "usage 10 9 30 0 5",
                "finished ToolCalls",
            ],
        ),
        row(
            "what was not announced",
            response(&[
                r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}"#,
                r#"{"type":"response.something.new","output_index":0,"delta":"?"}"#,
                r#"{"type":"response.output_item.added","output_index":1}"#,
            ]),
            &["usage 10 9 30 0 5", "finished Stop"],
        ),
    ]
}

/// How streams end.
fn ends() -> Vec<Transcript> {
    let text = stream(&[r#"{"type":"response.output_text.delta","output_index":0,"delta":"a"}"#]);
    let incomplete = |reason: &str| {
        stream(&[&format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}},"usage":{{"input_tokens":3}}}}}}"#
        )])
    };
    vec![
        row("empty", String::new(), &["failed Truncated"]),
        row("cut", text.clone(), &["0 text a", "failed Truncated"]),
        row("cut in an event", format!("{text}event: x\ndata: {{\"ty"), &["0 text a", "failed Truncated"]),
        row("done only", "data: [DONE]\n\n".into(), &["failed Truncated"]),
        row(
            "done at the end",
            stream(&[COMPLETED]) + "data: [DONE]\n\n",
            &["usage 10 9 30 0 5", "finished Stop"],
        ),
        row(
            "the end without an empty line",
            stream(&[r#"{"type":"response.completed"}"#]).trim().into(),
            &["finished Stop"],
        ),
        row("max_output_tokens", incomplete("max_output_tokens"), &["usage 3 0 0 0 0", "finished Length"]),
        row("content_filter", incomplete("content_filter"), &["usage 3 0 0 0 0", "finished ContentFilter"]),
        row("another reason", incomplete("tired"), &["usage 3 0 0 0 0", "finished Unknown"]),
        row(
            "failed",
            text.clone()
                + &stream(&[
                    r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"The model failed."},"usage":{"input_tokens":3}}}"#,
                ]),
            &["0 text a", "usage 3 0 0 0 0", "failed stream server_error: The model failed."],
        ),
        row(
            "failed without a word",
            stream(&[r#"{"type":"response.failed","response":{"error":null}}"#]),
            &["failed stream : The provider reported an error without a message."],
        ),
        row(
            "error",
            stream(&[
                r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow down.","param":null,"sequence_number":1}"#,
            ]),
            &["failed stream rate_limit_exceeded: Slow down."],
        ),
        row(
            "error in an error",
            stream(&[
                r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long."}}"#,
            ]),
            &["failed stream context_length_exceeded: Too long."],
        ),
        row("error without a type", "data: {\"error\":\"busy\"}\n\n".into(), &["failed stream : busy"]),
        row("broken", format!("{text}data: {{]\n\n{text}"), &["0 text a", "failed Protocol"]),
        row("not an object", "data: 7\n\n".into(), &["failed Protocol"]),
        row(
            "an item that is none",
            stream(&[r#"{"type":"response.output_item.done","item":7}"#]),
            &["failed Protocol"],
        ),
    ]
}

proptest! {
    #[test]
    fn streams_become_these_events_however_they_are_split(sizes in prop::collection::vec(1usize..50, 1..20)) {
        streams::check(decoder, &responses(), &sizes);
        streams::check(decoder, &ends(), &sizes);
    }

    #[test]
    fn whatever_comes_there_is_one_end(bytes in prop::collection::vec(any::<u8>(), 0..200), at: usize) {
        check_one_end(decoder(), &stream(THINKING_AND_CALLS), bytes, at);
    }
}
