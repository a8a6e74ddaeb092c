//! The shapes of streamed completions.

use super::{
    client::{End, Response, post},
    least, valid,
};
use crate::strict::{Answer, Call, StrictProvider};
use serde_json::{Value, json};

/// Plays `answer` to a request that asks for usage.
fn play(answer: Answer) -> Response {
    let provider = StrictProvider::start(answer);
    let response = post(&provider, &valid()).unwrap();
    assert_eq!((response.status, response.end), (200, End::Complete));
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    provider.assert_clean();
    response
}

/// The deltas of tool calls, in order.
fn calls(response: &Response) -> Vec<Value> {
    let events = response.events();
    let calls = events.iter().filter_map(|event| event["choices"][0]["delta"]["tool_calls"].as_array());
    calls.flatten().cloned().collect()
}

#[test]
fn speaks_as_the_reference_describes() {
    let response = play(Answer::new().reasoning("Hm.").deltas(["Hel", "lo"]).usage_details(50, 40, 7, 3));
    let events = response.events();
    assert_eq!(events.len(), 6);
    for event in &events {
        assert_eq!((&event["id"], &event["object"]), (&"chatcmpl-0".into(), &"chat.completion.chunk".into()));
        assert_eq!((&event["model"], event["created"].is_u64()), (&"strict-1".into(), true));
    }
    let choice = |n: usize| &events[n]["choices"][0];
    assert_eq!(choice(0)["delta"], json!({"role": "assistant", "content": "", "refusal": null}));
    assert_eq!(choice(1)["delta"], json!({"reasoning_content": "Hm."}));
    assert_eq!(
        (&choice(2)["delta"], &choice(2)["finish_reason"]),
        (&json!({"content": "Hel"}), &Value::Null)
    );
    assert_eq!((&choice(4)["delta"], &choice(4)["finish_reason"]), (&json!({}), &"stop".into()));
    assert_eq!((&events[4]["usage"], &events[5]["choices"]), (&Value::Null, &json!([])));
    let usage = &events[5]["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["total_tokens"]), (&json!(50), &json!(57)));
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 40);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 3);
    assert!(response.text().ends_with("data: [DONE]\n\n"));
}

#[test]
fn tells_no_usage_unasked() {
    let provider = StrictProvider::start(Answer::say("hi"));
    let response = post(&provider, &least("x")).unwrap();
    assert!(!response.text().contains("usage"), "{}", response.text());
}

#[test]
fn streams_parallel_calls() {
    let bash = Call::new("a", "bash", json!({"command": "ls é"})).pieces(5);
    let response = play(Answer::new().with_call(bash).call("b", "read", json!({})));
    let calls = calls(&response);
    assert_eq!(
        calls[0],
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "bash", "arguments": ""}})
    );
    let arguments = |index: u64| -> String {
        let mine = calls.iter().filter(|call| call["index"] == index);
        mine.filter_map(|call| call["function"]["arguments"].as_str()).collect()
    };
    assert_eq!((arguments(0).as_str(), arguments(1).as_str()), ("{\"command\":\"ls é\"}", "{}"));
    assert!(calls.len() > 5, "the arguments came in pieces");
    assert_eq!(response.events()[0]["choices"][0]["delta"]["content"], Value::Null);
    assert!(response.text().contains("\"finish_reason\":\"tool_calls\""));
}

#[test]
fn spells_calls_badly() {
    let answer = Answer::new()
        .with_call(Call::raw("a", "no such tool!", "{\"broken").whole())
        .with_call(Call::new("a", "bash", json!({})).index(0).repeat_head())
        .with_call(Call::new("c", "bash", json!({})).no_id());
    let calls = calls(&play(answer));
    let function = json!({"name": "no such tool!", "arguments": "{\"broken"});
    assert_eq!(calls[0], json!({"index": 0, "id": "a", "type": "function", "function": function}));
    assert_eq!((&calls[2]["index"], &calls[2]["id"]), (&json!(0), &json!("a")));
    assert_eq!((&calls[3]["index"], calls[3].get("id")), (&json!(2), None));
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
    check("length", answer().finish("length"), &["\"finish_reason\":\"length\""], &["\"stop\""]);
    check("filter", answer().finish("content_filter"), &["\"finish_reason\":\"content_filter\""], &[]);
    check("no usage", answer().no_usage(), &["[DONE]"], &["prompt_tokens"]);
    check("usage with the finish", answer().usage_on_finish(), &["prompt_tokens"], &["\"choices\":[]"]);
    check("no id", answer().no_id(), &["[DONE]"], &["chatcmpl"]);
    check("no role", answer().no_role(), &["\"hi\""], &["\"role\""]);
    check("no done", answer().no_done(), &["\"stop\""], &["[DONE]"]);
    check("no tail", answer().no_tail(), &["\"hi\""], &["[DONE]", "\"stop\"", "prompt_tokens"]);
    check("comment", answer().comment("keep-alive"), &["\n\n: keep-alive\n\n"], &[]);
    check("garbage", answer().garbage("data: {oops"), &["data: {oops\n\n"], &[]);
    check("error", answer().error_event("Boom."), &["\"message\":\"Boom.\""], &["[DONE]", "\"stop\""]);
    check("line ends", answer().crlf(), &["data: [DONE]\r\n\r\n"], &["\"}\n\n"]);
    check(
        "field",
        answer().reasoning("so").reasoning_field("reasoning"),
        &["\"reasoning\":\"so\""],
        &["_content\":"],
    );
    check("refusal", Answer::new().refusal("No."), &["\"refusal\":\"No.\""], &[]);
    check("repeat", Answer::new().repeat(3, "ab"), &["\"ab\""], &[]);
}

#[test]
fn splits_text() {
    let response = play(Answer::new().text_in("héllo wörld", 2));
    assert_eq!(response.joined("content"), "héllo wörld");
    assert!(response.events().len() > 6);
}
