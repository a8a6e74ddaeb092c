//! Conversations and tools that are refused, and those that are not.

use super::{accepted, call, contents, function, least, refused, remove, response};
use serde_json::{Value, json};

fn part(body: &mut Value, content: usize, part: usize) -> &mut Value {
    &mut body["contents"][content]["parts"][part]
}

fn cut(body: &mut Value, from: usize, to: usize) {
    contents(body).drain(from..to);
}

fn declared(body: &mut Value) -> &mut Value {
    &mut body["tools"][0]["functionDeclarations"][0]
}

fn json_schema(body: &mut Value) -> &mut Value {
    &mut declared(body)["parametersJsonSchema"]
}

/// Puts a schema of the reference's own kind in the place of the other.
fn own(body: &mut Value, schema: Value) {
    remove(declared(body), "parametersJsonSchema");
    declared(body)["parameters"] = schema;
}

#[test]
fn unknown_fields_are_refused_at_every_level() {
    refused(&[
        ("not an object", |b| *b = json!([1]), "Invalid value at ''"),
        ("in the request", |b| b["stream"] = json!(true), "Unknown name \"stream\": Cannot find field."),
        ("in a content", |b| b["contents"][0]["name"] = json!("x"), "Unknown name \"name\" at 'contents[0]'"),
        ("in a part", |b| part(b, 0, 0)["type"] = json!("text"), "at 'contents[0].parts[0]'"),
        ("in a call", |b| part(b, 1, 1)["functionCall"]["arguments"] = json!({}), "parts[1].function_call'"),
        ("in a response", |b| part(b, 2, 0)["functionResponse"]["output"] = json!(""), "function_response'"),
        ("in a tool", |b| b["tools"][0]["type"] = json!("function"), "at 'tools[0]'"),
        ("in a function", |b| declared(b)["strict"] = json!(true), "function_declarations[0]'"),
        ("in the system", |b| b["systemInstruction"]["text"] = json!("x"), "at 'system_instruction'"),
        ("spelt twice", |b| b["system_instruction"] = json!({"parts": [{"text": "x"}]}), "is already set"),
        (
            "a text that is none",
            |b| part(b, 0, 0)["text"] = json!(5),
            "'contents[0].parts[0].text' (TYPE_STRING), 5",
        ),
        ("a list that is none", |b| b["contents"] = json!("x"), "Invalid value at 'contents'"),
    ]);
}

#[test]
fn contents_must_say_something() {
    refused(&[
        ("no contents", |b| remove(b, "contents"), "contents is not specified"),
        ("empty contents", |b| b["contents"] = json!([]), "contents is not specified"),
        (
            "no parts",
            |b| remove(&mut b["contents"][0], "parts"),
            "contents[0].parts: contents.parts must not be",
        ),
        (
            "empty parts",
            |b| b["contents"][4]["parts"] = json!([]),
            "contents[4].parts: contents.parts must not be",
        ),
        ("an empty part", |b| *part(b, 0, 0) = json!({}), "parts[0].data: required oneof field 'data'"),
        (
            "nothing but a thought",
            |b| *part(b, 1, 0) = json!({"thought": true}),
            "required oneof field 'data'",
        ),
        ("two in one", |b| part(b, 1, 1)["text"] = json!("x"), "oneof field 'data' is already set"),
        ("an empty text", |b| part(b, 3, 0)["text"] = json!(""), "must say something"),
        (
            "a role",
            |b| b["contents"][3]["role"] = json!("assistant"),
            "Please use a valid role: user, model.",
        ),
        (
            "a system without parts",
            |b| b["systemInstruction"] = json!({"parts": []}),
            "system_instruction.parts",
        ),
        (
            "a system that shows",
            |b| b["systemInstruction"]["parts"][0] = b["contents"][4]["parts"][1].clone(),
            "only supports text",
        ),
        (
            "a picture's kind",
            |b| part(b, 4, 1)["inlineData"]["mimeType"] = json!("image/gif"),
            "MIME type: image/gif",
        ),
        (
            "a picture's data",
            |b| part(b, 4, 1)["inlineData"]["data"] = json!("no base64!"),
            "Base64 decoding failed",
        ),
        ("half a letter", |b| part(b, 4, 1)["inlineData"]["data"] = json!("QUJDR"), "Base64 decoding failed"),
        ("no picture", |b| part(b, 4, 1)["inlineData"]["data"] = json!(""), "must not be empty"),
        ("a user who thinks", |b| part(b, 0, 0)["thought"] = json!(true), "only the model has thoughts"),
    ]);
}

