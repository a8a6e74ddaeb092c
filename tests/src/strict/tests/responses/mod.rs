//! Tests of how the strict provider speaks Responses.

mod items;
mod orders;
mod params;
mod seals;
mod streams;

use super::client::{self, Response};
use crate::strict::{Answer, Protocol, StrictProvider, check_body, seal::seal};
use serde_json::{Value, json};

/// A name, a change to a valid request, and a part of the message that refuses the result.
type Row = (&'static str, Change, &'static str);

type Change = fn(&mut Value);

/// A request that every check passes and that uses most of what there is.
fn valid() -> Value {
    json!({
        "model": "strict-1",
        "instructions": "Be brief.",
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [tool("bash"), tool("read")],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "prompt_cache_key": "a-session",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
            thought("rs_1", "Hm."),
            call("a", "bash", "{}"),
            call("b", "read", "{\"path\":\"x\"}"),
            output("a", "one"),
            output("b", "two"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two files."}]},
            {"role": "user", "content": "Thanks."},
        ],
    })
}

/// The least that is accepted.
fn least(text: &str) -> Value {
    json!({"model": "strict-1", "stream": true, "store": false, "input": text})
}

fn tool(name: &str) -> Value {
    let properties =
        json!({"path": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}});
    let parameters = json!({"type": "object", "properties": properties, "required": ["path"]});
    json!({"type": "function", "name": name, "description": "A tool.", "parameters": parameters, "strict": false})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

/// A thought of the strict model, sealed as it seals them.
fn thought(id: &str, summary: &str) -> Value {
    json!({
        "type": "reasoning",
        "id": id,
        "summary": [{"type": "summary_text", "text": summary}],
        "encrypted_content": seal("strict-1", &[id, summary]),
    })
}

fn post(provider: &StrictProvider, body: &Value) -> Response {
    let body = body.to_string();
    let head = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: x\r\n{}{}content-length: {}\r\n\r\n",
        client::KEY,
        client::JSON,
        body.len()
    );
    client::exchange(provider, format!("{head}{body}").as_bytes()).unwrap()
}

/// Checks that each change to a valid request is refused with status 400.
fn check(rows: &[Row]) {
    check_status(400, rows);
}

fn check_status(status: u16, rows: &[Row]) {
    let provider = StrictProvider::start(Answer::say("unused"));
    for (index, (name, change, fragment)) in rows.iter().enumerate() {
        let mut body = valid();
        change(&mut body);
        assert_ne!(body, valid(), "{name} changes nothing");
        let response = post(&provider, &body);
        let message = response.error();
        assert_eq!(response.status, status, "{name}: {message}");
        assert!(message.contains(fragment), "{name}: {message:?} does not say {fragment:?}");
        assert!(provider.rejections()[index].contains(&message), "{name} is not on record");
        assert_eq!(check_body(Protocol::Responses, &body), Err(message), "{name}");
    }
    assert_eq!(provider.remaining(), 1, "a refused request took an answer");
}

fn check_accepted(rows: &[(&str, Change)]) {
    for (name, change) in rows {
        let mut body = valid();
        change(&mut body);
        assert_eq!(check_body(Protocol::Responses, &body), Ok(()), "{name}");
    }
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().unwrap().remove(name).unwrap();
}

fn input(body: &mut Value) -> &mut Vec<Value> {
    body["input"].as_array_mut().unwrap()
}

#[test]
fn says_what_was_said() {
    use crate::strict::Said;
    let provider = StrictProvider::start([Answer::say("ok"), Answer::say("ok")]);
    post(&provider, &valid());
    post(&provider, &least("hi"));
    provider.assert_clean();
    let requests = provider.completions();
    let said = [
        Said::System("Be brief.".to_owned()),
        Said::User("List the files.".to_owned()),
        Said::Assistant { text: String::new(), calls: vec!["a".to_owned(), "b".to_owned()] },
        Said::Result { call: "a".to_owned(), text: "one".to_owned() },
        Said::Result { call: "b".to_owned(), text: "two".to_owned() },
        Said::Assistant { text: "Two files.".to_owned(), calls: Vec::new() },
        Said::User("Thanks.".to_owned()),
    ];
    assert_eq!(requests[0].said(), said);
    assert_eq!(requests[0].tool_names(), ["bash", "read"]);
    assert_eq!(requests[1].said(), [Said::User("hi".to_owned())]);
}

#[test]
fn refuses_in_the_providers_words() {
    let provider = StrictProvider::start(crate::strict::Script::new([]).key("sk-other"));
    let refused = post(&provider, &least("x"));
    let error = json!({"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error",
        "param": null, "code": "invalid_api_key"}});
    assert_eq!((refused.status, refused.json()), (401, error));

    let provider = StrictProvider::start(crate::strict::Script::new([]).models(["other"]));
    let refused = post(&provider, &least("x"));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("model_not_found")));

    let provider = StrictProvider::start([Answer::context_exceeded(), Answer::rate_limited("3")]);
    let refused = post(&provider, &least("x"));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("context_length_exceeded")));
    let refused = post(&provider, &least("x"));
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("3")));
    assert_eq!(refused.json()["error"]["code"], "rate_limit_exceeded");
}
