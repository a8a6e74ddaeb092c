//! Requests and the bodies that they must become, word for word.

use super::*;
use crate::content::{Reasoning, ToolOutcome, ToolStatus};
use crate::ids::{CallId, StepId, TurnId};
use crate::model::ModelRef;

fn id(call: u32) -> CallId {
    CallId { step: StepId { turn: TurnId(1), step: 1 }, call }
}

fn user(text: &str) -> Item {
    Item::User { text: text.into(), media: Vec::new() }
}

fn attached(text: &str, media: &[(&str, &str, &str)]) -> Item {
    let file = |(name, media_type, data): &(&str, &str, &str)| Attachment {
        name: (*name).into(),
        media_type: (*media_type).into(),
        data: (*data).into(),
    };
    Item::User { text: text.into(), media: media.iter().map(file).collect() }
}

fn said(text: &str) -> Block {
    Block::Text(text.into())
}

fn call(number: u32, name: &str, input: &str) -> Block {
    Block::Call(ToolCall {
        id: id(number),
        provider_id: "the provider's".into(),
        name: name.into(),
        input: input.into(),
        opaque: None,
        outcome: None,
    })
}

fn assistant(blocks: &[Block]) -> Item {
    Item::Assistant { model: ModelRef { provider: "p".into(), model: "m".into() }, blocks: blocks.to_vec() }
}

fn results(list: &[(u32, &str, &str)]) -> Item {
    let result = |(number, wire_id, text): &(u32, &str, &str)| CallResult {
        call: id(*number),
        wire_id: (*wire_id).into(),
        name: "ls".into(),
        outcome: ToolOutcome::text(ToolStatus::Ok, *text),
    };
    Item::Results(list.iter().map(result).collect())
}

fn request(system: &str, items: &[Item]) -> ModelRequest {
    ModelRequest {
        model: ModelRef { provider: "p".into(), model: "m".into() },
        system: system.into(),
        tools: Vec::new(),
        items: items.to_vec(),
    }
}

/// The messages that the items become, without what is the same in every body.
#[track_caller]
fn check(items: &[Item], messages: &str) {
    let end = r#","stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(body(&request("", items)), format!(r#"{{"model":"m","messages":[{messages}]{end}"#));
}

#[test]
fn a_whole_body() {
    let mut request = request("Be brief.", &[user("Hi \"you\"\n")]);
    let schema = r#"{"type":"object", "properties":{"z":{"type":"string"},"a":{"type":"number"}}}"#;
    request.tools = [("ls", schema), ("odd", "not JSON")]
        .map(|(name, schema)| ToolSpec {
            name: name.into(),
            description: "Lists.".into(),
            schema: schema.into(),
        })
        .to_vec();
    let expected = [
        r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi \"you\"\n"}],"#,
        r#""tools":[{"type":"function","function":{"name":"ls","description":"Lists.","parameters":"#,
        schema,
        r#"}},{"type":"function","function":{"name":"odd","description":"Lists."}}],"#,
        r#""stream":true,"stream_options":{"include_usage":true}}"#,
    ];
    assert_eq!(body(&request), expected.concat());
}

#[test]
fn an_answer_keeps_its_text_and_loses_its_thoughts() {
    let thought = Block::Reasoning(Reasoning { text: "Hm.".into(), opaque: None });
    check(
        &[user("a"), assistant(&[thought, said("b"), said("c")]), user("d")],
        r#"{"role":"user","content":"a"},{"role":"assistant","content":"bc"},{"role":"user","content":"d"}"#,
    );
}

#[test]
fn calls_and_results_go_by_their_wire_ids_in_the_order_of_the_calls() {
    check(
        &[
            user("a"),
            assistant(&[call(1, "ls", r#"{"b": 1, "a": 2}"#), call(2, "ls", "{}")]),
            results(&[(2, "w2", "two"), (1, "w1", "one")]),
        ],
        concat!(
            r#"{"role":"user","content":"a"},{"role":"assistant","tool_calls":["#,
            r#"{"id":"w1","type":"function","function":{"name":"ls","arguments":"{\"b\": 1, \"a\": 2}"}},"#,
            r#"{"id":"w2","type":"function","function":{"name":"ls","arguments":"{}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"w1","content":"one"},"#,
            r#"{"role":"tool","tool_call_id":"w2","content":"two"}"#,
        ),
    );
}

#[test]
fn arguments_are_an_object_or_none() {
    for (input, expected) in [
        ("", "{}"),
        (" \n", "{}"),
        ("{", "{}"),
        ("{} x", "{}"),
        ("[1]", "{}"),
        ("\"a\"", "{}"),
        ("null", "{}"),
        (" { \"a\" : 1 } ", " { \"a\" : 1 } "),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
    ] {
        assert_eq!(arguments(input), expected, "{input:?}");
    }
}

#[test]
fn what_goes_with_a_prompt_becomes_parts() {
    check(
        &[attached(
            "Look.",
            &[
                ("a.png", "image/png", "QUJD"),
                ("b.md", "text/markdown", "# B"),
                ("c", "application/pdf", "QQ=="),
            ],
        )],
        concat!(
            r##"{"role":"user","content":[{"type":"text","text":"Look."},"##,
            r##"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},"##,
            r##"{"type":"text","text":"b.md:\n# B"},"##,
            r##"{"type":"text","text":"(c is attached but cannot be shown to you: it is application/pdf.)"}]}"##,
        ),
    );
    check(
        &[attached("", &[("a.png", "image/png", "QUJD")])],
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}"#,
    );
}

#[test]
fn what_would_be_refused_is_left_out() {
    // An answer that says nothing; the prompts around it become one.
    check(
        &[user("a"), assistant(&[said(" \n")]), user("b")],
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
    );
    // A call without a result, a result without a call, a result without text.
    check(
        &[
            user("a"),
            assistant(&[call(1, "ls", "{}"), call(2, "ls", "{}")]),
            results(&[(2, "w", ""), (3, "x", "?")]),
        ],
        concat!(
            r#"{"role":"user","content":"a"},{"role":"assistant","tool_calls":["#,
            r#"{"id":"w","type":"function","function":{"name":"ls","arguments":"{}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"w","content":"(no output)"}"#,
        ),
    );
    check(&[user("a"), assistant(&[call(1, "ls", "{}")])], r#"{"role":"user","content":"a"}"#);
    check(&[user(""), results(&[(1, "w", "lost")]), user("a")], r#"{"role":"user","content":"a"}"#);
}
