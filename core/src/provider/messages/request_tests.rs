//! Requests and the bodies that they must become, word for word.

use super::*;
use crate::provider::fixture::{
    another, assistant, attached, call, file, request, result, results, said, thought, tool as spec, user,
};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The messages that the items become, without what is the same in every body; `*` stands for a cache mark.
#[track_caller]
fn check(items: &[Item], messages: &str) {
    let start = r#"{"model":"m","max_tokens":32000,"messages":["#;
    let found = body(&request("", items));
    let found = found.strip_prefix(start).and_then(|rest| rest.strip_suffix(r#"],"stream":true}"#));
    assert_eq!(found, Some(messages.replace('*', MARK).as_str()));
}

#[test]
fn a_whole_body() {
    let mut request = request("Be brief.", &[user("Hi \"you\"\n")]);
    let schema = r#"{"type":"object", "properties":{"z":{"type":"string"},"a":{"type":"number"}}}"#;
    request.tools = vec![spec("ls", schema), spec("glob", schema), spec("odd", "not JSON")];
    let expected = [
        r#"{"model":"m","max_tokens":32000,"system":[{"type":"text","text":"Be brief."*}],"#,
        r#""tools":[{"name":"ls","description":"Lists.","input_schema":"#,
        schema,
        r#"},{"name":"glob","description":"Lists.","input_schema":"#,
        schema,
        r#"*}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi \"you\"\n"*}]}],"stream":true}"#,
    ];
    assert_eq!(body(&request), expected.concat().replace('*', MARK));
}

#[test]
fn results_come_first_in_the_message_behind_the_calls() {
    check(
        &[
            user("a"),
            assistant(&[said("b"), call(1, "ls", r#"{"b": 1, "a": 2}"#), call(2, "l s", "")]),
            results(&[(2, "w:2", "two"), (1, "w1", "one")]),
            user("c"),
        ],
        concat!(
            r#"{"role":"user","content":[{"type":"text","text":"a"*}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"b"},"#,
            r#"{"type":"tool_use","id":"w1","name":"ls","input":{"b": 1, "a": 2}},"#,
            r#"{"type":"tool_use","id":"call_t1_s1_c2","name":"l_s","input":{}}]},"#,
            r#"{"role":"user","content":["#,
            r#"{"type":"tool_result","tool_use_id":"w1","content":[{"type":"text","text":"one"}]},"#,
            r#"{"type":"tool_result","tool_use_id":"call_t1_s1_c2","content":[{"type":"text","text":"two"}]},"#,
            r#"{"type":"text","text":"c"*}]}"#,
        ),
    );
}

#[test]
fn a_failed_result_is_text_and_its_pictures_follow() {
    let with_picture = |mut result: CallResult| {
        result.outcome.media.push(file(&("a.png", "image/png", "QUJD")));
        result
    };
    let one = with_picture(result(1, "w1", ToolStatus::Error, " "));
    let two = with_picture(result(2, "w2", ToolStatus::Ok, "two"));
    let picture = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}"#;
    check(
        &[user("a"), assistant(&[call(1, "ls", "{}"), call(2, "ls", "{}")]), Item::Results(vec![one, two])],
        &[
            r#"{"role":"user","content":[{"type":"text","text":"a"*}]},{"role":"assistant","content":["#,
            r#"{"type":"tool_use","id":"w1","name":"ls","input":{}},"#,
            r#"{"type":"tool_use","id":"w2","name":"ls","input":{}}]},{"role":"user","content":["#,
            r#"{"type":"tool_result","tool_use_id":"w1","content":[{"type":"text","text":"(no output)"}],"is_error":true},"#,
            r#"{"type":"tool_result","tool_use_id":"w2","content":[{"type":"text","text":"two"},"#,
            picture,
            "}]},",
            picture,
            "*}]}",
        ]
        .concat(),
    );
}

#[test]
fn thoughts_go_back_as_they_came_and_only_to_whom_they_came_from() {
    let signed = r#""Eq\/+==""#;
    let redacted = r#"{"type": "redacted_thinking","data":"Zm9v"}"#;
    let blocks = [
        thought("Hm.\n", Some(signed)),
        thought("unsigned", None),
        thought("", Some(redacted)),
        thought("", Some(signed)),
        thought("broken", Some("7")),
        said("b"),
    ];
    check(
        &[user("a"), assistant(&blocks), user("c")],
        concat!(
            r#"{"role":"user","content":[{"type":"text","text":"a"*}]},{"role":"assistant","content":["#,
            r#"{"type":"thinking","thinking":"Hm.\n","signature":"Eq\/+=="},"#,
            r#"{"type": "redacted_thinking","data":"Zm9v"},"#,
            r#"{"type":"thinking","thinking":"","signature":"Eq\/+=="},"#,
            r#"{"type":"text","text":"b"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"c"*}]}"#,
        ),
    );
    check(
        &[user("a"), another(&blocks), user("c")],
        concat!(
            r#"{"role":"user","content":[{"type":"text","text":"a"*}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"b"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"c"*}]}"#,
        ),
    );
}

#[test]
fn what_goes_with_a_prompt_becomes_blocks() {
    let files =
        [("a.png", "image/png", "QUJD"), ("b.md", "text/markdown", "# B"), ("c", "image/tiff", "QQ==")];
    check(
        &[attached("Look.", &files)],
        concat!(
            r##"{"role":"user","content":[{"type":"text","text":"Look."},"##,
            r##"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},"##,
            r##"{"type":"text","text":"b.md:\n# B"},"##,
            r##"{"type":"text","text":"(c is attached but cannot be shown to you: it is image/tiff.)"*}]}"##,
        ),
    );
}

#[test]
fn what_would_be_refused_is_left_out() {
    let lone = r#"{"role":"user","content":[{"type":"text","text":"a"*}]}"#;
    check(&[user("a"), assistant(&[call(1, "ls", "{}")])], lone);
    check(&[user(" "), results(&[(1, "w", "lost")]), assistant(&[said("b")]), user("a")], lone);
    let thoughts = [thought("Hm.", Some(r#""s""#)), said(" \n"), call(1, "ls", "{}")];
    check(
        &[user("a"), assistant(&thoughts), user("b")],
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"*}]}"#,
    );
}

#[test]
fn a_longer_conversation_begins_with_the_shorter_one() {
    let mut items = vec![user("a")];
    let plain = |items: &[Item]| {
        let body = body(&request("Be brief.", items)).replace(MARK, "");
        body.strip_suffix(r#"]}],"stream":true}"#).unwrap_or_default().to_owned()
    };
    for round in 1..4 {
        let before = plain(&items);
        items.push(assistant(&[thought("", Some(r#""s""#)), call(round, "ls", "{}")]));
        items.push(results(&[(round, &format!("w{round}"), "done")]));
        items.extend((round == 2).then(|| user("b")));
        let after = plain(&items);
        assert!(after.starts_with(&before), "{before}\n{after}");
    }
}
