//! Streams in the shapes in which servers send them, and the events that they must become.

use std::fmt::Write;

use proptest::prelude::*;

use super::decoder;
use crate::provider::fixture::streams::{self, Transcript, check_one_end, decode};

/// A stream whose events have that data.
fn stream(data: &[&str]) -> String {
    data.iter().fold(String::new(), |mut stream, data| {
        let _ = write!(stream, "data: {data}\n\n");
        stream
    })
}

/// A stream of chunks with nothing but those deltas, which ends as it should.
fn deltas(deltas: &[&str]) -> String {
    let chunks: Vec<String> =
        deltas.iter().map(|delta| format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)).collect();
    let mut data: Vec<&str> = chunks.iter().map(String::as_str).collect();
    data.extend([r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"]);
    stream(&data)
}

const OPENAI: &[&str] = &[
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x1"}"#,
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Héllo"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" 😀"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}"#,
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":16,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":4,"audio_tokens":0}}}"#,
    "[DONE]",
];

const OPENAI_CALLS: &[&str] = &[
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_A","type":"function","function":{"name":"ls","arguments":""}}],"refusal":null},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"depth\":2}"}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_B","type":"function","function":{"name":"glob","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    "[DONE]",
];

const LLAMA_CPP: &[&str] = &[
    r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"chatcmpl-x","model":"m","system_fingerprint":"b1","object":"chat.completion.chunk"}"#,
    r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hi"}}],"created":1,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk"}"#,
    r#"{"choices":[{"finish_reason":"length","index":0,"delta":{}}],"created":1,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk"}"#,
    r#"{"choices":[],"created":1,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":12,"total_tokens":14},"timings":{"prompt_n":12,"prompt_ms":1.5}}"#,
    "[DONE]",
];

const OLLAMA: &[&str] = &[
    r#"{"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"q","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"ls","arguments":"{\"path\":\".\"}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-7","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_b","index":0,"type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-7","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}}"#,
    "[DONE]",
];

const DEEPSEEK: &[&str] = &[
    r#"{"id":"1","object":"chat.completion.chunk","model":"deepseek-reasoner","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]}"#,
    r#"{"id":"1","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Let me"},"finish_reason":null}]}"#,
    r#"{"id":"1","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" think."},"finish_reason":null}]}"#,
    r#"{"id":"1","choices":[{"index":0,"delta":{"content":"4","reasoning_content":null},"finish_reason":null}]}"#,
    r#"{"id":"1","choices":[{"index":0,"delta":{"content":"2","reasoning_content":null},"finish_reason":null}]}"#,
    r#"{"id":"1","choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":18,"completion_tokens":40,"total_tokens":58,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":30},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":18}}"#,
    "[DONE]",
];

/// The streams of servers as they are.
fn servers() -> Vec<Transcript> {
    let row = |name, data: &[&str], events| Transcript { name, stream: stream(data), events };
    vec![
        row("openai", OPENAI, &["0 text Héllo", "0 text  😀", "usage 3 10 16 0 4", "finished Stop"]),
        row(
            "openai calls",
            OPENAI_CALLS,
            &["0 call ls call_A", "0 input {\"", "0 input depth\":2}", "1 call glob call_B", "1 input {}", "finished ToolCalls"],
        ),
        row("llama.cpp", LLAMA_CPP, &["0 text Hi", "usage 12 2 0 0 0", "finished Length"]),
        row(
            "ollama",
            OLLAMA,
            &["0 call ls call_a", "0 input {\"path\":\".\"}", "1 call ls call_b", "1 input {}", "usage 5 6 0 0 0", "finished ToolCalls"],
        ),
        row(
            "deepseek",
            DEEPSEEK,
            &[
                "0 thought Let me",
                "0 thought  think.",
                "1 text 4",
                "1 text 2",
                r#"0 seal {"reasoning_content":true}"#,
                "usage 18 40 0 0 30",
                "finished Stop",
            ],
        ),
        Transcript {
            name: "openrouter",
            stream: concat!(
                ": OPENROUTER PROCESSING\r\n\r\n",
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"reasoning\":\"Hm\",\"reasoning_details\":[{\"text\":\"Hm\"}]}}]}\r\n\r\n",
                ": OPENROUTER PROCESSING\r\n\r\n",
                "data: {\"error\":{\"code\":\"server_error\",\"message\":\"Provider disconnected\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\r\n\r\n",
            )
            .into(),
            events: &["0 thought Hm", "failed stream server_error: Provider disconnected"],
        },
        Transcript {
            name: "old llama.cpp error",
            stream: "error: {\"code\":500,\"message\":\"Context is full\",\"type\":\"server_error\"}\n\n".into(),
            events: &["failed stream server_error: Context is full"],
        },
    ]
}

