//! Seals: that they are given only to whoever asks, and must come back as they were, all or none.

use super::{call, check, input, least, output, post, thought, valid};
use crate::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

#[test]
fn refuses_what_was_changed() {
    let fragment = "The encrypted content for item rs_";
    check(&[
        ("a seal", |b| b["input"][1]["encrypted_content"] = json!("U2VhbGVk0123"), fragment),
        ("an id", |b| b["input"][1]["id"] = json!("rs_2"), fragment),
        ("a summary", |b| b["input"][1]["summary"][0]["text"] = json!("Ha."), fragment),
        ("no summary", |b| b["input"][1]["summary"] = json!([]), fragment),
        ("a model", |b| b["model"] = json!("strict-2"), fragment),
        (
            "a thought made up",
            |b| input(b)[1] = with(thought("rs_1", "Hm."), "encrypted_content", json!("x")),
            fragment,
        ),
    ]);
    check(&[
        ("summary missing", |b| super::remove(&mut b["input"][1], "summary"), "'input[1].summary'"),
        (
            "summary as text",
            |b| b["input"][1]["summary"] = json!("Hm."),
            "expected an array, but got a string",
        ),
        (
            "part of a summary",
            |b| b["input"][1]["summary"][0]["type"] = json!("text"),
            "Invalid value: 'text'",
        ),
        ("id missing", |b| super::remove(&mut b["input"][1], "id"), "'input[1].id'"),
        ("id of another kind", |b| b["input"][1]["id"] = json!("msg_1"), "begins with 'rs'"),
        (
            "told openly",
            |b| b["input"][1]["content"] = json!([{"type": "reasoning_text", "text": "x"}]),
            "maximum length 0",
        ),
        (
            "seal of nothing",
            |b| b["input"][1]["encrypted_content"] = json!(""),
            "encrypted_content': empty string",
        ),
    ]);
}

/// The items that answer a request.
fn items(provider: &StrictProvider, body: &Value) -> Vec<Value> {
    let events = post(provider, body).events();
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    done.map(|event| event["item"].clone()).collect()
}

fn asking() -> Value {
    with(valid(), "input", json!([{"role": "user", "content": "Go."}]))
}

/// The conversation that `items` and outputs of their calls add to what was asked.
fn went_on(items: &[Value]) -> Value {
    let mut body = asking();
    input(&mut body).extend(items.iter().cloned());
    let calls = items.iter().filter_map(|item| item["call_id"].as_str());
    input(&mut body).extend(calls.map(|id| output(id, "done")));
    body
}

#[test]
fn wants_back_what_it_gave() {
    let answer = || Answer::new().sealed("Hm.").sealed("").call("a", "bash", json!({}));
    let provider = StrictProvider::start([answer(), Answer::say("ok"), Answer::say("ok")]);
    let given = items(&provider, &asking());
    assert_eq!(given.len(), 3, "{given:?}");
    assert_eq!((&given[0]["summary"][0]["text"], &given[1]["summary"]), (&json!("Hm."), &json!([])));

    assert_eq!(post(&provider, &went_on(&given)).status, 200);
    assert_eq!(post(&provider, &went_on(&given[2..])).status, 200, "who gives all of them up is let go on");
    let half = post(&provider, &went_on(&given[1..]));
    assert_eq!(half.status, 400);
    assert!(half.error().contains("the reasoning behind the call 'a' is missing"), "{}", half.error());
}

#[test]
fn what_is_given_up_is_given_up_with_all_before_it() {
    let thinks = |id: &str| Answer::new().sealed(id).call(id, "bash", json!({}));
    let provider = StrictProvider::start([thinks("a"), thinks("b"), Answer::say("ok"), Answer::say("ok")]);
    let mut given = items(&provider, &asking());
    given.push(output("a", "done"));
    given.extend(items(&provider, &went_on(&given[..2])));
    let sent = |items: &[Value]| {
        let mut body = asking();
        input(&mut body).extend(items.iter().cloned().chain([output("b", "done")]));
        post(&provider, &body)
    };
    assert_eq!(sent(&given).status, 200);
    assert_eq!(sent(&given[1..]).status, 200, "what came before may be given up");
    given.remove(3);
    let refused = sent(&given);
    assert!(refused.error().contains("the reasoning behind the call 'b' is missing"), "{}", refused.error());
}

#[test]
fn one_whole_answer_is_enough() {
    let answer = || Answer::new().sealed("Hm.").call("a", "bash", json!({}));
    let provider = StrictProvider::start([answer().cut_at(900), answer(), Answer::say("ok")]);
    items(&provider, &asking());
    let given = items(&provider, &asking());
    assert_eq!(post(&provider, &went_on(&given)).status, 200);
    provider.assert_clean();
}

#[test]
fn gives_none_unasked() {
    let provider = StrictProvider::start([Answer::new().sealed("Hm.").text("Hi.")]);
    let given = items(&provider, &least("x"));
    assert_eq!(
        (given.len(), &given[0]["type"], given[0].get("encrypted_content")),
        (2, &json!("reasoning"), None)
    );
}

#[test]
fn no_two_answers_share_an_item() {
    let provider =
        StrictProvider::start([Answer::new().sealed("Hm.").text("a"), Answer::new().sealed("Hm.").text("b")]);
    let first = items(&provider, &asking());
    let second = items(&provider, &asking());
    let other = StrictProvider::start(Answer::new().sealed("Hm.").text("a"));
    let third = items(&other, &with(asking(), "instructions", json!("Be long.")));
    let mut ids: Vec<_> = [first, second, third].concat().iter().map(|item| item["id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "{ids:?}");
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

#[test]
fn a_call_of_nobody_is_nobodys_business() {
    let provider =
        StrictProvider::start([Answer::new().sealed("Hm.").call("a", "bash", json!({})), Answer::say("ok")]);
    items(&provider, &asking());
    let strangers = [thought("rs_9", "So."), call("z", "bash", "{}")];
    assert_eq!(post(&provider, &went_on(&strangers)).status, 200);
}
