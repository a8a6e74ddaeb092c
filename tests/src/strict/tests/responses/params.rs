//! Parameters and tools: what is refused and with which words, one row each, and what is not.

use super::{check, check_accepted, check_status, least, remove, tool};
use serde_json::{Value, json};

#[test]
fn refuses_bad_parameters() {
    check(&[
        ("not an object", |b| *b = json!([1]), "must be a JSON object"),
        ("unknown field", |b| b["thinking"] = json!(true), "Unknown parameter: 'thinking'"),
        (
            "messages",
            |b| b["messages"] = json!([]),
            "'messages'. In the Responses API, this parameter has moved to 'input'",
        ),
        ("max_tokens", |b| b["max_tokens"] = json!(9), "moved to 'max_output_tokens'"),
        ("chat's effort", |b| b["reasoning_effort"] = json!("low"), "moved to 'reasoning.effort'"),
        ("chat's format", |b| b["response_format"] = json!({"type": "text"}), "moved to 'text.format'"),
        ("no model", |b| remove(b, "model"), "Missing required parameter: 'model'"),
        ("empty model", |b| b["model"] = json!(""), "Invalid 'model': empty string"),
        ("not streaming", |b| b["stream"] = json!(false), "'stream' must be true"),
        ("no stream", |b| remove(b, "stream"), "'stream' must be true"),
        ("stored", |b| b["store"] = json!(true), "'store' must be false"),
        ("stored by default", |b| remove(b, "store"), "'store' must be false"),
        ("in the background", |b| b["background"] = json!(true), "Background mode requires 'store'"),
        ("null field", |b| b["temperature"] = json!(null), "must be left out, not null"),
        ("options without a stream", options_alone, "'stream_options' parameter is only allowed"),
        (
            "chat's option",
            |b| b["stream_options"] = json!({"include_usage": true}),
            "'stream_options.include_usage'",
        ),
        (
            "too few tokens",
            |b| b["max_output_tokens"] = json!(15),
            "'max_output_tokens': 15 is not between 16",
        ),
        ("fractional tokens", |b| b["max_output_tokens"] = json!(16.5), "expected an integer"),
        ("too hot", |b| b["temperature"] = json!(2.1), "Invalid 'temperature': 2.1"),
        ("top_p", |b| b["top_p"] = json!(-0.1), "Invalid 'top_p'"),
        ("effort", |b| b["reasoning"]["effort"] = json!("huge"), "Invalid value: 'huge'"),
        ("summary", |b| b["reasoning"]["summary"] = json!("long"), "Invalid value: 'long'"),
        ("extra of reasoning", |b| b["reasoning"]["tokens"] = json!(1), "'reasoning.tokens'"),
        ("include", |b| b["include"] = json!(["reasoning"]), "Invalid value: 'reasoning'"),
        ("nothing included", |b| b["include"] = json!([]), "Invalid 'include': empty array"),
        ("included twice", included_twice, "is included twice"),
        ("tier", |b| b["service_tier"] = json!("first"), "Invalid value: 'first'"),
        ("truncation", |b| b["truncation"] = json!("middle"), "Invalid value: 'middle'"),
        ("long cache key", |b| b["prompt_cache_key"] = json!("x".repeat(65)), "maximum length 64"),
        ("retention", |b| b["prompt_cache_retention"] = json!("1h"), "Invalid value: '1h'"),
        ("verbosity", |b| b["text"] = json!({"verbosity": "most"}), "Invalid value: 'most'"),
        ("extra of text", |b| b["text"] = json!({"style": "x"}), "'text.style'"),
        ("format", |b| b["text"] = json!({"format": {"type": "xml"}}), "Invalid value: 'xml'"),
        (
            "format without a name",
            |b| b["text"] = json!({"format": {"type": "json_schema"}}),
            "'text.format.name'",
        ),
        ("nested format", nested_format, "'text.format.json_schema'"),
        ("metadata", |b| b["metadata"] = json!({"a": 1}), "Invalid type for 'metadata.a'"),
        ("context management", |b| b["context_management"] = json!({}), "expected an array"),
        ("empty instructions", |b| b["instructions"] = json!(""), "Invalid 'instructions': empty string"),
        (
            "an answer before",
            |b| b["previous_response_id"] = json!("resp_1"),
            "Previous response with id 'resp_1' not found",
        ),
    ]);
    check_status(
        404,
        &[(
            "a conversation",
            |b| b["conversation"] = json!({"id": "conv_1"}),
            "Conversation with id 'conv_1' not found",
        )],
    );
}

