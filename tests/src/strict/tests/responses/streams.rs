//! The shapes of streamed answers.

use super::{Response, least, post, valid};
use crate::strict::{Answer, Call, StrictProvider, tests::client::End};
use serde_json::{Value, json};

/// Plays `answer` to a request that asks for seals.
fn play(answer: Answer) -> Response {
    let provider = StrictProvider::start(answer);
    let response = post(&provider, &valid());
    assert_eq!((response.status, response.end), (200, End::Complete));
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    provider.assert_clean();
    response
}

fn kinds(response: &Response) -> Vec<String> {
    let short = |event: &Value| event["type"].as_str().unwrap().trim_start_matches("response.").to_owned();
    response.events().iter().map(short).collect()
}

/// The one event of this type.
fn only(response: &Response, kind: &str) -> Value {
    let mut events = response.events();
    events.retain(|event| event["type"] == kind);
    assert_eq!(events.len(), 1, "{kind}");
    events.remove(0)
}

/// All that is added by events of this type.
fn added(response: &Response, kind: &str) -> String {
    response
        .events()
        .iter()
        .filter(|event| event["type"] == kind)
        .filter_map(|event| event["delta"].as_str())
        .collect()
}

#[test]
fn speaks_as_the_reference_describes() {
    let response = play(Answer::new().deltas(["Hel", "lo"]).usage_details(50, 40, 7, 3));
    let expected = [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(kinds(&response), expected);
    for (number, event) in response.events().iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
        assert!(response.text().contains(&format!("event: {}\ndata: ", event["type"].as_str().unwrap())));
    }
    let begun = only(&response, "response.created")["response"].clone();
    assert_eq!(
        (&begun["status"], &begun["output"], &begun["usage"]),
        (&json!("in_progress"), &json!([]), &Value::Null)
    );
    assert_eq!(
        (&begun["object"], &begun["model"], &begun["store"]),
        (&json!("response"), &json!("strict-1"), &json!(false))
    );

    let ended = only(&response, "response.completed")["response"].clone();
    let item = only(&response, "response.output_item.done")["item"].clone();
    assert_eq!(
        (&ended["id"], &ended["status"], &ended["output"]),
        (&begun["id"], &json!("completed"), &json!([item]))
    );
    let content = json!([{"type": "output_text", "annotations": [], "logprobs": [], "text": "Hello"}]);
    assert_eq!(
        (&item["content"], &item["role"], &item["status"]),
        (&content, &json!("assistant"), &json!("completed"))
    );
    let usage = json!({
        "input_tokens": 50, "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 57,
    });
    assert_eq!(ended["usage"], usage);
    assert!(!response.text().contains("[DONE]"));
}

#[test]
fn names_the_place_of_everything() {
    let answer = Answer::new().sealed("Hm.").text("Hi.").call("a", "bash", json!({"command": "ls"}));
    let response = play(answer);
    let mut open: Option<Value> = None;
    let mut closed = 0;
    for event in response.events() {
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => {
                assert_eq!(
                    (open.replace(event["item"]["id"].clone()), &event["output_index"]),
                    (None, &json!(closed))
                );
            }
            "response.output_item.done" => {
                assert_eq!(
                    (open.take(), &event["output_index"]),
                    (Some(event["item"]["id"].clone()), &json!(closed))
                );
                closed += 1;
            }
            "response.created" | "response.in_progress" | "response.completed" => assert_eq!(open, None),
            _ => {
                assert_eq!((Some(&event["item_id"]), &event["output_index"]), (open.as_ref(), &json!(closed)))
            }
        }
    }
    assert_eq!(closed, 3);
    let thought = response.events().into_iter().find(|event| event["item"]["type"] == "reasoning").unwrap();
    assert_eq!(thought["item"]["summary"], json!([]), "a summary is not told before it is said");
    assert_eq!(added(&response, "response.reasoning_summary_text.delta"), "Hm.");
    assert_eq!(only(&response, "response.reasoning_summary_part.done")["part"]["text"], "Hm.");
}

