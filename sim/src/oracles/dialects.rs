//! What providers accept, by their own references: what a request becomes in each protocol is read back as a sequence of
//! things said, and judged.
//!
//! The body of a request is what counts. That our own form of a conversation is in order does not show that a provider
//! takes what is made of it.

use std::collections::{BTreeSet, VecDeque};

use hostler_core::model::ModelRequest;
use hostler_core::provider::wire::Protocol;
use serde_json::Value;

/// One thing that is said in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// Something by the user.
    User,
    /// Something by the model.
    Model,
    /// A call, by the name under which its result comes.
    Call(String),
    /// A result.
    Result(String),
}

type Reader = fn(&Value) -> Result<Vec<Said>, String>;

/// The protocols, and how their bodies are read.
const DIALECTS: [(Protocol, Reader); 4] = [
    (Protocol::Messages, messages),
    (Protocol::Chat, chat),
    (Protocol::Responses, responses),
    (Protocol::Gemini, gemini),
];

/// Whether every provider accepts a request. Fails with who does not, and why.
pub(super) fn check(request: &ModelRequest) -> Result<(), String> {
    for (protocol, read) in DIALECTS {
        let body = protocol.post("http://provider", None, request).body;
        let body: Value = serde_json::from_str(&body).map_err(|error| format!("{protocol:?}: {error}"))?;
        read(&body).and_then(|said| judge(&said)).map_err(|what| format!("{protocol:?}: {what}: {body}"))?;
    }
    Ok(())
}

/// The user begins and never speaks twice in a row, each call has its result directly behind its answer and in order, and
/// the model has the next word.
fn judge(said: &[Said]) -> Result<(), String> {
    let mut open = VecDeque::new();
    let mut results = false;
    for (at, what) in said.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| said.get(at));
        match what {
            Said::Call(_) if results && !open.is_empty() => return Err("a call among results".to_owned()),
            Said::Call(id) if open.contains(&id) => return Err(format!("two calls {id}")),
            Said::Call(id) => open.push_back(id),
            Said::Result(id) if open.pop_front() != Some(id) => {
                return Err(format!("a result {id} out of place"));
            }
            // Whoever calls may go on speaking in the same answer.
            Said::Model if !open.is_empty() && !results => {}
            Said::User | Said::Model if !open.is_empty() => return Err("a call without a result".to_owned()),
            Said::User if before == Some(&Said::User) => return Err("the user twice in a row".to_owned()),
            Said::User | Said::Model | Said::Result(_) => {}
        }
        results = matches!(what, Said::Result(_));
        if at == 0 && *what != Said::User {
            return Err("it does not begin with the user".to_owned());
        }
    }
    if open.is_empty() && matches!(said.last(), Some(Said::User | Said::Result(_))) {
        Ok(())
    } else {
        Err("it does not end with what is to be answered".to_owned())
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    value[name].as_array().filter(|list| !list.is_empty()).ok_or_else(|| format!("no {name}"))
}

fn text(value: &Value) -> Result<(), String> {
    let says = value.as_str().is_some_and(|text| !text.trim().is_empty());
    says.then_some(()).ok_or_else(|| format!("an empty text {value}"))
}

fn name(value: &Value) -> Result<String, String> {
    let name = value.as_str().filter(|name| !name.is_empty());
    name.map(str::to_owned).ok_or_else(|| format!("no name but {value}"))
}

fn object(arguments: &Value) -> Result<(), String> {
    let read = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    read.filter(Value::is_object).map(|_| ()).ok_or_else(|| format!("arguments {arguments}"))
}

/// Adds that somebody spoke; what one says in one message counts once.
fn speak(said: &mut Vec<Said>, from: usize, who: Said) {
    if !said[from..].contains(&who) {
        said.push(who);
    }
}

/// Whose turn it is if two take turns.
fn in_turn<'a>(message: &'a Value, at: usize, roles: [&str; 2]) -> Result<&'a str, String> {
    let role = message["role"].as_str().unwrap_or_default();
    if role == roles[at % 2] { Ok(role) } else { Err(format!("message {at} is by {role:?}")) }
}

fn messages(body: &Value) -> Result<Vec<Said>, String> {
    let (mut said, mut ids) = (Vec::new(), BTreeSet::new());
    for (at, message) in list(body, "messages")?.iter().enumerate() {
        let role = in_turn(message, at, ["user", "assistant"])?;
        let from = said.len();
        for block in list(message, "content")? {
            let user = role == "user";
            match block["type"].as_str().unwrap_or_default() {
                "text" => {
                    text(&block["text"])?;
                    speak(&mut said, from, if user { Said::User } else { Said::Model });
                }
                "image" if user => speak(&mut said, from, Said::User),
                "tool_result" if user => said.push(Said::Result(name(&block["tool_use_id"])?)),
                "tool_use" if !user && block["input"].is_object() => {
                    let id = name(&block["id"])?;
                    if !ids.insert(id.clone()) {
                        return Err(format!("the id {id} is used again"));
                    }
                    said.push(Said::Call(id));
                }
                "thinking" | "redacted_thinking" if !user => {}
                _ => return Err(format!("a block {block} by {role}")),
            }
        }
    }
    Ok(said)
}

