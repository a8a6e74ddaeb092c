//! Scenario files and what they become, or why they do not.

use super::*;

#[track_caller]
fn check(text: &str, error: &str) {
    let found = scenario(text).map_err(|error| error.to_string());
    assert_eq!(found, Err(error.to_string()), "{text}");
}

/// A scenario of one step.
#[track_caller]
fn check_step(step: &str, error: &str) {
    check(&format!(r#"{{"steps":[{{"say":[]}},{step}]}}"#), &format!("Step 2{error}"));
}

/// A scenario of one step that says one thing.
#[track_caller]
fn check_item(item: &str, error: &str) {
    check_step(&format!(r#"{{"say":[{item}]}}"#), &format!(", item 1 of its say, cannot be read: {error}"));
}

#[test]
fn what_is_no_scenario_is_refused() {
    check("", "The scenario cannot be read: EOF while parsing a value at line 1 column 0.");
    check("{\n]", "The scenario cannot be read: key must be a string at line 2 column 1.");
    check("[[]]", "The scenario cannot be read: it is not an object.");
    check("{}", "The scenario cannot be read: missing field `steps` at line 1 column 2.");
    check(r#"{"steps":[]}"#, "The scenario cannot be read: it has no steps.");
    check(
        r#"{"steps":[],"name":"x"}"#,
        "The scenario cannot be read: unknown field `name`, expected `steps` at line 1 column 18.",
    );
}

#[test]
fn a_step_that_makes_no_sense_is_refused() {
    check_step("7", " cannot be read: it is not an object.");
    check_step(r#"[[{"text":"a"}]]"#, " cannot be read: it is not an object.");
    check_step("{}", " cannot be read: it needs say, refuse or attempts.");
    check_step(
        r#"{"sya":[]}"#,
        " cannot be read: unknown field `sya`, expected one of `say`, `finish`, `refuse`, `usage`, `expect`, `attempts`.",
    );
    check_step(
        r#"{"say":[],"finish":"done"}"#,
        " cannot be read: unknown variant `done`, expected one of `stop`, `tool_calls`, `length`, `content_filter`.",
    );
    check_step(r#"{"refuse":{"code":"x"}}"#, " cannot be read: missing field `status`.");
    check_step(r#"{"refuse":{"status":200}}"#, " cannot be read: status must be from 400 to 599, not 200.");
    check_step(
        r#"{"refuse":{"status":429},"say":[]}"#,
        " cannot be read: it is refused, so it has neither say nor finish.",
    );
    check_step(
        r#"{"say":[{"cut":true}],"finish":"stop"}"#,
        " cannot be read: it is cut or stalls, so it has no finish.",
    );
    check_step(
        r#"{"say":[{"cut":true},{"text":"x"}]}"#,
        ", item 2 of its say, cannot be read: nothing can follow a cut or a stall.",
    );
    check_step(r#"{"say":[],"expect":{}}"#, " cannot be read: missing field `last_result_contains`.");
    check_step(r#"{"attempts":[]}"#, " cannot be read: its attempts are empty.");
    check_step(
        r#"{"attempts":[{"say":[]}],"finish":"stop"}"#,
        " cannot be read: it has attempts, so nothing else may stand beside them.",
    );
    check_step(
        r#"{"attempts":[{"say":[]},{"attempts":[{"say":[]}]}]}"#,
        ", attempt 2 cannot be read: an attempt has no attempts of its own.",
    );
    check_step(
        r#"{"attempts":[{"say":[{"stall":false}]}]}"#,
        ", attempt 1, item 1 of its say, cannot be read: stall is true or not there.",
    );
}

#[test]
fn an_item_that_makes_no_sense_is_refused() {
    let one = "it must have exactly one of text, reasoning, call, delay_ms, repeat, cut and stall.";
    check_item("{}", one);
    check_item(r#"{"text":"a","reasoning":"b"}"#, one);
    check_item(r#"{"text":7}"#, "invalid type: integer `7`, expected a string.");
    check_item(r#"{"delay_ms":1,"pieces":2}"#, "pieces go with text or reasoning.");
    check_item(r#"{"text":"a","pieces":0}"#, "pieces must be from 1 to 100000, not 0.");
    check_item(r#"{"delay_ms":3600001}"#, "delay_ms must be from 0 to 3600000, not 3600001.");
    check_item(r#"{"delay_ms":-1}"#, "invalid value: integer `-1`, expected u64.");
    check_item(r#"{"repeat":{"text":"x","times":100001}}"#, "times must be from 1 to 100000, not 100001.");
    check_item(r#"{"call":["ls"]}"#, "it is not an object.");
    check_item(r#"{"call":{"input":{}}}"#, "missing field `tool`.");
    check_item(r#"{"call":{"tool":"ls","input":{},"raw":""}}"#, "a call has input or raw, not both.");
    check_item(
        r#"{"call":{"tool":"ls","input":"x"}}"#,
        "the input of a call is an object; raw takes anything, as a string.",
    );
    check_item(
        r#"{"call":{"tool":"ls","args":{}}}"#,
        "unknown field `args`, expected one of `tool`, `input`, `raw`, `id`.",
    );
}

#[test]
fn what_makes_sense_is_read() {
    let text = r#"{"steps":[
        {"say":[{"reasoning":"a"},{"text":"b","pieces":2},{"delay_ms":0},{"repeat":{"text":"x","times":3}},
                {"call":{"tool":"ls","input":{"b":1, "a":2},"id":"i"}},{"call":{"tool":"ls","raw":"{"}},{"call":{"tool":"ls"}}],
         "usage":{"input":1,"output":2}},
        {"attempts":[{"refuse":{"status":429,"retry_after_ms":5}},{"say":[],"finish":"length","expect":{"last_result_contains":"y"}}]}
    ]}"#;
    let call = |input: &str, id: Option<&str>| Sentence::Call {
        tool: "ls".into(),
        input: input.into(),
        id: id.map(String::from),
    };
    let first = Attempt {
        expect: None,
        say: vec![
            Sentence::Reasoning { text: "a".into(), pieces: 1 },
            Sentence::Text { text: "b".into(), pieces: 2 },
            Sentence::Delay(0),
            Sentence::Repeat { text: "x".into(), times: 3 },
            call(r#"{"b":1, "a":2}"#, Some("i")),
            call("{", None),
            call("{}", None),
        ],
        ending: Ending::Finish(None),
        usage: Usage { input: 1, output: 2, ..Usage::default() },
    };
    let refusal = Refusal {
        status: 429,
        code: String::new(),
        message: String::new(),
        retry_after: Some(5),
        should_retry: None,
    };
    let say = Vec::new();
    let usage = Usage::default();
    let refused = Attempt { expect: None, say: say.clone(), ending: Ending::Refuse(refusal), usage };
    let ending = Ending::Finish(Some(FinishReason::Length));
    let last = Attempt { expect: Some("y".into()), say, ending, usage };
    let steps = vec![Step { attempts: vec![first] }, Step { attempts: vec![refused, last] }];
    assert_eq!(scenario(text), Ok(Scenario { steps }));
}

#[test]
fn every_scenario_in_the_documentation_is_one() {
    let page = include_str!("../../../docs/rehearsal.md");
    let examples: Vec<_> =
        page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        assert_eq!(scenario(example).err(), None, "{example}");
    }
}
