//! Parameters, instructions, tools and cache marks that are refused, and those that are not.

use super::{Row, block, check, check_accepted, mark, remove, text, tool};
use serde_json::{Value, json};

#[test]
fn refuses_bad_parameters() {
    check(&[
        ("not an object", |b| *b = json!([1]), "Input should be a valid dictionary"),
        (
            "unknown field",
            |b| b["stream_options"] = json!({}),
            "stream_options: Extra inputs are not permitted",
        ),
        ("no model", |b| remove(b, "model"), "model: Field required"),
        ("empty model", |b| b["model"] = json!(""), "model: String should have at least 1 character"),
        ("no max_tokens", |b| remove(b, "max_tokens"), "max_tokens: Field required"),
        (
            "no tokens",
            |b| b["max_tokens"] = json!(0),
            "max_tokens: Input should be greater than or equal to 1",
        ),
        ("fewer tokens", |b| b["max_tokens"] = json!(-1), "greater than or equal to 1"),
        (
            "fractional tokens",
            |b| b["max_tokens"] = json!(1.5),
            "max_tokens: Input should be a valid integer",
        ),
        ("null tokens", |b| b["max_tokens"] = json!(null), "valid integer"),
        ("no stream", |b| remove(b, "stream"), "'stream' must be true"),
        ("not streaming", |b| b["stream"] = json!(false), "'stream' must be true"),
        ("stream not a boolean", |b| b["stream"] = json!("yes"), "stream: Input should be a valid boolean"),
        (
            "too hot",
            |b| b["temperature"] = json!(1.1),
            "temperature: Input should be less than or equal to 1",
        ),
        ("top_p", |b| b["top_p"] = json!(-0.1), "top_p: Input should be greater than or equal to 0"),
        ("top_k", |b| b["top_k"] = json!("x"), "top_k: Input should be a valid integer"),
        ("blank stop", |b| b["stop_sequences"] = json!([" "]), "must contain non-whitespace"),
        ("tier", |b| b["service_tier"] = json!("default"), "service_tier: Input should be 'auto'"),
        ("metadata", |b| b["metadata"] = json!({"name": "x"}), "metadata.name: Extra inputs"),
        ("long user", |b| b["metadata"] = json!({"user_id": "x".repeat(257)}), "at most 256 characters"),
        ("effort", |b| b["output_config"] = json!({"effort": "huge"}), "output_config.effort"),
    ]);
}

#[test]
fn refuses_bad_thinking() {
    check(&[
        ("type", |b| b["thinking"] = json!({"type": "on"}), "Input tag 'on'"),
        ("no budget", |b| b["thinking"] = json!({"type": "enabled"}), "budget_tokens: Field required"),
        ("small budget", |b| b["thinking"] = thinks(1023), "greater than or equal to 1024"),
        ("whole budget", |b| b["thinking"] = thinks(32000), "`max_tokens` must be greater"),
        ("field", |b| b["thinking"] = json!({"type": "disabled", "budget_tokens": 2000}), "Extra inputs"),
        ("cool", |b| with_thinking(b, "temperature", json!(0.5)), "`temperature` may only be set to 1"),
        ("top_p", |b| with_thinking(b, "top_p", json!(0.9)), "`top_p` must be"),
        ("top_k", |b| with_thinking(b, "top_k", json!(5)), "`top_k` must be unset"),
        ("forced", |b| with_thinking(b, "tool_choice", json!({"type": "any"})), "forces tool use"),
    ]);
    check_accepted(&[
        ("budget", |b| b["thinking"] = thinks(31999)),
        ("adaptive", |b| b["thinking"] = json!({"type": "adaptive", "display": "summarized"})),
        ("disabled", |b| b["thinking"] = json!({"type": "disabled"})),
        ("warm", |b| with_thinking(b, "temperature", json!(1))),
    ]);
}

fn thinks(budget: u64) -> Value {
    json!({"type": "enabled", "budget_tokens": budget})
}

fn with_thinking(body: &mut Value, name: &str, value: Value) {
    body["thinking"] = thinks(2000);
    body[name] = value;
}

