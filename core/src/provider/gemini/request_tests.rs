//! Requests and the bodies that they must become, word for word.

use super::*;
use crate::content::ToolOutcome;
use crate::provider::fixture::{
    another, assistant, attached, call, call_id, file, request, result, results, said, sealed_call, thought,
    tool as spec, user,
};

/// The contents that the items become.
#[track_caller]
fn check(items: &[Item], contents: &str) {
    assert_eq!(body(&request("", items)), format!(r#"{{"contents":[{contents}]}}"#));
}

#[test]
fn a_whole_body() {
    let mut request = request("Be brief.", &[user("Hi \"you\"\n")]);
    let schema =
        r#"{"$schema":"x","type":"object", "properties":{"z":{"type":"string"},"a":{"type":"number"}}}"#;
    request.tools = vec![spec("ls", schema), spec("odd", "not JSON")];
    let expected = [
        r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"#,
        r#""contents":[{"role":"user","parts":[{"text":"Hi \"you\"\n"}]}],"#,
        r#""tools":[{"functionDeclarations":[{"name":"ls","description":"Lists.","parametersJsonSchema":"#,
        schema,
        r#"},{"name":"odd","description":"Lists."}]}]}"#,
    ];
    assert_eq!(body(&request), expected.concat());
}

#[test]
fn responses_come_first_in_the_content_behind_the_calls_and_in_their_order() {
    let mut failed = result(1, "w1", ToolStatus::Denied, "No.");
    failed.outcome.media.push(file(&("a.png", "image/png", "QUJD")));
    check(
        &[
            user("a"),
            assistant(&[said("b"), call(1, "ls", r#"{"b": 1, "a": 2}"#), call(2, "l s", "")]),
            Item::Results(vec![result(2, "w2", ToolStatus::Ok, " "), failed]),
            user("c"),
        ],
        concat!(
            r#"{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"},"#,
            r#"{"functionCall":{"name":"ls","args":{"b": 1, "a": 2}},"thoughtSignature":"skip_thought_signature_validator"},"#,
            r#"{"functionCall":{"name":"l_s","args":{}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"error":"No."}}},"#,
            r#"{"functionResponse":{"name":"l_s","response":{"output":"(no output)"}}},"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"text":"c"}]}"#,
        ),
    );
}

#[test]
fn ids_go_back_where_the_model_gave_them() {
    let named = |number, id: &str| {
        Block::Call(ToolCall {
            id: call_id(number),
            provider_id: id.into(),
            name: "ls".into(),
            input: "{}".into(),
            opaque: None,
            outcome: Some(ToolOutcome::text(ToolStatus::Ok, "done")),
        })
    };
    let blocks = [named(1, "x"), named(2, "x"), named(3, "")];
    let answered = results(&[(1, "x", "1"), (2, "call_t1_s1_c2", "2"), (3, "call_t1_s1_c3", "3")]);
    let plain = concat!(
        r#"{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{ID"name":"ls","args":{}},SEAL},"#,
        r#"{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"ls","args":{}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{ID"name":"ls","response":{"output":"1"}}},"#,
        r#"{"functionResponse":{"name":"ls","response":{"output":"2"}}},{"functionResponse":{"name":"ls","response":{"output":"3"}}}]}"#,
    );
    let plain = plain.replace("SEAL", r#""thoughtSignature":"skip_thought_signature_validator""#);
    check(&[user("a"), assistant(&blocks), answered.clone()], &plain.replace("ID", r#""id":"x","#));
    check(&[user("a"), another(&blocks), answered], &plain.replace("ID", ""));
}

#[test]
fn signatures_go_back_on_the_parts_that_they_came_with() {
    let blocks = [
        thought("unsigned", None),
        thought("Hm.", Some(r#"{"thought":true,"thoughtSignature":"a\/="}"#)),
        said("b"),
        thought("", Some(r#"{"thoughtSignature":"c"}"#)),
        thought("", Some(r#"{"thoughtSignature":"nothing before it"}"#)),
        thought("", Some(r#"{"text":" ","thoughtSignature":"d"}"#)),
        thought("", Some(r#"{"thoughtSignature":7}"#)),
        sealed_call(1, "ls", "{}", Some(r#""e""#)),
        sealed_call(2, "ls", "{}", Some("7")),
    ];
    let answered = results(&[(1, "w1", "1"), (2, "w2", "2")]);
    let start = r#"{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":["#;
    let end = concat!(
        r#"{"functionCall":{"name":"ls","args":{}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"1"}}},"#,
        r#"{"functionResponse":{"name":"ls","response":{"output":"2"}}}]}"#,
    );
    let signed = concat!(
        r#"{"text":"Hm.","thought":true,"thoughtSignature":"a\/="},{"text":"b","thoughtSignature":"c"},"#,
        r#"{"text":" ","thoughtSignature":"d"},{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"e"},"#,
    );
    check(&[user("a"), assistant(&blocks), answered.clone()], &[start, signed, end].concat());
    let unsigned = concat!(
        r#"{"text":"b"},{"functionCall":{"name":"ls","args":{}},"#,
        r#""thoughtSignature":"skip_thought_signature_validator"},"#,
    );
    check(&[user("a"), another(&blocks), answered], &[start, unsigned, end].concat());
}

#[test]
fn only_newer_models_want_to_know_why_a_call_is_not_signed() {
    let excused = |model: &str| {
        let items = [
            user("a"),
            another(&[call(1, "ls", "{}"), call(2, "ls", "{}")]),
            results(&[(1, "w", "1"), (2, "v", "2")]),
        ];
        let mut request = request("", &items);
        request.model.model = model.into();
        body(&request).matches("skip_thought_signature_validator").count()
    };
    for (model, count) in [
        ("gemini-3-pro-preview", 1),
        ("gemini-flash-latest", 1),
        ("gemini-2.5-pro", 0),
        ("models/gemini-2.0-flash", 0),
        ("gemma-3-27b-it", 0),
    ] {
        assert_eq!(excused(model), count, "{model}");
    }
}

#[test]
fn what_goes_with_a_prompt_becomes_parts() {
    let files =
        [("a.png", "image/png", "QUJD"), ("b.md", "text/markdown", "# B"), ("c", "image/gif", "QQ==")];
    check(
        &[attached("Look.", &files)],
        concat!(
            r##"{"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},"##,
            r##"{"text":"b.md:\n# B"},{"text":"(c is attached but cannot be shown to you: it is image/gif.)"}]}"##,
        ),
    );
}

#[test]
fn what_would_be_refused_is_left_out() {
    let lone = r#"{"role":"user","parts":[{"text":"a"}]}"#;
    check(&[user("a"), assistant(&[call(1, "ls", "{}")])], lone);
    check(&[user(" "), results(&[(1, "w", "lost")]), assistant(&[said("b")]), user("a")], lone);
    let silent = [thought("Hm.", Some(r#"{"thought":true,"thoughtSignature":"a"}"#)), said(" \n")];
    check(
        &[user("a"), assistant(&silent), user("b")],
        r#"{"role":"user","parts":[{"text":"a"},{"text":"b"}]}"#,
    );
}