#[test]
fn calls_and_responses_belong_together() {
    refused(&[
        ("a call first", |b| cut(b, 0, 1), "function call turn comes immediately after a user turn"),
        (
            "a call after the model",
            |b| contents(b).insert(1, json!({"role": "model", "parts": [{"text": "x"}]})),
            "immediately after a user turn",
        ),
        (
            "a response to nothing",
            |b| cut(b, 1, 2),
            "function response turn comes immediately after a function call",
        ),
        ("no response", |b| cut(b, 2, 4), "number of function response parts is equal"),
        (
            "one response of two",
            |b| b["contents"][2]["parts"] = json!([response("bash")]),
            "number of function response",
        ),
        (
            "one too many",
            |b| b["contents"][2]["parts"].as_array_mut().unwrap().push(response("bash")),
            "number of function",
        ),
        (
            "another order",
            |b| b["contents"][2]["parts"].as_array_mut().unwrap().reverse(),
            "'read' was not called so",
        ),
        (
            "another name",
            |b| part(b, 2, 1)["functionResponse"]["name"] = json!("ls"),
            "'ls' was not called so",
        ),
        (
            "an id of its own",
            |b| part(b, 2, 0)["functionResponse"]["id"] = json!("a"),
            "with the id 'a' was not called",
        ),
        ("an id left out", |b| part(b, 1, 1)["functionCall"]["id"] = json!("a"), "'bash' was not called so"),
        (
            "a user who calls",
            |b| b["contents"][1]["role"] = json!("user"),
            "function call turns have the role model",
        ),
        (
            "a model that responds",
            |b| b["contents"][2]["role"] = json!("model"),
            "response turns have the role user",
        ),
        (
            "a call without a name",
            |b| remove(&mut part(b, 1, 1)["functionCall"], "name"),
            "Name cannot be empty",
        ),
        ("a call's name", |b| part(b, 1, 1)["functionCall"]["name"] = json!("l s"), "Invalid function name"),
        (
            "arguments in a text",
            |b| part(b, 1, 1)["functionCall"]["args"] = json!("{}"),
            "google.protobuf.Struct",
        ),
        (
            "a response in a text",
            |b| part(b, 2, 0)["functionResponse"]["response"] = json!("one"),
            "google.protobuf.Struct",
        ),
        (
            "no word of the response",
            |b| remove(&mut part(b, 2, 0)["functionResponse"], "response"),
            "response must be given",
        ),
        ("the model last", |b| cut(b, 4, 5), "end with a user role or a function response"),
        ("the model first", |b| cut(b, 0, 3), "the first content must be of the user"),
        ("twice the user", |b| cut(b, 3, 4), "must take turns"),
    ]);
}

#[test]
fn functions_are_what_the_reference_says() {
    refused(&[
        ("no name", |b| remove(declared(b), "name"), "Invalid function name"),
        ("a name", |b| declared(b)["name"] = json!("2nd"), "function_declarations[0].name: [FIELD_INVALID]"),
        ("a long name", |b| declared(b)["name"] = json!("x".repeat(65)), "maximum length of 64"),
        ("the same name", |b| *declared(b) = function("read"), "Duplicate function declaration found: read"),
        ("no description", |b| remove(declared(b), "description"), "must have a description"),
        ("nothing offered", |b| b["tools"] = json!([{"functionDeclarations": []}]), "must not be empty"),
        ("both schemas", |b| declared(b)["parameters"] = json!({"type": "OBJECT"}), "only one of parameters"),
        ("no object", |b| json_schema(b)["type"] = json!("string"), "should be of type object"),
        ("a type", |b| json_schema(b)["properties"]["path"]["type"] = json!("str"), "\"str\" is not a type"),
        (
            "no items",
            |b| remove(&mut json_schema(b)["properties"]["tags"], "items"),
            "tags.items: missing field.",
        ),
        ("required", |b| json_schema(b)["required"] = json!(["x"]), "\"x\" is not a property"),
        (
            "choices",
            |b| json_schema(b)["properties"]["path"]["enum"] = json!([]),
            "must be a list that is not empty",
        ),
        (
            "inside",
            |b| json_schema(b)["properties"]["path"] = json!({"anyOf": [{"type": "x"}]}),
            "path.anyOf",
        ),
    ]);
}

