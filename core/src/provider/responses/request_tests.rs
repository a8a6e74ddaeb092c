//! Requests and the bodies that they must become, word for word.

use super::*;
use crate::content::ToolStatus;
use crate::provider::fixture::{
    another, assistant, attached, call, file, request, result, results, said, thought, tool as spec, user,
};

/// The input that the items become, without what is the same in every body.
#[track_caller]
fn check(items: &[Item], input: &str) {
    let found = body(&request("", items));
    let end = r#"],"store":false,"include":["reasoning.encrypted_content"],"stream":true}"#;
    let found = found.strip_prefix(r#"{"model":"m","input":["#).and_then(|rest| rest.strip_suffix(end));
    assert_eq!(found, Some(input));
}

#[test]
fn a_whole_body() {
    let mut request = request("Be brief.", &[user("Hi \"you\"\n")]);
    let schema = r#"{"type":"object", "properties":{"z":{"type":"string"},"a":{"type":"number"}}}"#;
    request.tools = vec![spec("ls", schema), spec("odd", "not JSON")];
    request.model.model = "gpt-4o-mini".into();
    let expected = [
        r#"{"model":"gpt-4o-mini","instructions":"Be brief.","#,
        r#""input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi \"you\"\n"}]}],"#,
        r#""tools":[{"type":"function","name":"ls","description":"Lists.","parameters":"#,
        schema,
        r#","strict":false},{"type":"function","name":"odd","description":"Lists.","strict":false}],"#,
        r#""store":false,"stream":true}"#,
    ];
    assert_eq!(body(&request), expected.concat());
}

#[test]
fn calls_and_results_go_by_their_wire_ids_in_the_order_of_the_calls() {
    check(
        &[
            user("a"),
            assistant(&[said("b"), call(1, "ls", r#"{"b": 1, "a": 2}"#), call(2, "l s", "")]),
            results(&[(2, "w:2", " "), (1, "w1", "one")]),
            user("c"),
        ],
        concat!(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},"#,
            r#"{"type":"function_call","call_id":"w1","name":"ls","arguments":"{\"b\": 1, \"a\": 2}"},"#,
            r#"{"type":"function_call","call_id":"call_t1_s1_c2","name":"l_s","arguments":"{}"},"#,
            r#"{"type":"function_call_output","call_id":"w1","output":"one"},"#,
            r#"{"type":"function_call_output","call_id":"call_t1_s1_c2","output":"(no output)"},"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"c"}]}"#,
        ),
    );
}

#[test]
fn pictures_go_with_prompts_and_results() {
    let mut shown = result(1, "w1", ToolStatus::Ok, "one");
    shown.outcome.media.push(file(&("a.png", "image/png", "QUJD")));
    let prompt = attached("Look.", &[("a.png", "image/png", "QUJD"), ("b.md", "text/markdown", "# B")]);
    check(
        &[prompt, assistant(&[call(1, "ls", "{}")]), Item::Results(vec![shown])],
        concat!(
            r##"{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."},"##,
            r##"{"type":"input_image","image_url":"data:image/png;base64,QUJD"},{"type":"input_text","text":"b.md:\n# B"}]},"##,
            r##"{"type":"function_call","call_id":"w1","name":"ls","arguments":"{}"},"##,
            r##"{"type":"function_call_output","call_id":"w1","output":[{"type":"input_text","text":"one"},"##,
            r##"{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}"##,
        ),
    );
}

#[test]
fn thoughts_go_back_as_they_came_before_what_followed_them() {
    let item =
        |id: &str| format!(r#"{{"type":"reasoning", "id":"{id}","summary":[],"encrypted_content":"gA\/="}}"#);
    let (one, two, three) = (item("rs_1"), item("rs_2"), item("rs_3"));
    let blocks = [
        thought("Hm.", Some(&one)),
        said("b"),
        thought("not sealed", None),
        thought("broken", Some("\"7\"")),
        thought("", Some(&two)),
        call(1, "ls", "{}"),
        thought("followed by nothing", Some(&three)),
    ];
    let messages = [
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},"#,
        r#"{"type":"function_call","call_id":"w","name":"ls","arguments":"{}"},"#,
        r#"{"type":"function_call_output","call_id":"w","output":"done"}"#,
    ];
    let [a, b, c, d] = messages;
    let answered = results(&[(1, "w", "done")]);
    check(&[user("a"), assistant(&blocks), answered.clone()], &[a, &one, ",", b, &two, ",", c, d].concat());
    check(&[user("a"), another(&blocks), answered], &messages.concat());
}

#[test]
fn what_would_be_refused_is_left_out() {
    let lone = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#;
    check(&[user("a"), assistant(&[call(1, "ls", "{}")])], lone);
    check(&[user(" "), results(&[(1, "w", "lost")]), user("a")], lone);
    check(
        &[user("a"), assistant(&[thought("", Some("{}")), said(" \n")]), user("b")],
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}"#,
    );
}
