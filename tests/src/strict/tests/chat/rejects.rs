//! What is refused and with which words, one row each, and what is not.

mod conversations;

use super::{call, client, least, tool, valid};
use crate::strict::{Answer, Protocol, StrictProvider, check_body};
use serde_json::{Value, json};

/// A name, a change to a valid request, and a part of the message that refuses the result.
type Row = (&'static str, Change, &'static str);

type Change = fn(&mut Value);

fn check(rows: &[Row]) {
    let provider = StrictProvider::start(Answer::say("unused"));
    for (index, (name, change, fragment)) in rows.iter().enumerate() {
        let mut body = valid();
        change(&mut body);
        assert_ne!(body, valid(), "{name} changes nothing");
        let response = client::post(&provider, &body).unwrap();
        let message = response.error();
        assert_eq!(response.status, 400, "{name}: {message}");
        assert!(message.contains(fragment), "{name}: {message:?} does not say {fragment:?}");
        assert!(provider.rejections()[index].contains(&message), "{name} is not on record");
        assert_eq!(check_body(Protocol::Chat, &body), Err(message), "{name}");
    }
    assert_eq!(provider.remaining(), 1, "a refused request took an answer");
}

fn check_accepted(rows: &[(&str, Change)]) {
    for (name, change) in rows {
        let mut body = valid();
        change(&mut body);
        assert_eq!(check_body(Protocol::Chat, &body), Ok(()), "{name}");
    }
}

#[test]
fn refuses_bad_parameters() {
    check(&[
        ("not an object", |b| *b = json!([1]), "must be a JSON object"),
        (
            "unknown field",
            |b| b["thinking"] = json!(true),
            "Unrecognized request argument supplied: thinking",
        ),
        ("no model", |b| remove(b, "model"), "you must provide a model"),
        ("empty model", |b| b["model"] = json!(""), "Invalid 'model': empty string"),
        ("model not a string", |b| b["model"] = json!(1), "Invalid type for 'model'"),
        ("no stream", |b| remove(b, "stream"), "'stream_options' parameter is only allowed"),
        ("not streaming", |b| *b = with(least("x"), "stream", json!(false)), "'stream' must be true"),
        ("stream not a boolean", |b| b["stream"] = json!("yes"), "expected a boolean"),
        ("null field", |b| b["temperature"] = json!(null), "must be left out, not null"),
        ("null tools", |b| b["tools"] = json!(null), "must be left out, not null"),
        (
            "unknown stream option",
            |b| b["stream_options"]["x"] = json!(1),
            "Unknown parameter: 'stream_options.x'",
        ),
        ("no tokens", |b| b["max_tokens"] = json!(0), "not between 1"),
        ("fractional tokens", |b| b["max_completion_tokens"] = json!(1.5), "expected an integer"),
        ("both limits", both_limits, "'max_tokens' and 'max_completion_tokens' at the same time"),
        ("too hot", |b| b["temperature"] = json!(2.1), "Invalid 'temperature': 2.1"),
        ("temperature as text", |b| b["temperature"] = json!("1"), "expected a decimal"),
        ("top_p", |b| b["top_p"] = json!(-0.1), "Invalid 'top_p'"),
        ("too many stops", |b| b["stop"] = json!(["a", "b", "c", "d", "e"]), "at most 4"),
        ("empty stop", |b| b["stop"] = json!([""]), "Invalid 'stop[0]': empty string"),
        ("effort", |b| b["reasoning_effort"] = json!("huge"), "Invalid value: 'huge'"),
        ("tier", |b| b["service_tier"] = json!("first"), "Invalid value: 'first'"),
        ("top_logprobs alone", |b| b["top_logprobs"] = json!(2), "only allowed when 'logprobs'"),
        ("format", |b| b["response_format"] = json!({"type": "xml"}), "Invalid value: 'xml'"),
        ("format without schema", |b| b["response_format"] = json!({"type": "json_schema"}), "json_schema'"),
        ("extra in format", |b| b["response_format"] = format(&["x"], &[]), "'response_format.x'"),
        ("extra in schema", |b| b["response_format"] = format(&[], &["x"]), "json_schema.x'"),
        ("long key", |b| b["metadata"] = json!({"x".repeat(65): "a"}), "maximum length 64"),
        ("metadata", |b| b["metadata"] = json!({"a": 1}), "Invalid type for 'metadata.a'"),
        ("bias", |b| b["logit_bias"] = json!({"5": 101}), "Invalid 'logit_bias.5'"),
    ]);
}

