//! Items: what is refused of each by itself and with which words, and what is not.

use super::{check, check_accepted, check_status, input, remove};
use serde_json::{Value, json};

#[test]
fn refuses_bad_input() {
    check(&[
        ("no input", |b| remove(b, "input"), "Missing required parameter: 'input'"),
        ("empty input", |b| b["input"] = json!([]), "Invalid 'input': empty array"),
        ("empty text", |b| b["input"] = json!(""), "Invalid 'input': empty string"),
        ("neither", |b| b["input"] = json!({}), "expected one of a string or array of objects"),
        ("item not an object", |b| b["input"][0] = json!("hi"), "Invalid type for 'input[0]'"),
        ("no type", |b| b["input"][0] = json!({"content": "x"}), "'input[0].type'"),
        ("unknown type", |b| b["input"][0]["type"] = json!("tool"), "Invalid value: 'tool'"),
    ]);
}

#[test]
fn refuses_bad_messages() {
    check(&[
        ("no role", |b| remove(&mut b["input"][0], "role"), "'input[0].role'"),
        ("unknown role", |b| b["input"][0]["role"] = json!("tool"), "Invalid value: 'tool'"),
        ("unknown field", |b| b["input"][0]["name"] = json!("x"), "Unknown parameter: 'input[0].name'"),
        ("id of a user", |b| b["input"][0]["id"] = json!("msg_1"), "Unknown parameter: 'input[0].id'"),
        (
            "id of another kind",
            |b| b["input"][6]["id"] = json!("fc_1"),
            "Expected an ID that begins with 'msg'",
        ),
        ("status", |b| b["input"][0]["status"] = json!("done"), "Invalid value: 'done'"),
        ("phase", |b| b["input"][6]["phase"] = json!("late"), "Invalid value: 'late'"),
        ("calls of chat", |b| b["input"][6]["tool_calls"] = json!([]), "'input[6].tool_calls'"),
        ("no content", |b| remove(&mut b["input"][0], "content"), "'input[0].content'"),
        ("null content", |b| b["input"][0]["content"] = json!(null), "one of an array of objects or string"),
        ("empty text", |b| b["input"][7]["content"] = json!(""), "Invalid 'input[7].content': empty string"),
        ("blank text", |b| b["input"][7]["content"] = json!(" \n"), "'input[7].content' must not be blank"),
        ("no parts", |b| b["input"][0]["content"] = json!([]), "Invalid 'input[0].content': empty array"),
        ("empty part", |b| part(b)["text"] = json!(""), "content[0].text': empty string"),
        ("chat's part", |b| part(b)["type"] = json!("text"), "Invalid value: 'text'"),
        ("output of a user", |b| part(b)["type"] = json!("output_text"), "Invalid value: 'output_text'"),
        (
            "input of the model",
            |b| b["input"][6]["content"][0]["type"] = json!("input_text"),
            "Supported values for 'input[6].content[0].type' are: 'output_text', 'refusal'",
        ),
        ("field of a part", |b| part(b)["cache"] = json!(1), "content[0].cache"),
        ("annotations", |b| b["input"][6]["content"][0]["annotations"] = json!({}), "expected an array"),
        ("picture for an instructor", instructed_picture, "Invalid value: 'input_image'"),
        ("picture of nothing", |b| *part(b) = json!({"type": "input_image"}), "content[0].image_url"),
        (
            "chat's picture",
            |b| *part(b) = picture(json!({"url": "https://x"})),
            "expected a string, but got an object",
        ),
        (
            "picture at a path",
            |b| *part(b) = picture(json!("file:///x")),
            "Expected a valid URL, or a base64",
        ),
        (
            "picture of another kind",
            |b| *part(b) = picture(json!("data:image/tiff;base64,AAAA")),
            "Expected a valid URL",
        ),
        (
            "picture that is not base64",
            |b| *part(b) = picture(json!("data:image/png;base64,A!==")),
            "Expected a valid URL",
        ),
        (
            "detail",
            |b| *part(b) = json!({"type": "input_image", "file_id": "file-1", "detail": "most"}),
            "Invalid value: 'most'",
        ),
        ("file of nothing", |b| *part(b) = json!({"type": "input_file"}), "content[0].file_id"),
        (
            "file of two",
            |b| *part(b) = json!({"type": "input_file", "file_id": "f", "file_url": "u"}),
            "Mutually exclusive",
        ),
        (
            "file without a name",
            |b| *part(b) = json!({"type": "input_file", "file_data": "AAAA"}),
            "content[0].filename",
        ),
    ]);
}