/// What is done with each delta.
fn parts() -> Vec<Transcript> {
    let row = |name, list: &[&str], events| Transcript { name, stream: deltas(list), events };
    vec![
        row("nothing", &["{}", "null"], &["finished Stop"]),
        row(
            "null deltas",
            &[
                r#"{"content":null,"tool_calls":null,"reasoning":7,"other":{"a":[]}}"#,
                r#"{"tool_calls":[{"index":0}]}"#,
            ],
            &["finished Stop"],
        ),
        row(
            "refusal",
            &[r#"{"refusal":"I can"}"#, r#"{"refusal":"not."}"#],
            &["0 text I can", "0 text not.", "finished Stop"],
        ),
        row(
            "both reasonings",
            &[r#"{"reasoning_content":"a","reasoning":"a"}"#],
            &["0 thought a", r#"0 seal {"reasoning_content":true}"#, "finished Stop"],
        ),
        row(
            "a call without a thought",
            &[
                r#"{"reasoning_content":"","content":null}"#,
                r#"{"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]}"#,
            ],
            &["0 call n a", "0 input {}", r#"1 seal {"reasoning_content":true}"#, "finished ToolCalls"],
        ),
        row(
            "neither thought nor call",
            &[r#"{"reasoning_content":"","content":"a"}"#],
            &["0 text a", "finished Stop"],
        ),
        row(
            "details",
            &[
                r#"{"reasoning":"Let","reasoning_details":[{"format":"f","index":0,"text":"Let","type":"reasoning.text"}]}"#,
                r#"{"reasoning_details":[{"index":0,"signature":null,"text":" me.","type":"reasoning.text"}]}"#,
                r#"{"reasoning_details":[{"index":0,"signature":"s","type":"reasoning.text"},7]}"#,
                r#"{"reasoning":null,"reasoning_details":[{"data":"d","index":1,"type":"reasoning.encrypted"}]}"#,
                r#"{"reasoning_details":[{"data":"e","index":1,"type":"reasoning.encrypted"}],"content":"a"}"#,
            ],
            &[
                "0 thought Let",
                "0 thought  me.",
                "1 text a",
                concat!(
                    r#"0 seal {"reasoning_details":[{"format":"f","index":0,"signature":"s","text":"Let me.","type":"reasoning.text"},"#,
                    r#"{"data":"d","index":1,"type":"reasoning.encrypted"},{"data":"e","index":1,"type":"reasoning.encrypted"}]}"#,
                ),
                "finished Stop",
            ],
        ),
        row(
            "nothing but a seal",
            &[r#"{"reasoning_details":[{"data":"d","type":"reasoning.encrypted"}],"content":"a"}"#],
            &[
                "0 text a",
                r#"1 seal {"reasoning_details":[{"data":"d","type":"reasoning.encrypted"}]}"#,
                "finished Stop",
            ],
        ),
        row(
            "blocks by appearance",
            &[
                r#"{"content":"a"}"#,
                r#"{"reasoning":"b"}"#,
                r#"{"content":"c"}"#,
                r#"{"tool_calls":[{"index":0,"id":"i","function":{"name":"n","arguments":"{"}}]}"#,
                r#"{"content":"d"}"#,
                r#"{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}"#,
                r#"{"content":"e"}"#,
            ],
            &[
                "0 text a",
                "1 thought b",
                "2 text c",
                "3 call n i",
                "3 input {",
                "4 text d",
                "3 input }",
                "4 text e",
                "finished ToolCalls",
            ],
        ),
        row(
            "parts",
            &[
                r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"type":"text","text":"c"}]}"#,
            ],
            &["0 thought ab", "1 text c", "finished Stop"],
        ),
        row(
            "no index, id in each delta",
            &[
                r#"{"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"id":"b","function":{"name":"m"}}]}"#,
                r#"{"tool_calls":[{"id":"a","function":{"name":"n","arguments":"}"}}]}"#,
            ],
            &["0 call n a", "0 input {", "1 call m b", "0 input }", "finished ToolCalls"],
        ),
        row(
            "no index, no id",
            &[
                r#"{"tool_calls":[{"function":{"name":"n","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"function":{"arguments":"}"}}]}"#,
            ],
            &["0 call n ", "0 input {", "0 input }", "finished ToolCalls"],
        ),
        row(
            "whole calls without ids",
            &[
                r#"{"tool_calls":[{"function":{"name":"n","arguments":{"b":1, "a":[2]}}},{"function":{"name":"n","arguments":{}}}]}"#,
            ],
            &["0 call n ", "0 input {\"b\":1, \"a\":[2]}", "1 call n ", "1 input {}", "finished ToolCalls"],
        ),
        row(
            "name later",
            &[
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"name":"n","arguments":"}"}}]}"#,
            ],
            &["0 call n a", "0 input {}", "finished ToolCalls"],
        ),
        row(
            "name later without index",
            &[r#"{"tool_calls":[{"id":"a"}]}"#, r#"{"tool_calls":[{"function":{"name":"n"}}]}"#],
            &["0 call n a", "finished ToolCalls"],
        ),
        row(
            "name never",
            &[r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}"#],
            &["0 call  a", "0 input {}", "finished ToolCalls"],
        ),
        row(
            "another id in each delta",
            &[
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"b","function":{"arguments":"}"}}]}"#,
            ],
            &["0 call n a", "0 input {", "0 input }", "finished ToolCalls"],
        ),
        row(
            "function call of old",
            &[r#"{"function_call":{"name":"n","arguments":""}}"#, r#"{"function_call":{"arguments":"{}"}}"#],
            &["0 call n ", "0 input {}", "finished ToolCalls"],
        ),
    ]
}