#[test]
fn refuses_bad_tools() {
    check(&[
        ("no tools", |b| b["tools"] = json!([]), "Invalid 'tools': empty array"),
        ("too many", |b| b["tools"] = (0..129).map(|n| tool(&format!("t{n}"))).collect(), "at most 128"),
        ("same name", |b| b["tools"][1] = tool("bash"), "'bash' is offered twice"),
        ("name pattern", |b| b["tools"][0] = tool("a b"), "does not match pattern"),
        ("type", |b| b["tools"][0]["type"] = json!("web_search"), "Invalid value: 'web_search'"),
        (
            "extra",
            |b| b["tools"][0]["cache_control"] = json!({}),
            "Unknown parameter: 'tools[0].cache_control'",
        ),
        ("no parameters", |b| remove(&mut b["tools"][0]["function"], "parameters"), "must be given"),
        (
            "not an object",
            |b| parameters(b)["type"] = json!("string"),
            "schema must be a JSON Schema of 'type",
        ),
        ("no type", |b| remove(parameters(b), "type"), "schema must be a JSON Schema of 'type"),
        ("no properties", |b| *parameters(b) = json!({"type": "object"}), "object schema missing properties"),
        (
            "no items",
            |b| remove(&mut parameters(b)["properties"]["tags"], "items"),
            "array schema missing items",
        ),
        (
            "unknown type",
            |b| parameters(b)["properties"]["path"]["type"] = json!("str"),
            "\"str\" is not a valid type",
        ),
        (
            "required unknown",
            |b| parameters(b)["required"] = json!(["x"]),
            "'x' is required but not a property",
        ),
        ("required twice", |b| parameters(b)["required"] = json!(["path", "path"]), "required twice"),
        ("empty enum", |b| parameters(b)["properties"]["path"]["enum"] = json!([]), "'enum' must be"),
        ("extra in function", |b| b["tools"][0]["function"]["x"] = json!(1), "'tools[0].function.x'"),
        (
            "no description",
            |b| b["tools"][0]["function"]["description"] = json!(""),
            "description': empty string",
        ),
        ("alternative", |b| parameters(b)["anyOf"] = json!([{"type": "str"}]), "In context=().anyOf"),
        ("no alternatives", |b| parameters(b)["oneOf"] = json!([]), "'oneOf' must be a non-empty array"),
        (
            "strict as text",
            |b| b["tools"][0]["function"]["strict"] = json!("yes"),
            "Invalid type for 'tools[0]",
        ),
        ("choice of a kind", |b| b["tool_choice"] = with(named("bash"), "type", json!("custom")), "'custom'"),
        ("extra in choice", |b| b["tool_choice"] = with(named("bash"), "x", json!(1)), "'tool_choice.x'"),
        ("extra in chosen", |b| b["tool_choice"] = chosen_with_extra(), "'tool_choice.function.x'"),
        (
            "strict",
            |b| b["tools"][0]["function"]["strict"] = json!(true),
            "'additionalProperties' is required",
        ),
        ("choice without tools", |b| remove(b, "tools"), "'tool_choice' is only allowed when 'tools'"),
        ("choice", |b| b["tool_choice"] = json!("any"), "Invalid value: 'any'"),
        ("choice of nothing", |b| b["tool_choice"] = named("zap"), "the tool 'zap' is not among"),
    ]);
}

#[test]
fn accepts_what_is_allowed() {
    check_accepted(&[
        ("as it is", |_| {}),
        ("the least", |b| *b = least("hi")),
        ("ends with a tool", |b| cut(b, 5, 7)),
        ("answers in another order", |b| swap(b, 3, 4)),
        ("user after tools", |b| cut(b, 5, 6)),
        ("calls without content", |b| remove(&mut b["messages"][2], "content")),
        ("calls with content", |b| b["messages"][2]["content"] = json!("Looking.")),
        ("an id used again", |b| {
            cut(b, 5, 7);
            let again = json!({"role": "assistant", "tool_calls": [call("a", "bash", "{\"path\":\"x\"}")]});
            let answer = json!({"role": "tool", "tool_call_id": "a", "content": "three"});
            b["messages"].as_array_mut().unwrap().extend([again, answer]);
        }),
        ("two instructions", |b| b["messages"].as_array_mut().unwrap().insert(0, developer())),
        ("an image", |b| b["messages"][6]["content"][0] = image("data:image/png;base64,AAAA")),
        ("a choice", |b| b["tool_choice"] = named("read")),
        ("a limit", |b| b["max_completion_tokens"] = json!(1)),
        ("whole temperature", |b| b["temperature"] = json!(2)),
    ]);
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().unwrap().remove(name).unwrap();
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

fn both_limits(body: &mut Value) {
    body["max_tokens"] = json!(5);
    body["max_completion_tokens"] = json!(5);
}

fn parameters(body: &mut Value) -> &mut Value {
    &mut body["tools"][0]["function"]["parameters"]
}

fn cut(body: &mut Value, from: usize, to: usize) {
    body["messages"].as_array_mut().unwrap().drain(from..to);
}

fn swap(body: &mut Value, one: usize, other: usize) {
    body["messages"].as_array_mut().unwrap().swap(one, other);
}

fn developer() -> Value {
    json!({"role": "developer", "content": "Be kind."})
}

fn image(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn named(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name}})
}

fn chosen_with_extra() -> Value {
    json!({"type": "function", "function": {"name": "bash", "x": 1}})
}

/// A response format with more fields, outside and inside.
fn format(outer: &[&str], inner: &[&str]) -> Value {
    let mut format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {}}});
    outer.iter().for_each(|name| format[*name] = json!(1));
    inner.iter().for_each(|name| format["json_schema"][*name] = json!(1));
    format
}
