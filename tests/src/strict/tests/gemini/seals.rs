//! Signatures: they come back where they were, and as they were.

use super::{ask, least};
use crate::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

/// The parts that a model answers with.
fn answered(model: &str, answer: Answer) -> Vec<Value> {
    let provider = StrictProvider::start(answer);
    let events = ask(&provider, model, &least("hi")).unwrap().events();
    let parts = events.iter().filter_map(|event| event["candidates"][0]["content"]["parts"].as_array());
    parts.flatten().filter(|part| *part != &json!({"text": ""})).cloned().collect()
}

/// A conversation in which the model has answered so, and `more` came after that.
fn with(parts: &[Value], more: &[Value]) -> Value {
    let mut contents =
        vec![json!({"role": "user", "parts": [{"text": "hi"}]}), json!({"role": "model", "parts": parts})];
    contents.extend(more.iter().cloned());
    json!({"contents": contents})
}

fn responded(name: &str) -> Value {
    json!({"role": "user", "parts": [{"functionResponse": {"name": name, "id": "a", "response": {"output": "x"}}}]})
}

/// What is said of a conversation that is sent to a model.
fn said(model: &str, body: &Value) -> Result<(), String> {
    let provider = StrictProvider::start(Answer::say("ok"));
    let response = ask(&provider, model, body).unwrap();
    if response.status == 200 { Ok(()) } else { Err(response.error()) }
}

fn calling() -> Answer {
    Answer::say("I look.").call("a", "ls", json!({"path": "."}))
}

#[test]
fn the_signature_of_a_call_comes_back_or_is_missed() {
    let parts = answered("strict-1", calling());
    assert_eq!(said("strict-1", &with(&parts, &[responded("ls")])), Ok(()));
    let mut unsigned = parts.clone();
    unsigned[1].as_object_mut().unwrap().remove("thoughtSignature");
    let missing = said("strict-1", &with(&unsigned, &[responded("ls")])).unwrap_err();
    assert!(
        missing.contains("missing a thought_signature") && missing.contains("default_api:ls` , position 2"),
        "{missing}"
    );
    assert_eq!(
        said("gemini-2.5-pro", &with(&unsigned, &[responded("ls")])),
        Ok(()),
        "older models want none"
    );
    let later = [
        responded("ls"),
        json!({"role": "model", "parts": [{"text": "Done."}]}),
        json!({"role": "user", "parts": [{"text": "And?"}]}),
    ];
    assert_eq!(said("strict-1", &with(&unsigned, &later)), Ok(()), "only the current turn counts");
    let words = json!({"role": "user", "parts": [responded("ls")["parts"][0], {"text": "And?"}]});
    assert!(said("strict-1", &with(&unsigned, &[words])).is_err(), "words beside a response begin no turn");
    for excuse in ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"] {
        unsigned[1]["thoughtSignature"] = json!(excuse);
        assert_eq!(said("strict-1", &with(&unsigned, &[responded("ls")])), Ok(()));
    }
}

#[test]
fn a_signature_is_refused_in_another_place_or_form() {
    let parts = answered("strict-1", calling());
    let refused = |change: fn(&mut Vec<Value>)| {
        let mut parts = parts.clone();
        change(&mut parts);
        let said = said("strict-1", &with(&parts, &[responded("ls")])).unwrap_err();
        assert_eq!(said, "Thought signature is not valid");
    };
    refused(|parts| parts[1]["functionCall"]["args"]["path"] = json!(".."));
    refused(|parts| parts[0]["thoughtSignature"] = parts[1]["thoughtSignature"].clone());
    refused(|parts| parts[1]["thoughtSignature"] = json!("QUJD"));
    let other = said("another", &with(&parts, &[responded("ls")])).unwrap_err();
    assert_eq!(other, "Thought signature is not valid", "a signature is for the model that made it");
}

#[test]
fn texts_and_thoughts_are_signed_as_they_were_said() {
    let user = json!({"role": "user", "parts": [{"text": "And?"}]});
    let parts = answered("strict-1", Answer::new().sealed("Hm.").text("Hel").text("lo. "));
    let joined = [parts[0].clone(), json!({"text": "Hello. "}), parts[3].clone()];
    for parts in [&parts[..], &joined[..], &joined[1..2]] {
        assert_eq!(said("strict-1", &with(parts, std::slice::from_ref(&user))), Ok(()), "{parts:?}");
    }
    let other = [json!({"text": "Hello!"}), parts[3].clone()];
    assert!(said("strict-1", &with(&other, std::slice::from_ref(&user))).is_err());
    let other = [
        json!({"text": "Hm!", "thought": true, "thoughtSignature": parts[0]["thoughtSignature"]}),
        json!({"text": "x"}),
    ];
    assert!(said("strict-1", &with(&other, &[user])).is_err());
    let alone = answered("strict-1", Answer::new().sealed("").text("Hello."));
    assert_eq!((alone[0]["text"].as_str(), alone[0]["thoughtSignature"].is_string()), (Some(""), true));
}