/// How streams end.
fn ends() -> Vec<Transcript> {
    let row = |name, stream: &str, events| Transcript { name, stream: stream.into(), events };
    let finish = |reason: &str| {
        stream(&[&format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#)])
    };
    let text = stream(&[r#"{"choices":[{"delta":{"content":"a"}}]}"#]);
    let call = stream(&[r#"{"choices":[{"delta":{"tool_calls":[{"id":"i","function":{"name":"n"}}]}}]}"#]);
    vec![
        row("empty", "", &["failed Truncated"]),
        row("cut", &text, &["0 text a", "failed Truncated"]),
        row(
            "cut in a chunk",
            &format!("{text}data: {{\"choices\":[{{\"del"),
            &["0 text a", "failed Truncated"],
        ),
        row("cut in a call", &call, &["0 call n i", "failed Truncated"]),
        row("done only", "data: [DONE]\n\n", &["failed Truncated"]),
        row("done without end", &format!("{text}data: [DONE]"), &["0 text a", "finished Unknown"]),
        row("done after a call", &format!("{call}data: [DONE]\n\n"), &["0 call n i", "finished ToolCalls"]),
        row("finish without done", &finish("stop"), &["0 text a", "finished Stop"]),
        row("function_call", &finish("function_call"), &["0 text a", "finished ToolCalls"]),
        row("content_filter", &finish("content_filter"), &["0 text a", "finished ContentFilter"]),
        row("other", &finish("eos_token"), &["0 text a", "finished Unknown"]),
        row("not yet", &finish(""), &["0 text a", "failed Truncated"]),
        row("error", &finish("error"), &["0 text a", "failed stream error: The answer broke off: error."]),
        row("after done", &format!("data: [DONE]\n\n{text}"), &["failed Truncated"]),
        row("broken", &format!("{text}data: {{]\n\n{text}"), &["0 text a", "failed Protocol"]),
        row("not an object", "data: 7\n\n", &["failed Protocol"]),
        row("error text", &stream(&[r#"{"error":"overloaded"}"#]), &["failed stream : overloaded"]),
        row(
            "no error",
            &(stream(&[r#"{"error":null,"choices":null}"#, r#"{"error":{}}"#]) + &text + "data: [DONE]\n\n"),
            &["0 text a", "finished Unknown"],
        ),
        row(
            "vllm error",
            &stream(&[r#"{"object":"error","message":"Too long","type":"BadRequestError","code":400}"#]),
            &["failed stream BadRequestError: Too long"],
        ),
        row(
            "choice error",
            &stream(&[r#"{"choices":[{"error":{"code":502}}]}"#]),
            &["failed stream 502: The provider reported an error without a message."],
        ),
        row(
            "error event",
            "event: error\ndata: {\"error\":{\"type\":\"overloaded\",\"message\":\"Busy\"}}\n\n",
            &["failed stream overloaded: Busy"],
        ),
        row(
            "other choices",
            &stream(&[r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}"#]),
            &["failed Truncated"],
        ),
        row(
            "usage as it goes",
            &stream(&[
                r#"{"choices":[],"usage":{"prompt_tokens":3}}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":3}}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1}}]}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":"?"}}"#,
            ]),
            &["usage 3 0 0 0 0", "usage 3 1 0 0 0", "finished Stop"],
        ),
    ]
}

fn all() -> Vec<Transcript> {
    servers().into_iter().chain(parts()).chain(ends()).collect()
}

#[test]
fn a_line_without_end_is_refused() {
    let chunk = vec![b'x'; 1024 * 1024];
    assert_eq!(decode(decoder(), core::iter::repeat_n(&chunk[..], 17)), ["failed Protocol"]);
}

proptest! {
    #[test]
    fn streams_become_these_events_however_they_are_split(sizes in prop::collection::vec(1usize..50, 1..20)) {
        streams::check(decoder, &all(), &sizes);
    }

    #[test]
    fn whatever_comes_there_is_one_end(bytes in prop::collection::vec(any::<u8>(), 0..200), at: usize) {
        check_one_end(decoder(), &stream(OPENAI_CALLS), bytes, at);
    }
}
