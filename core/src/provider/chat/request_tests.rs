//! Requests and the bodies that they must become, word for word.

use super::*;
use crate::provider::fixture::{
    another, assistant, attached, call, request, results, said, thought, tool as spec, user,
};

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
    request.tools = vec![spec("ls", schema), spec("odd", "not JSON")];
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
    check(
        &[user("a"), assistant(&[thought("Hm.", None), said("b"), said("c")]), user("d")],
        r#"{"role":"user","content":"a"},{"role":"assistant","content":"bc"},{"role":"user","content":"d"}"#,
    );
}

#[test]
fn thoughts_go_back_to_those_who_want_them() {
    let content = Some(r#"{"reasoning_content":true}"#);
    let calls = |seal| [thought("Hm. ", seal), thought("So.", None), call(1, "ls", "{}")];
    let answered = results(&[(1, "w", "1")]);
    let body = |answer: Item| body(&request("", &[user("a"), answer, answered.clone()]));
    assert!(
        body(assistant(&calls(content)))
            .contains(r#""role":"assistant","reasoning_content":"Hm. So.","tool_calls""#)
    );
    let silent = body(assistant(&[call(1, "ls", "{}"), thought("", content)]));
    assert!(silent.contains(r#""reasoning_content":"","#), "{silent}");
    let details = Some(r#"{"reasoning_details":[{"type":"reasoning.encrypted", "data":"x"}]}"#);
    let sealed = body(assistant(&calls(details)));
    assert!(
        sealed.contains(r#""reasoning_details":[{"type":"reasoning.encrypted", "data":"x"}],"tool_calls""#),
        "{sealed}"
    );
    for other in [
        another(&calls(content)),
        another(&calls(details)),
        assistant(&calls(Some(r#""sig""#))),
        assistant(&calls(None)),
    ] {
        assert!(!body(other).contains("reasoning"));
    }
    let said = [thought("Hm.", content), said("b")];
    check(
        &[user("a"), assistant(&said), user("c")],
        r#"{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"Hm."},{"role":"user","content":"c"}"#,
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
