//! That the rules refuse what they are there to refuse, and that requests only ever grow at their end.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Protocol;
use crate::model::{Item, ModelRequest};
use crate::provider::fixture::{assistant, call, histories, request, results, said, tool, user};

/// The field of a body that has the conversation.
fn conversation(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat | Protocol::Messages => "messages",
        Protocol::Responses => "input",
        Protocol::Gemini => "contents",
    }
}

fn body(protocol: Protocol, request: &ModelRequest) -> String {
    protocol.post("", None, request).body
}

/// A conversation with two calls, their results, and one more prompt.
fn whole(protocol: Protocol) -> Value {
    let items = [
        user("Look."),
        assistant(&[said("I look."), call(1, "ls", "{}"), call(2, "ls", "{}")]),
        results(&[(1, "call_1", "a"), (2, "call_2", "b")]),
        assistant(&[said("Seen.")]),
        user("And now?"),
    ];
    serde_json::from_str(&body(protocol, &request("", &items))).unwrap()
}

/// Breaks a conversation in one way; that must be noticed.
#[track_caller]
fn refused(protocol: Protocol, what: &str, spoil: impl FnOnce(&mut Vec<Value>)) {
    let mut body = whole(protocol);
    assert_eq!(protocol.check(&body.to_string()), Ok(()), "{protocol:?}");
    let before = body.clone();
    spoil(body[conversation(protocol)].as_array_mut().unwrap());
    assert_ne!(body, before, "{protocol:?}: {what} changes nothing");
    assert!(protocol.check(&body.to_string()).is_err(), "{protocol:?}: {what} is let pass: {body}");
}

#[test]
fn a_conversation_with_something_missing_or_doubled_is_refused() {
    for protocol in Protocol::ALL {
        refused(protocol, "its last prompt left out", |items| drop(items.pop()));
        refused(protocol, "its last prompt doubled", |items| items.push(items.last().unwrap().clone()));
        refused(protocol, "nothing of it", Vec::clear);
        let items = whole(protocol)[conversation(protocol)].as_array().cloned().unwrap();
        let of_calls = (0..items.len()).filter(|at| {
            let text = items[*at].to_string();
            ["tool_call", "tool_use", "tool_result", "function"].iter().any(|word| text.contains(word))
        });
        let of_calls: Vec<_> = of_calls.collect();
        assert!(of_calls.len() >= 2, "{protocol:?}");
        for at in of_calls {
            refused(protocol, &format!("item {at} left out"), |items| drop(items.remove(at)));
        }
    }
}

#[test]
fn results_belong_to_their_calls_in_their_order() {
    for protocol in Protocol::ALL {
        let swap = |a: &str, b: &str| {
            let (a, b) = (a.to_owned(), b.to_owned());
            move |items: &mut Vec<Value>| {
                // The answers come behind the calls: only those that are last are changed.
                let text = serde_json::to_string(items).unwrap();
                let at = text.rfind(&a).unwrap();
                let changed = format!("{}{b}{}", &text[..at], &text[at + a.len()..]);
                *items = serde_json::from_str(&changed).unwrap();
            }
        };
        if protocol != Protocol::Gemini {
            refused(protocol, "another id", swap("call_2", "call_3"));
            refused(protocol, "the same id twice", swap("call_2", "call_1"));
        }
        refused(protocol, "an empty name", swap(r#""name":"ls""#, r#""name":"""#));
        refused(protocol, "an empty prompt", swap("And now?", " "));
    }
}

/// The items of a body's conversation, and everything else, byte for byte. Where a cache ends is no part of what is cached.
fn parts(protocol: Protocol, request: &ModelRequest) -> (Vec<String>, BTreeMap<String, String>) {
    let text = body(protocol, request).replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap();
    let items = fields.remove(conversation(protocol)).unwrap();
    let items: Vec<Box<RawValue>> = serde_json::from_str(items.get()).unwrap();
    let rest = fields.into_iter().map(|(name, value)| (name, value.get().to_owned()));
    (items.iter().map(|item| item.get().to_owned()).collect(), rest.collect())
}

proptest! {
    #[test]
    fn a_request_begins_byte_for_byte_with_those_before_it(
        request in histories::requests(&[r#""sig""#, r#"{"thoughtSignature":"sig"}"#]),
    ) {
        let answers = request.items.iter().enumerate().filter(|(_, item)| matches!(item, Item::Assistant { .. }));
        // Behind what comes before an answer, it was asked for.
        for (at, _) in answers {
            let earlier = ModelRequest { items: request.items[..at].to_vec(), ..request.clone() };
            for protocol in Protocol::ALL {
                let ((before, fixed), (now, rest)) = (parts(protocol, &earlier), parts(protocol, &request));
                prop_assert!(now.starts_with(&before), "{:?}: {:?} {:?}", protocol, before, now);
                prop_assert_eq!(fixed, rest);
            }
        }
    }
}

#[test]
fn what_a_request_is_made_of_besides_the_conversation_is_always_the_same_text() {
    for protocol in Protocol::ALL {
        let with = |text: &str| ModelRequest {
            tools: vec![tool("ls", r#"{"type":"object"}"#), tool("view", r#"{"type":"object"}"#)],
            ..request("Be brief.", &[user(text)])
        };
        assert_eq!(parts(protocol, &with("a")).1, parts(protocol, &with("b")).1);
        assert_eq!(body(protocol, &with("a")), body(protocol, &with("a")));
    }
}