#[test]
fn refuses_bad_calls() {
    check(&[
        ("no call id", |b| remove(&mut b["input"][2], "call_id"), "'input[2].call_id'"),
        ("empty call id", |b| b["input"][2]["call_id"] = json!(""), "'input[2].call_id': empty string"),
        ("long call id", |b| b["input"][2]["call_id"] = json!("x".repeat(65)), "maximum length 64"),
        (
            "item of another kind",
            |b| b["input"][2]["id"] = json!("call_1"),
            "Expected an ID that begins with 'fc'",
        ),
        ("name", |b| b["input"][2]["name"] = json!("no such tool!"), "does not match pattern"),
        (
            "arguments as an object",
            |b| b["input"][2]["arguments"] = json!({}),
            "expected a string, but got an object",
        ),
        ("broken arguments", |b| b["input"][2]["arguments"] = json!("{"), "must be valid JSON"),
        ("arguments of a list", |b| b["input"][2]["arguments"] = json!("[]"), "must be a JSON object"),
        ("extra", |b| b["input"][2]["function"] = json!({}), "'input[2].function'"),
        ("output of nothing", |b| remove(&mut b["input"][4], "output"), "'input[4].output'"),
        ("empty output", |b| b["input"][4]["output"] = json!(""), "'input[4].output': empty string"),
        (
            "output as an object",
            |b| b["input"][4]["output"] = json!({}),
            "one of an array of objects or string",
        ),
        (
            "output of what is output",
            |b| b["input"][4]["output"] = json!([{"type": "output_text", "text": "x"}]),
            "'output_text'",
        ),
        (
            "name of an output",
            |b| b["input"][4]["name"] = json!("bash"),
            "Unknown parameter: 'input[4].name'",
        ),
    ]);
}

#[test]
fn refuses_what_is_not_kept() {
    check_status(
        404,
        &[
            (
                "a reference",
                |b| input(b).insert(0, json!({"type": "item_reference", "id": "msg_9"})),
                "Item with id 'msg_9' not found",
            ),
            (
                "a thought without its seal",
                |b| remove(&mut b["input"][1], "encrypted_content"),
                "Item with id 'rs_1' not found",
            ),
            (
                "a thought with none",
                |b| b["input"][1]["encrypted_content"] = json!(null),
                "Items are not persisted when `store`",
            ),
        ],
    );
}

#[test]
fn accepts_what_is_allowed() {
    check_accepted(&[
        ("as it came", as_it_came),
        ("a picture", |b| *part(b) = picture(json!("data:image/png;base64,AAAA"))),
        ("a picture elsewhere", |b| *part(b) = picture(json!("https://example.com/x.png"))),
        ("a file", |b| *part(b) = json!({"type": "input_file", "filename": "x.pdf", "file_data": "AAAA"})),
        ("a picture in an output", |b| {
            b["input"][4]["output"] = json!([picture(json!("data:image/gif;base64,AAAA"))])
        }),
        ("a refusal", |b| b["input"][6]["content"] = json!([{"type": "refusal", "refusal": "No."}])),
        ("instructions of two kinds", instructed),
        ("a thought of nothing open", |b| b["input"][1]["content"] = json!([])),
    ]);
}

fn part(body: &mut Value) -> &mut Value {
    &mut body["input"][0]["content"][0]
}

fn picture(url: Value) -> Value {
    json!({"type": "input_image", "image_url": url})
}

fn instructed_picture(body: &mut Value) {
    let content = json!([picture(json!("https://x"))]);
    input(body).insert(0, json!({"role": "developer", "content": content}));
}

fn instructed(body: &mut Value) {
    input(body).insert(0, json!({"role": "system", "content": "Be kind."}));
    input(body)
        .insert(1, json!({"role": "developer", "content": [{"type": "input_text", "text": "Be quick."}]}));
}

/// Items with all that the provider itself puts into them.
fn as_it_came(body: &mut Value) {
    let items = input(body);
    for (at, id) in [(2, "fc_1"), (3, "fc_2"), (6, "msg_1")] {
        items[at]["id"] = json!(id);
        items[at]["status"] = json!("completed");
    }
    items[6]["content"][0]["annotations"] = json!([]);
    items[6]["content"][0]["logprobs"] = json!([]);
    items[6]["phase"] = json!("final_answer");
}