#[test]
fn refuses_bad_instructions_and_marks() {
    let rows: &[Row] = &[
        (
            "empty system",
            |b| b["system"][0]["text"] = json!(""),
            "system: text content blocks must be non-empty",
        ),
        ("blank system", |b| b["system"][0]["text"] = json!(" \n"), "must contain non-whitespace"),
        ("picture", |b| b["system"][0]["type"] = json!("image"), "Input tag 'image'"),
        ("system as an object", |b| b["system"] = json!({}), "system: Input should be a valid list"),
        ("field of a text", |b| b["system"][0]["cache"] = json!(1), "system.0.text.cache: Extra inputs"),
        (
            "kind of mark",
            |b| b["system"][0]["cache_control"] = json!({"type": "for ever"}),
            "Input tag 'for ever'",
        ),
        (
            "time to live",
            |b| b["system"][0]["cache_control"]["ttl"] = json!("1d"),
            "Input should be '5m' or '1h'",
        ),
        (
            "field of a mark",
            |b| b["system"][0]["cache_control"]["x"] = json!(1),
            "cache_control.x: Extra inputs",
        ),
        (
            "an hour after minutes",
            |b| block(b, 4, 1)["cache_control"]["ttl"] = json!("1h"),
            "must not come after",
        ),
        ("five marks", |b| marks(b, 3), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        ("mark of all", |b| marked_whole(b), "Found 5."),
    ];
    check(rows);
    check_accepted(&[
        ("four marks", |b| marks(b, 2)),
        ("plain system", |b| b["system"] = json!("Be brief.")),
        ("no system", |b| remove(b, "system")),
        ("an hour before minutes", |b| b["system"][0]["cache_control"]["ttl"] = json!("1h")),
    ]);
}

/// Marks so many more blocks: the tools, then results.
fn marks(body: &mut Value, count: usize) {
    for at in 0..count {
        let block = if at < 2 { &mut body["tools"][at] } else { block(body, 2, at - 2) };
        block["cache_control"] = mark();
    }
}

fn marked_whole(body: &mut Value) {
    marks(body, 2);
    body["cache_control"] = mark();
}

#[test]
fn refuses_bad_tools() {
    check(&[
        ("not a list", |b| b["tools"] = json!({}), "tools: Input should be a valid list"),
        ("no tools for calls", no_tools, "must define tools"),
        (
            "empty tools for calls",
            |b| {
                *b = changed(b, |b| {
                    remove(b, "tool_choice");
                    b["tools"] = json!([]);
                })
            },
            "must define tools",
        ),
        ("twice", |b| b["tools"][1] = tool("bash"), "Tool names must be unique"),
        ("name", |b| b["tools"][0]["name"] = json!("a.b"), "should match pattern"),
        ("long name", |b| b["tools"][0]["name"] = json!("x".repeat(129)), "{1,128}"),
        ("no name", |b| remove(&mut b["tools"][0], "name"), "tools.0.custom.name: Field required"),
        ("unknown kind", |b| b["tools"][0]["type"] = json!("function"), "Input tag 'function'"),
        ("field", |b| b["tools"][0]["parameters"] = json!({}), "parameters: Extra inputs"),
        ("no schema", |b| remove(&mut b["tools"][0], "input_schema"), "input_schema: Field required"),
        (
            "schema type",
            |b| b["tools"][0]["input_schema"]["type"] = json!("array"),
            "Input should be 'object'",
        ),
        (
            "bad schema",
            |b| b["tools"][0]["input_schema"]["properties"]["path"]["type"] = json!("text"),
            "JSON schema is invalid",
        ),
        ("alternatives", |b| b["tools"][0]["input_schema"]["anyOf"] = json!([{}]), "at the top level"),
        ("choice", |b| b["tool_choice"] = json!({"type": "some"}), "Input tag 'some'"),
        ("choice as text", |b| b["tool_choice"] = json!("auto"), "valid dictionary"),
        (
            "choice of nothing",
            |b| b["tool_choice"] = json!({"type": "tool"}),
            "tool_choice.tool.name: Field required",
        ),
        ("choice of another", |b| b["tool_choice"] = json!({"type": "tool", "name": "x"}), "'x' not found"),
        ("field of a choice", |b| b["tool_choice"]["x"] = json!(1), "tool_choice.auto.x: Extra inputs"),
    ]);
    check_accepted(&[
        ("one of them", |b| b["tool_choice"] = json!({"type": "tool", "name": "read"})),
        ("custom", |b| b["tools"][0]["type"] = json!("custom")),
        ("one at a time", |b| b["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true})),
        ("no description", |b| remove(&mut b["tools"][0], "description")),
        ("no tools", |b| {
            *b = super::least("Hi");
        }),
        ("a text block alone", |b| {
            *b = super::least("Hi");
            b["messages"][0]["content"] = json!([text("Hi")]);
        }),
    ]);
}

fn no_tools(body: &mut Value) {
    remove(body, "tool_choice");
    remove(body, "tools");
}

fn changed(body: &Value, change: fn(&mut Value)) -> Value {
    let mut body = body.clone();
    change(&mut body);
    body
}
