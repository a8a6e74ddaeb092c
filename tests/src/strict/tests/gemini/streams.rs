//! The shapes of streamed answers.

use super::{ask, least};
use crate::strict::{
    Answer, Call, StrictProvider,
    tests::client::{End, Response},
};
use serde_json::{Value, json};

/// Plays `answer` to a request for that model.
fn play_for(model: &str, answer: Answer) -> Response {
    let provider = StrictProvider::start(answer);
    let response = ask(&provider, model, &least("hi")).unwrap();
    assert_eq!((response.status, response.end), (200, End::Complete));
    provider.assert_clean();
    response
}

fn play(answer: Answer) -> Vec<Value> {
    play_for("strict-1", answer).events()
}

fn parts(events: &[Value]) -> Vec<Value> {
    let parts = events.iter().filter_map(|event| event["candidates"][0]["content"]["parts"].as_array());
    parts.flatten().cloned().collect()
}

#[test]
fn speaks_as_the_reference_describes() {
    let response = play_for(
        "strict-1",
        Answer::new().reasoning("Hm.").deltas(["Hel", "lo"]).usage_details(50, 40, 7, 3),
    );
    assert!(response.text().ends_with("}\r\n\r\n"), "{}", response.text());
    let events = response.events();
    assert_eq!(events.len(), 4);
    for event in &events {
        assert_eq!((&event["modelVersion"], &event["responseId"]), (&json!("strict-1"), &json!("strict-0")));
        let candidate = &event["candidates"][0];
        assert_eq!((&candidate["index"], &candidate["content"]["role"]), (&json!(0), &json!("model")));
        assert_eq!(event["usageMetadata"]["promptTokenCount"], 50);
    }
    let parts = parts(&events);
    assert_eq!(
        parts[..3],
        [json!({"text": "Hm.", "thought": true}), json!({"text": "Hel"}), json!({"text": "lo"})]
    );
    assert_eq!((&parts[3]["text"], parts[3]["thoughtSignature"].is_string()), (&json!(""), true));
    let last = &events[3];
    assert_eq!(
        (&events[2]["candidates"][0]["finishReason"], &last["candidates"][0]["finishReason"]),
        (&Value::Null, &json!("STOP"))
    );
    let usage = &last["usageMetadata"];
    let counts = ["cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"];
    assert_eq!(counts.map(|name| usage[name].as_u64()), [Some(40), Some(4), Some(3), Some(57)]);
}

#[test]
fn calls_come_whole_and_the_first_is_signed() {
    let answer = Answer::say("I look.")
        .with_call(Call::new("a", "bash", json!({"command": "ls é"})).pieces(1))
        .call("", "read", json!({}));
    let parts = parts(&play(answer));
    assert_eq!(parts[1]["functionCall"], json!({"id": "a", "name": "bash", "args": {"command": "ls é"}}));
    assert!(
        parts[1]["thoughtSignature"].as_str().is_some_and(|signature| signature.contains("+/")),
        "{parts:?}"
    );
    assert_eq!(parts[2], json!({"functionCall": {"name": "read", "args": {}}}));
    assert_eq!(parts[3], json!({"text": ""}), "what was said before a call is not signed");
}

#[test]
fn older_models_sign_nothing_and_give_no_ids() {
    let events = play_for("gemini-2.5-pro", Answer::say("I look.").call("a", "bash", json!({}))).events();
    let expected = [
        json!({"text": "I look."}),
        json!({"functionCall": {"name": "bash", "args": {}}}),
        json!({"text": ""}),
    ];
    assert_eq!(parts(&events), expected);
}

#[test]
fn what_cannot_be_told_as_a_call_is_said_to_be_garbled() {
    for arguments in ["{\"command\": \"ls", "[1]", "ls"] {
        let events = play(Answer::new().call_raw("a", "bash", arguments));
        let candidate = &events.last().unwrap()["candidates"][0];
        assert_eq!(candidate["finishReason"], "MALFORMED_FUNCTION_CALL", "{arguments}");
        assert!(candidate["finishMessage"].as_str().unwrap().contains(arguments), "{candidate}");
        assert_eq!(parts(&events).len(), 1, "{events:?}");
    }
    let none = parts(&play(Answer::new().call_raw("a", "bash", "")));
    assert_eq!(none[0]["functionCall"], json!({"id": "a", "name": "bash"}));
}

#[test]
fn an_answer_ends_for_many_reasons() {
    for (reason, told) in [
        ("stop", "STOP"),
        ("tool_calls", "STOP"),
        ("length", "MAX_TOKENS"),
        ("content_filter", "SAFETY"),
        ("RECITATION", "RECITATION"),
    ] {
        let events = play(Answer::say("hi").finish(reason));
        assert_eq!(events.last().unwrap()["candidates"][0]["finishReason"], told);
    }
    let empty = play(Answer::new());
    assert_eq!((empty.len(), &empty[0]["candidates"][0]["content"]), (1, &json!({"role": "model"})));
}

/// An answer, then what its body must and must not contain.
fn check(name: &str, answer: Answer, present: &[&str], absent: &[&str]) {
    let text = play_for("strict-1", answer).text();
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
    check("no usage", answer().no_usage(), &["STOP"], &["usageMetadata"]);
    check("no id", answer().no_id(), &["STOP"], &["responseId"]);
    check("no tail", answer().no_tail(), &["\"hi\""], &["finishReason"]);
    check("comment", answer().comment("ping"), &[": ping\n\n"], &[]);
    check("garbage", answer().garbage("data: {oops"), &["data: {oops\n\n"], &[]);
    check("line ends", answer().crlf(), &["}\r\n\r\n"], &["\r\r"]);
    check(
        "error",
        answer().error_event("Boom."),
        &["\"message\":\"Boom.\"", "\"status\":\"UNAVAILABLE\""],
        &["STOP"],
    );
    check("refusal", Answer::new().refusal("No."), &["\"text\":\"No.\""], &[]);
}