#[test]
fn streams_parallel_calls() {
    let bash = Call::new("a", "bash", json!({"command": "ls é"})).pieces(5);
    let response = play(
        Answer::new()
            .with_call(bash)
            .call("b", "read", json!({}))
            .with_call(Call::raw("c", "x", "{").whole()),
    );
    let mut done = response.events();
    done.retain(|event| event["type"] == "response.output_item.done");
    let calls: Vec<_> = done.iter().map(|event| &event["item"]).collect();
    let facts = |at: usize| [&calls[at]["call_id"], &calls[at]["name"], &calls[at]["arguments"]];
    assert_eq!(facts(0), [&json!("a"), &json!("bash"), &json!("{\"command\":\"ls é\"}")]);
    assert_eq!(facts(1), [&json!("b"), &json!("read"), &json!("{}")]);
    assert_eq!(facts(2), [&json!("c"), &json!("x"), &json!("{")]);
    let deltas = added(&response, "response.function_call_arguments.delta");
    assert_eq!(deltas, "{\"command\":\"ls é\"}{}", "a call that comes whole is not streamed");
    assert!(response.events().len() > 12, "the arguments came in pieces");
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
    let incomplete = "event: response.incomplete";
    check(
        "length",
        answer().finish("length"),
        &[incomplete, "{\"reason\":\"max_output_tokens\"}"],
        &["response.completed"],
    );
    check("filter", answer().finish("content_filter"), &[incomplete, "{\"reason\":\"content_filter\"}"], &[]);
    check("no usage", answer().no_usage(), &["response.completed", "\"usage\":null"], &["input_tokens"]);
    check("no id", answer().no_id(), &["response.completed"], &["resp_"]);
    check("no opening", answer().no_role(), &["\"hi\""], &["response.created", "response.in_progress"]);
    check(
        "no tail",
        answer().no_tail(),
        &["\"hi\""],
        &["output_text.done", "output_item.done", "completed", "input_tokens"],
    );
    check("comment", answer().comment("keep-alive"), &["\n\n: keep-alive\n\n"], &[]);
    check("garbage", answer().garbage("data: {oops"), &["data: {oops\n\n"], &[]);
    check(
        "event",
        answer().event(json!({"type": "response.x"})),
        &["event: response.x\ndata: {\"type\":\"response.x\"}\n\n"],
        &[],
    );
    check(
        "error",
        answer().error_event("Boom."),
        &["event: error\n", "\"message\":\"Boom.\""],
        &["response.completed"],
    );
    check("line ends", answer().crlf(), &["\r\ndata: ", "\r\n\r\n"], &["}\n\n"]);
    check(
        "refusal",
        Answer::new().refusal("No."),
        &["response.refusal.delta", "{\"refusal\":\"No.\",\"type\":\"refusal\"}"],
        &[],
    );
    check(
        "open thoughts",
        Answer::new().reasoning("so"),
        &["response.reasoning_text.delta", "\"type\":\"reasoning_text\""],
        &["encrypted_content\":"],
    );
    check(
        "call without an id",
        Answer::new().with_call(Call::raw("a", "bash", "{}").no_id()),
        &["\"id\":\"fc_"],
        &["\"call_id\""],
    );
}

#[test]
fn what_is_cut_off_is_incomplete_in_all_its_parts() {
    let response = play(Answer::say("hi").finish("length"));
    assert_eq!(only(&response, "response.output_item.done")["item"]["status"], "incomplete");
}

#[test]
fn splits_text() {
    let response = play(Answer::new().text_in("héllo wörld", 2));
    assert_eq!(added(&response, "response.output_text.delta"), "héllo wörld");
    assert!(response.events().len() > 12);
}

#[test]
fn cuts_anywhere() {
    let whole = play(Answer::say("hello")).body;
    for at in [0, 1, whole.len() / 2, whole.len() - 1] {
        let provider = StrictProvider::start(Answer::say("hello").cut_at(at));
        let response = post(&provider, &valid());
        assert_eq!((response.end, response.body), (End::Closed, whole[..at].to_vec()), "at {at}");
    }
    let provider = StrictProvider::start(Answer::say("hello").dribble());
    assert_eq!(post(&provider, &valid()).body, whole);
    let provider = StrictProvider::start(Answer::say("hello"));
    assert_ne!(post(&provider, &least("hi")).body, whole, "another request has other ids");
}
