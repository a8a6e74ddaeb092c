//! The shapes of streamed messages.

use super::{ask, least};
use crate::strict::tests::client::{End, Response};
use crate::strict::{Answer, Call, StrictProvider};
use serde_json::{Value, json};

fn play(answer: Answer) -> Response {
    let provider = StrictProvider::start(answer);
    let response = ask(&provider, &least("Hi"));
    assert_eq!((response.status, response.end), (200, End::Complete));
    provider.assert_clean();
    response
}

/// The types of the events, in order.
fn kinds(response: &Response) -> Vec<String> {
    response.events().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn speaks_as_the_reference_describes() {
    let response = play(Answer::new().deltas(["Hel", "lo"]).usage_details(50, 40, 7, 3));
    let events = response.events();
    assert_eq!(
        kinds(&response),
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    let start = &events[0]["message"];
    assert_eq!(
        (&start["id"], &start["role"], &start["content"]),
        (&json!("msg_0"), &json!("assistant"), &json!([]))
    );
    assert_eq!(
        (&start["usage"]["input_tokens"], &start["usage"]["cache_read_input_tokens"]),
        (&json!(10), &json!(40))
    );
    assert_eq!(events[1]["content_block"], json!({"type": "text", "text": ""}));
    assert_eq!(events[4]["delta"], json!({"type": "text_delta", "text": "lo"}));
    assert_eq!(
        (&events[6]["delta"]["stop_reason"], &events[6]["usage"]["output_tokens"]),
        (&json!("end_turn"), &json!(7))
    );
    for event in &events {
        let name = format!("event: {}\ndata: {{", event["type"].as_str().unwrap());
        assert!(response.text().contains(&name), "{name}");
    }
}

#[test]
fn streams_thoughts_and_parallel_calls() {
    let bash = Call::new("a", "bash", json!({"command": "ls é"})).pieces(5);
    let answer =
        Answer::new().sealed("Hm.").sealed("").text("I look.").with_call(bash).call("b", "read", json!({}));
    let events = play(answer).events();
    let starts: Vec<_> = events.iter().filter(|event| event["type"] == "content_block_start").collect();
    let indices: Vec<_> = starts.iter().map(|start| start["index"].as_u64().unwrap()).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4]);
    let kinds: Vec<_> = starts.iter().map(|start| start["content_block"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    assert!(starts[1]["content_block"]["data"].as_str().is_some_and(|data| !data.is_empty()));
    assert_eq!(
        starts[3]["content_block"],
        json!({"type": "tool_use", "id": "a", "name": "bash", "input": {}})
    );
    let joined = |index: u64, field: &str| -> String {
        let mine = events.iter().filter(|event| event["index"] == index);
        mine.filter_map(|event| event["delta"][field].as_str()).collect()
    };
    assert_eq!((joined(0, "thinking").as_str(), joined(0, "signature").len()), ("Hm.", 24));
    assert_eq!(
        (joined(3, "partial_json").as_str(), joined(4, "partial_json").as_str()),
        ("{\"command\":\"ls é\"}", "{}")
    );
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
}

/// An answer, then what its body must and must not contain.
fn check(name: &str, answer: Answer, present: &[&str], absent: &[&str]) {
    let text = play(answer).text();
    for part in present {
        assert!(text.contains(part), "{name}: {part:?} is missing in {text}");
    }
    for part in absent {
        assert!(!text.contains(part), "{name}: {part:?} is present in {text}");
    }
}

#[test]
fn varies() {
    let answer = || Answer::say("hi");
    check("length", answer().finish("length"), &["\"max_tokens\""], &["end_turn"]);
    check("filter", answer().finish("content_filter"), &["\"refusal\""], &[]);
    check("other", answer().finish("pause_turn"), &["\"pause_turn\""], &[]);
    check("no usage", answer().no_usage(), &["message_stop"], &["input_tokens"]);
    check("no id", answer().no_id(), &["message_start"], &["msg_0"]);
    check("no role", answer().no_role(), &["\"hi\""], &["message_start"]);
    check("no done", answer().no_done(), &["end_turn"], &["message_stop"]);
    check("no tail", answer().no_tail(), &["\"hi\""], &["content_block_stop", "end_turn", "message_stop"]);
    check(
        "error",
        answer().error_event("Boom."),
        &["event: error\n", "\"message\":\"Boom.\""],
        &["message_stop"],
    );
    check("unsealed", Answer::new().reasoning("Hm.").text("a"), &["thinking_delta"], &["signature_delta"]);
    check(
        "event",
        answer().event(json!({"type": "new"})),
        &["event: new\ndata: {\"type\":\"new\"}\n\n"],
        &[],
    );
    check("line ends", answer().crlf(), &["event: message_stop\r\ndata: "], &["\"}\n\n"]);
    check(
        "no id of a call",
        Answer::new().with_call(Call::new("c7", "ls", json!({})).no_id()),
        &["tool_use"],
        &["c7"],
    );
}

#[test]
fn a_whole_call_has_its_arguments_at_once() {
    let events = play(Answer::new().with_call(Call::new("a", "ls", json!({"path": "x"})).whole())).events();
    let start = events.iter().find(|event| event["type"] == "content_block_start").unwrap();
    assert_eq!(start["content_block"]["input"], json!({"path": "x"}));
    assert!(!events.iter().any(|event: &Value| event["type"] == "content_block_delta"));
}
