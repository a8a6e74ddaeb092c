//! What has to come back: thoughts as they were, all of them while the calls of a turn go on, and first.

use super::{ask, block, call, least, result, text, tool};
use crate::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

/// The blocks of thought that an answer streamed, as they have to come back.
fn thoughts(events: &[Value]) -> Vec<Value> {
    let starts = events.iter().filter(|event| event["type"] == "content_block_start");
    let joined = |index: &Value, field: &str| -> String {
        let mine = events.iter().filter(|event| event["index"] == *index);
        mine.filter_map(|event| event["delta"][field].as_str()).collect()
    };
    let thought = |start: &Value| match start["content_block"]["type"].as_str() {
        Some("thinking") => Some(json!({"type": "thinking", "thinking": joined(&start["index"], "thinking"),
            "signature": joined(&start["index"], "signature")})),
        Some("redacted_thinking") => Some(start["content_block"].clone()),
        _ => None,
    };
    starts.filter_map(thought).collect()
}

/// A provider that has thought twice and called once, and the request that brings the result and these thoughts.
fn thought_and_called() -> (StrictProvider, Value) {
    let provider = StrictProvider::start([
        Answer::new().sealed("Hm.").sealed("").text("I look.").call("a", "bash", json!({})),
        Answer::say("Done."),
        Answer::say("Once more."),
    ]);
    let mut body = least("Hi");
    body["tools"] = json!([tool("bash")]);
    let mut answer = thoughts(&ask(&provider, &body).events());
    assert_eq!(answer.len(), 2);
    answer.extend([text("I look."), call("a", "bash")]);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": answer}));
    messages.push(json!({"role": "user", "content": [result("a", "one")]}));
    (provider, body)
}

#[test]
fn takes_what_comes_back_unchanged() {
    let (provider, mut body) = thought_and_called();
    assert_eq!(ask(&provider, &body).status, 200);
    // Once the user has said something else, thoughts may be forgotten.
    body["messages"][1]["content"].as_array_mut().unwrap().drain(..2);
    body["messages"][2]["content"].as_array_mut().unwrap().push(text("And now?"));
    assert_eq!(ask(&provider, &body).status, 200);
    provider.assert_clean();
}

#[track_caller]
fn check(change: fn(&mut Value), says: &str) {
    let (provider, mut body) = thought_and_called();
    change(&mut body);
    let response = ask(&provider, &body);
    assert_eq!(response.status, 400);
    assert!(response.error().contains(says), "{}", response.error());
}

#[test]
fn refuses_what_was_changed_or_is_missing() {
    check(|b| block(b, 1, 0)["thinking"] = json!("Hm!"), "Invalid `signature` in `thinking` block");
    check(|b| block(b, 1, 0)["signature"] = json!("forged"), "messages.1.content.0: Invalid `signature`");
    check(|b| block(b, 1, 1)["data"] = json!("forged"), "Invalid `data` in `redacted_thinking` block");
    check(|b| b["model"] = json!("strict-2"), "Invalid `signature`");
    check(|b| drop(b["messages"][1]["content"].as_array_mut().unwrap().drain(..2)), "but found `text`");
    check(|b| drop(b["messages"][1]["content"].as_array_mut().unwrap().remove(1)), "cannot be modified");
    check(|b| b["messages"][1]["content"].as_array_mut().unwrap().swap(0, 1), "cannot be modified");
    check(speaks_first, "but found `text`");
}

/// The text comes before the thoughts.
fn speaks_first(body: &mut Value) {
    let blocks = body["messages"][1]["content"].as_array_mut().unwrap();
    let said = blocks.remove(2);
    blocks.insert(0, said);
}