#[test]
fn refuses_what_models_do_not_take() {
    check(&[
        ("effort", |b| b["model"] = json!("gpt-4.1"), "'reasoning.effort' is not supported with this model"),
        (
            "seals",
            |b| {
                remove(b, "reasoning");
                b["model"] = json!("gpt-4o");
            },
            "Encrypted content is not supported with this model",
        ),
        (
            "temperature",
            |b| {
                b["model"] = json!("gpt-5-mini");
                b["temperature"] = json!(1.0);
            },
            "'temperature' is not supported with this model",
        ),
    ]);
    check_accepted(&[
        ("a plain model", |b| {
            *b = with(least("hi"), &[("model", json!("gpt-4o")), ("temperature", json!(0.2))])
        }),
        ("a thinking model", |b| {
            *b = with(least("hi"), &[("model", json!("o3")), ("reasoning", json!({"effort": "high"}))])
        }),
    ]);
}

#[test]
fn refuses_bad_tools() {
    check(&[
        ("no tools", |b| b["tools"] = json!([]), "Invalid 'tools': empty array"),
        ("too many", |b| b["tools"] = (0..129).map(|n| tool(&format!("t{n}"))).collect(), "at most 128"),
        ("same name", |b| b["tools"][1] = tool("bash"), "'bash' is offered twice"),
        ("name pattern", |b| b["tools"][0]["name"] = json!("a b"), "does not match pattern"),
        ("chat's shape", chats_tool, "Missing required parameter: 'tools[0].name'"),
        ("hosted", |b| b["tools"][0] = json!({"type": "web_search"}), "no tool of the type \"web_search\""),
        ("unknown type", |b| b["tools"][0]["type"] = json!("magic"), "Invalid value: 'magic'"),
        (
            "extra",
            |b| b["tools"][0]["cache_control"] = json!({}),
            "Unknown parameter: 'tools[0].cache_control'",
        ),
        ("no parameters", |b| remove(&mut b["tools"][0], "parameters"), "'tools[0].parameters'"),
        ("strictness unsaid", |b| remove(&mut b["tools"][0], "strict"), "'tools[0].strict' must be given"),
        ("strict", |b| b["tools"][0]["strict"] = json!(true), "'additionalProperties' is required"),
        (
            "not an object",
            |b| b["tools"][0]["parameters"]["type"] = json!("string"),
            "schema must be a JSON Schema of 'type",
        ),
        ("empty description", |b| b["tools"][0]["description"] = json!(""), "description': empty string"),
        ("choice without tools", |b| remove(b, "tools"), "'tool_choice' makes no sense without 'tools'"),
        ("choice", |b| b["tool_choice"] = json!("any"), "Invalid value: 'any'"),
        (
            "chat's choice",
            |b| b["tool_choice"] = json!({"type": "function", "function": {"name": "bash"}}),
            "'tool_choice.name'",
        ),
        (
            "choice of nothing",
            |b| b["tool_choice"] = json!({"type": "function", "name": "zap"}),
            "'zap' not found in 'tools'",
        ),
        (
            "extra in choice",
            |b| b["tool_choice"] = json!({"type": "function", "name": "bash", "x": 1}),
            "'tool_choice.x'",
        ),
        ("choice of a kind", |b| b["tool_choice"] = json!({"type": "mcp"}), "Invalid value: 'mcp'"),
        ("mode", |b| b["tool_choice"] = allowed("none", "bash"), "Invalid value: 'none'"),
        ("allowing nothing", |b| b["tool_choice"] = allowed("auto", "zap"), "'zap' not found in 'tools'"),
    ]);
}

#[test]
fn accepts_what_is_allowed() {
    check_accepted(&[
        ("as it is", |_| {}),
        ("the least", |b| *b = least("hi")),
        ("a choice", |b| b["tool_choice"] = json!({"type": "function", "name": "read"})),
        ("a choice of some", |b| b["tool_choice"] = allowed("required", "read")),
        ("the least tokens", |b| b["max_output_tokens"] = json!(16)),
        ("a format", |b| {
            b["text"] = json!({"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": true}})
        }),
        ("no padding", |b| b["stream_options"] = json!({"include_obfuscation": false})),
        ("a place in the cache", |b| b["prompt_cache_retention"] = json!("24h")),
    ]);
}

fn with(mut body: Value, fields: &[(&str, Value)]) -> Value {
    fields.iter().for_each(|(name, value)| body[*name] = value.clone());
    body
}

fn options_alone(body: &mut Value) {
    *body = with(
        least("x"),
        &[("stream", json!(false)), ("stream_options", json!({"include_obfuscation": false}))],
    );
}

fn included_twice(body: &mut Value) {
    body["include"] = json!(["reasoning.encrypted_content", "reasoning.encrypted_content"]);
}

fn nested_format(body: &mut Value) {
    let format = json!({"type": "json_schema", "name": "n", "schema": {}, "json_schema": {}});
    body["text"] = json!({"format": format});
}

fn chats_tool(body: &mut Value) {
    let function = json!({"name": "bash", "parameters": {"type": "object", "properties": {}}});
    body["tools"][0] = json!({"type": "function", "function": function});
}

fn allowed(mode: &str, name: &str) -> Value {
    json!({"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": name}]})
}