#[test]
fn the_reference_has_a_kind_of_schema_of_its_own() {
    let object = |properties: Value| json!({"type": "OBJECT", "properties": properties});
    let _ = object;
    refused(&[
        (
            "a word of JSON Schema",
            |b| own(b, json!({"type": "object", "$schema": "x"})),
            "Unknown name \"$schema\"",
        ),
        (
            "another one",
            |b| {
                own(
                    b,
                    json!({"type": "object", "properties": {"a": {"type": "string", "additionalProperties": false}}}),
                )
            },
            "additionalProperties",
        ),
        ("no type", |b| own(b, json!({"properties": {"a": {}}})), "should be of type OBJECT"),
        (
            "a property without one",
            |b| own(b, json!({"type": "object", "properties": {"a": {}}})),
            "a.type: must be specified",
        ),
        (
            "several types",
            |b| own(b, json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}})),
            "(TYPE_STRING)",
        ),
        (
            "no properties",
            |b| own(b, json!({"type": "OBJECT", "properties": {}})),
            "should be non-empty for OBJECT type",
        ),
        (
            "no items",
            |b| own(b, json!({"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}})),
            "a.items: missing field.",
        ),
        (
            "numbers to choose",
            |b| own(b, json!({"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "enum": ["1"]}}})),
            "only allowed for STRING",
        ),
        (
            "nothing to choose",
            |b| own(b, json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": [""]}}})),
            "enum[0]: cannot be empty",
        ),
        (
            "required",
            |b| own(b, json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["b"]})),
            "required[0]: property is not defined",
        ),
    ]);
    accepted(&[("all of it", |b| {
        own(
            b,
            json!({"type": "OBJECT", "properties": {
            "a": {"type": "STRING", "enum": ["x"], "nullable": true},
            "b": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "NULL"}]}},
        }, "required": ["a"], "propertyOrdering": ["b", "a"]}),
        )
    })]);
}

#[test]
fn what_is_allowed_is_accepted() {
    accepted(&[
        ("as it is", |_| {}),
        ("the least", |b| *b = least("hi")),
        ("responses last", |b| cut(b, 3, 5)),
        ("words with the responses", |b| {
            cut(b, 3, 5);
            b["contents"][2]["parts"].as_array_mut().unwrap().push(json!({"text": "And?"}));
        }),
        ("snake case", |b| {
            let system = b["systemInstruction"].take();
            remove(b, "systemInstruction");
            b["system_instruction"] = system;
            b["contents"][1]["parts"][1] =
                json!({"function_call": {"name": "bash"}, "thought_signature": "QUJD"});
        }),
        ("one without brackets", |b| *b = json!({"contents": {"parts": {"text": "hi"}}})),
        ("ids in another order", |b| {
            for (content, kind, order) in
                [(1, "functionCall", ["a", "b"]), (2, "functionResponse", ["b", "a"])]
            {
                let parts = b["contents"][content]["parts"].as_array_mut().unwrap();
                for (part, id) in parts.iter_mut().filter(|part| part.get(kind).is_some()).zip(order) {
                    part[kind]["id"] = json!(id);
                    part[kind]["name"] = json!("bash");
                }
            }
        }),
        ("no arguments", |b| {
            b["contents"][1]["parts"][1] = json!({"functionCall": {"name": "bash", "args": null}});
        }),
        ("an empty text that is signed", |b| part(b, 3, 0)["thoughtSignature"] = json!("QUJD")),
        ("no parameters", |b| remove(declared(b), "parametersJsonSchema")),
        ("a call once more", |b| {
            cut(b, 3, 5);
            contents(b).extend([
                json!({"role": "model", "parts": [call("bash")]}),
                json!({"role": "user", "parts": [response("bash")]}),
            ]);
        }),
    ]);
}
