//! Tests of what is particular about Gemini.

mod configs;
mod heads;
mod rejects;
mod seals;
mod streams;

use super::client::{End, JSON, Response, exchange};
use crate::strict::{Protocol, StrictProvider, check_body};
use serde_json::{Value, json};

type Change = fn(&mut Value);

const KEY: &str = "x-goog-api-key: key\r\n";
const TARGET: &str = "/v1beta/models/strict-1:streamGenerateContent?alt=sse";

/// A request that every check passes and that uses most of what there is.
fn valid() -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 100,
            "stopSequences": ["END"],
            "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"},
        },
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "tools": [{"functionDeclarations": [function("bash"), function("read")]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "contents": [
            {"role": "user", "parts": [{"text": "List the files."}]},
            {"role": "model", "parts": [{"text": "I look.", "thought": true}, call("bash"), call("read")]},
            {"role": "user", "parts": [response("bash"), response("read")]},
            {"role": "model", "parts": [{"text": "Two files."}]},
            {"role": "user", "parts": [{"text": "Thanks."}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]},
        ],
    })
}

/// The least that is accepted.
fn least(text: &str) -> Value {
    json!({"contents": [{"parts": [{"text": text}]}]})
}

fn function(name: &str) -> Value {
    let properties =
        json!({"path": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": properties, "required": ["path"]});
    json!({"name": name, "description": "A tool.", "parametersJsonSchema": schema})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {"path": "."}}})
}

fn response(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": "one"}}})
}

/// A change to a valid request, and a part of the message with which it must be refused.
fn refused(rows: &[(&str, Change, &str)]) {
    for (name, change, message) in rows {
        let mut body = valid();
        change(&mut body);
        let said = check_body(Protocol::Gemini, &body).expect_err(name);
        assert!(said.contains(message), "{name}: {said}");
    }
}

fn accepted(rows: &[(&str, Change)]) {
    for (name, change) in rows {
        let mut body = valid();
        change(&mut body);
        assert_eq!(check_body(Protocol::Gemini, &body), Ok(()), "{name}");
    }
}

/// The bytes of a request with these header lines.
fn request(method: &str, target: &str, head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {target} HTTP/1.1\r\nhost: x\r\n{head}content-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Posts a request to a model and reads the response.
fn ask(provider: &StrictProvider, model: &str, body: &Value) -> Result<Response, End> {
    let target = TARGET.replace("strict-1", model);
    exchange(provider, &request("POST", &target, &format!("{KEY}{JSON}"), &body.to_string()))
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().unwrap().remove(name).unwrap();
}

fn contents(body: &mut Value) -> &mut Vec<Value> {
    body["contents"].as_array_mut().unwrap()
}