fn chat(body: &Value) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for message in list(body, "messages")? {
        match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" if said.is_empty() => text(&message["content"])?,
            "user" => {
                if !message["content"].is_array() {
                    text(&message["content"])?;
                }
                said.push(Said::User);
            }
            "assistant" => {
                let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                if calls.is_empty() || message["content"].is_string() {
                    text(&message["content"])?;
                    said.push(Said::Model);
                }
                for call in calls {
                    object(&call["function"]["arguments"])?;
                    name(&call["function"]["name"])?;
                    said.push(Said::Call(name(&call["id"])?));
                }
            }
            "tool" => {
                text(&message["content"])?;
                said.push(Said::Result(name(&message["tool_call_id"])?));
            }
            role => return Err(format!("a message by {role:?}")),
        }
    }
    Ok(said)
}

fn responses(body: &Value) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for item in list(body, "input")? {
        match (item["type"].as_str().unwrap_or_default(), item["role"].as_str()) {
            ("message", Some("user")) => {
                list(item, "content")?;
                said.push(Said::User);
            }
            ("message", Some("assistant")) => {
                list(item, "content")?.iter().try_for_each(|part| text(&part["text"]))?;
                said.push(Said::Model);
            }
            ("function_call", _) => {
                object(&item["arguments"])?;
                said.push(Said::Call(name(&item["call_id"])?));
            }
            ("function_call_output", _) => {
                if !item["output"].is_array() {
                    text(&item["output"])?;
                }
                said.push(Said::Result(name(&item["call_id"])?));
            }
            ("reasoning", _) => {}
            _ => return Err(format!("an item {item}")),
        }
    }
    Ok(said)
}

/// Calls have no ids of their own there; a result goes by its tool and its place.
fn gemini(body: &Value) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for (at, content) in list(body, "contents")?.iter().enumerate() {
        let role = in_turn(content, at, ["user", "model"])?;
        let (from, mut calls, mut results) = (said.len(), 0, 0);
        for part in list(content, "parts")? {
            let (call, response) = (&part["functionCall"], &part["functionResponse"]);
            if call.is_object() && role == "model" && call["args"].is_object() {
                calls += 1;
                said.push(Said::Call(format!("{} {calls}", name(&call["name"])?)));
            } else if response.is_object() && role == "user" && response["response"].is_object() {
                results += 1;
                said.push(Said::Result(format!("{} {results}", name(&response["name"])?)));
            } else if part["text"].is_string() && part["thought"] != true {
                text(&part["text"])?;
                speak(&mut said, from, if role == "user" { Said::User } else { Said::Model });
            } else if part["inlineData"].is_object() && role == "user" {
                speak(&mut said, from, Said::User);
            } else if part.get("thoughtSignature").is_none() && part["thought"] != true {
                return Err(format!("a part {part}"));
            }
        }
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use hostler_core::content::{Block, ToolCall, ToolOutcome, ToolStatus};
    use hostler_core::ids::{CallId, StepId, TurnId};
    use hostler_core::model::{CallResult, Item, ModelRef};

    use super::*;

    fn request(items: Vec<Item>) -> ModelRequest {
        let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
        ModelRequest { model, system: "Be brief.".to_owned(), tools: Vec::new(), items }
    }

    fn conversation() -> Vec<Item> {
        let step = StepId { turn: TurnId(1), step: 1 };
        let id = CallId { step, call: 1 };
        let (provider_id, name, input) = ("x".to_owned(), "ls".to_owned(), "{".to_owned());
        let call = ToolCall { id, provider_id, name: name.clone(), input, opaque: None, outcome: None };
        let outcome = ToolOutcome::text(ToolStatus::Ok, "");
        let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
        vec![
            Item::User { text: "Do it.".to_owned(), media: Vec::new() },
            Item::Assistant { model, blocks: vec![Block::Text("Yes.".to_owned()), Block::Call(call)] },
            Item::Results(vec![CallResult { call: id, wire_id: "x".to_owned(), name, outcome }]),
        ]
    }

    #[test]
    fn a_conversation_with_a_call_is_legal_everywhere() {
        assert_eq!(check(&request(conversation())), Ok(()));
    }

    #[test]
    fn a_conversation_in_disorder_is_legal_nowhere() {
        for order in [vec![1, 2], vec![0, 1], vec![2], vec![]] {
            let items: Vec<_> = order.iter().map(|at| conversation()[*at].clone()).collect();
            for (protocol, read) in DIALECTS {
                let body = protocol.post("http://provider", None, &request(items.clone())).body;
                let body: Value = serde_json::from_str(&body).unwrap_or_default();
                assert!(read(&body).and_then(|said| judge(&said)).is_err(), "{protocol:?} {order:?}: {body}");
            }
        }
    }

    #[test]
    fn results_stand_behind_their_calls_and_in_order() {
        let call = |id: &str| Said::Call(id.to_owned());
        let result = |id: &str| Said::Result(id.to_owned());
        let (user, model) = (Said::User, Said::Model);
        let good =
            [user.clone(), call("a"), call("b"), result("a"), result("b"), model.clone(), user.clone()];
        assert_eq!(judge(&good), Ok(()));
        for bad in [
            vec![user.clone(), call("a"), user.clone()],
            vec![user.clone(), call("a"), call("b"), result("b"), result("a")],
            vec![user.clone(), call("a"), call("a"), result("a"), result("a")],
            vec![user.clone(), call("a"), result("a"), result("a")],
            vec![user.clone(), call("a"), call("b"), result("a"), call("c"), result("b"), result("c")],
            vec![user.clone(), model.clone()],
            vec![model, user],
        ] {
            assert!(judge(&bad).is_err(), "{bad:?}");
        }
    }
}
