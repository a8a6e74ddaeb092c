//! Answers that must satisfy a schema.

use std::fs;

use hostler_tests::harness::{Finished, Home, Signal, replay_flights};
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::home;

const PERSON: &str = r#"{
  "type": "object",
  "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
  "required": ["name"]
}
"#;

fn with_schema() -> Home {
    let home = home();
    home.write("person.json", PERSON);
    home
}

const ASK: [&str; 3] = ["--schema", "person.json", "Who?"];

fn message(run: &Finished) -> String {
    run.last()["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_that_satisfies_it_is_printed_as_it_is() {
    let (home, provider) = (with_schema(), StrictProvider::start(Answer::say("{\"name\": \"Ada\"}")));
    let run = home.run_text(&provider, ASK).words(["--output", "answer.json"]).finish().expect_code(0);
    assert_eq!(run.out, "{\"name\": \"Ada\"}\n");
    assert_eq!(home.read("answer.json"), run.out);
    let system = provider.completions()[0].messages()[0]["content"].to_string();
    assert!(system.contains("JSON Schema") && system.contains("required"), "{system}");
}

#[test]
fn one_that_does_not_is_asked_for_again_and_the_model_is_told_why() {
    let home = with_schema();
    let provider = StrictProvider::start([
        Answer::say("```json\n{\"name\": \"Ada\"}\n```"),
        Answer::say("{\"name\": 1}"),
        Answer::say("{\"name\": \"Ada\"}"),
    ]);
    let run = home.run(&provider, ASK).finish().expect_code(0);
    let told = |at: usize| provider.completions()[at].last_user_text();
    assert!(told(1).contains("code fence, which must be left out"), "{}", told(1));
    assert!(told(2).contains("at /name: want string, but got number"), "{}", told(2));
    let (lines, last) = (run.lines(), run.last());
    let refused = lines.of("answer.refused");
    assert_eq!(refused.len(), 2);
    assert!(refused[1]["cursor"].is_string() && refused[1]["problem"].as_str().unwrap().contains("/name"));
    assert_eq!((&last["answer"], &last["steps"]), (&json!("{\"name\": \"Ada\"}"), &json!(3)));
    // What the answers that were refused used is paid for as well.
    assert_eq!((&last["usage"]["input"], &last["usage"]["output"]), (&json!(300), &json!(60)));
}

#[test]
fn it_is_asked_for_twice_more_and_then_there_is_no_answer() {
    let home = with_schema();
    home.write("answer.json", "old");
    for text in [false, true] {
        let provider = StrictProvider::start([Answer::say("I am"), Answer::say("not"), Answer::say("JSON.")]);
        let run = if text { home.run_text(&provider, ASK) } else { home.run(&provider, ASK) };
        let run = run.words(["--output", "answer.json"]).finish().expect_code(1);
        assert_eq!(provider.completions().len(), 3);
        if text {
            assert_eq!(run.out, "");
            assert!(
                run.err.contains("asking again") && run.err.contains("asked for 2 times more"),
                "{}",
                run.err
            );
        } else {
            assert_eq!((&run.last()["reason"], &run.last()["answer"]), (&json!("schema"), &Value::Null));
            assert!(message(&run).contains("It is not JSON"), "{}", message(&run));
        }
    }
    assert_eq!(home.read("answer.json"), "old", "without an answer it is as it was");
    let runs = home.hostler(["runs", "list", "--json"]).finish().expect_code(0).out;
    assert_eq!(runs.matches("\"reason\":\"schema\"").count(), 2, "{runs}");
}

#[test]
fn tools_are_used_in_between_and_sub_agents_answer_as_they_like() {
    let home = with_schema();
    let provider = StrictProvider::start([
        Answer::say("Let me ask.").call("c1", "agent", json!({"prompt": "Who is it?"})),
        Answer::say("It is Ada."),
        Answer::say("It is Ada."),
        Answer::calling("c2", "ls", json!({})),
        Answer::say("{\"name\": \"Ada\"}"),
    ]);
    let run = home.run(&provider, ASK).finish().expect_code(0);
    assert_eq!(run.last()["answer"], "{\"name\": \"Ada\"}");
    let asked = provider.completions();
    let system = |at: usize| asked[at].messages()[0]["content"].to_string();
    assert!(!system(1).contains("JSON Schema") && system(4).contains("JSON Schema"), "{}", system(1));
}

#[test]
fn repairs_count_as_steps() {
    let home = with_schema();
    let provider = StrictProvider::start([Answer::say("No."), Answer::say("never")]);
    let run = home.run(&provider, ASK).words(["--max-steps", "1"]).finish().expect_code(4);
    assert_eq!((&run.last()["reason"], &run.last()["answer"]), (&json!("max_steps"), &Value::Null));
    assert_eq!(provider.completions().len(), 1);
}

#[test]
fn a_cancel_or_a_kill_during_a_repair_leaves_a_session_to_go_on_with() {
    for kills in [false, true] {
        let home = with_schema();
        let provider = StrictProvider::start([
            Answer::say("No."),
            Answer::say("{\"name\":").stall(),
            Answer::say("Yes."),
        ]);
        let run = home.run(&provider, ASK).start();
        run.wait_for_line("answer.refused");
        assert!(provider.wait_for_requests(2, crate::PATIENCE));
        if kills {
            run.kill();
        } else {
            run.signal(Signal::Terminate);
            let run = run.finish().expect_code(143);
            assert_eq!(run.last()["answer"], Value::Null);
        }
        let run = home.run(&provider, ["--continue", "And now in words?"]).finish().expect_code(0);
        assert_eq!(run.last()["answer"], "Yes.");
        let asked = provider.completions()[2].clone();
        assert!(!asked.messages()[0]["content"].to_string().contains("JSON Schema"));
        let runs = home.hostler(["runs", "list", "--json"]).finish().expect_code(0).out;
        let reason = if kills { "\"reason\":\"interrupted\"" } else { "\"reason\":\"sigterm\"" };
        assert!(runs.contains(reason), "{runs}");
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_named_with_its_place_and_nothing_is_asked() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    home.write("broken.json", "{\n  \"type\": \"object\",\n}");
    home.write("none.json", "{\n  \"type\": \"objekt\"\n}");
    home.write("remote.json", "{\"$ref\": \"https://example.com/person.json\"}");
    home.write("beside.json", "{\"$ref\": \"other.json\"}");
    home.write("pattern.json", "{\"pattern\": \"(?=a)\"}");
    fs::write(home.work().join("binary.json"), [0xff, 0xfe]).unwrap();
    for (file, said) in [
        ("missing.json", "missing.json cannot be read"),
        (".", ". cannot be read"),
        ("binary.json", "binary.json is not text in UTF-8"),
        ("broken.json", "broken.json:3:1: The schema for the answer cannot be used: it is not JSON"),
        ("none.json", "none.json:2:11: The schema for the answer cannot be used: it is no JSON Schema"),
        (
            "remote.json",
            "remote.json:1:10: The schema for the answer cannot be used: it refers to https://example.com",
        ),
        (
            "beside.json",
            "beside.json:1:10: The schema for the answer cannot be used: it refers to other.json",
        ),
        ("pattern.json", "pattern.json:1:13: The schema for the answer cannot be used: "),
    ] {
        let run = home.run(&provider, ["--schema", file, "Who?"]).finish().expect_code(2);
        assert_eq!(run.last()["reason"], "usage", "{file}");
        assert!(message(&run).starts_with(said), "{file}: {}", message(&run));
    }
    assert!(provider.requests().is_empty());
}

#[test]
fn a_run_with_a_schema_is_decided_again_as_it_was() {
    let home = with_schema();
    let provider = StrictProvider::start([Answer::say("No."), Answer::say("{\"name\": \"Ada\"}")]);
    home.run(&provider, ASK).finish().expect_code(0);
    assert!(replay_flights(&home.state()) > 0);
}
