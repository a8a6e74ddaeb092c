//! What is printed where, in every format.

use hostler_tests::harness::Signal;
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// A comment, a tool call, and the answer.
fn two_steps() -> [Answer; 2] {
    [Answer::say("I'll look.").call("c1", "ls", json!({})), Answer::say("It is empty.")]
}

#[test]
fn the_answer_alone_goes_to_a_pipe_with_one_line_break() {
    for (said, printed) in
        [("Hello.", "Hello.\n"), ("Hello.\n", "Hello.\n"), ("Zwei\n\nÄtze\n\n", "Zwei\n\nÄtze\n\n")]
    {
        let (home, provider) = (home(), StrictProvider::start([Answer::new().text_in(said, 2)]));
        let run = home.run_text(&provider, ["Hi"]).finish().expect_code(0);
        assert_eq!(run.out, printed);
    }
}

#[test]
fn progress_goes_to_standard_error_unless_it_is_to_be_quiet() {
    for quiet in [false, true] {
        let (home, provider) = (home(), StrictProvider::start(two_steps()));
        let words: &[&str] = if quiet { &["--quiet", "Hi"] } else { &["Hi"] };
        let run = home.run_text(&provider, words.to_vec()).finish().expect_code(0);
        assert_eq!(run.out, "It is empty.\n");
        assert_eq!(run.err.contains("> ls"), !quiet, "{}", run.err);
        assert_eq!(run.err.is_empty(), quiet, "{}", run.err);
    }
}

#[test]
fn text_comes_as_it_is_said_when_live() {
    let gate = Gate::new();
    let answer = Answer::new().text("I'll ").gate(&gate).text("look.").call("c1", "ls", json!({}));
    let (home, provider) = (home(), StrictProvider::start([answer, Answer::say("It is empty.")]));
    let run = home.run_text(&provider, ["--live", "Hi"]).start();
    run.wait_for_text("I'll ");
    assert_eq!(run.so_far(), "I'll ", "the rest is not yet said");
    gate.open();
    assert_eq!(run.finish().expect_code(0).out, "I'll look.\n\nIt is empty.\n");
}

#[test]
fn json_is_one_object() {
    let (home, provider) = (home(), StrictProvider::start(two_steps()));
    let run = home.run_text(&provider, ["--format", "json", "Hi"]).finish().expect_code(0);
    assert_eq!((run.out.lines().count(), run.out.ends_with('\n')), (1, true));
    let object: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((object["v"].as_u64(), object["seq"].as_u64()), (Some(1), Some(1)));
    assert_eq!((&object["type"], &object["answer"]), (&json!("run.finished"), &json!("It is empty.")));
    assert_eq!((&object["status"], &object["exit_code"]), (&json!("ok"), &json!(0)));
    assert_eq!(object["usage"]["input"], 200);
}

#[test]
fn lines_tell_what_happens() {
    let [first, second] = two_steps();
    let answers = [first.usage_details(100, 60, 30, 10), Answer::new().reasoning("Hm.").text("It is empty.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    drop(second);
    let run = home.run(&provider, ["Hi"]).finish().expect_code(0);
    let lines = run.lines();
    let step = ["step.started", "text.delta", "tool.started", "tool.finished", "step.finished"];
    let last = ["step.started", "reasoning.delta", "text.delta", "step.finished", "run.finished"];
    let kinds: Vec<_> = ["run.started", "prompt.started"].into_iter().chain(step).chain(last).collect();
    assert_eq!(lines.kinds(), kinds);
    let started = lines.first("run.started").unwrap();
    assert_eq!((&started["model"], &started["permission_mode"]), (&json!("openai/strict-1"), &json!("deny")));
    assert_eq!(started["cwd"], home.work().to_str().unwrap());
    assert_eq!(started["version"], env!("CARGO_PKG_VERSION"));
    let usage = &lines.first("step.finished").unwrap()["usage"];
    assert_eq!(
        *usage,
        json!({"input": 40, "output": 30, "cache_read": 60, "cache_write": 0, "reasoning": 10})
    );
    let tool = lines.first("tool.finished").unwrap();
    assert_eq!((&tool["name"], &tool["input"], &tool["status"]), (&json!("ls"), &json!("{}"), &json!("ok")));
}

#[test]
fn what_a_tool_prints_is_told_while_it_runs() {
    let command = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two";
    let answers = [Answer::calling("c1", "bash", json!({"command": command})), Answer::say("Done.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let run = home.run(&provider, ["--yolo", "Go."]).start();
    assert_eq!(run.wait_for_line("tool.output")["text"], "one\n");
    assert!(run.wait_for_line("tool.started")["input"].as_str().unwrap().contains("echo one"));
    home.write("go", "");
    let run = run.finish().expect_code(0);
    assert_eq!(run.lines().first("tool.finished").unwrap()["output"], "one\ntwo");
}

#[test]
fn the_first_line_waits_for_nothing() {
    let provider = StrictProvider::start(Answer::say("never"));
    let home = home();
    let run = home.run(&provider, ["--stdin"]).silent_input().start();
    assert_eq!(run.wait_for_line("run.started")["session"], Value::Null);
    run.signal(Signal::Terminate);
    let run = run.finish().expect_code(143);
    assert_eq!(run.lines().kinds(), ["run.started", "run.finished"]);
    assert!(provider.requests().is_empty());
}

#[test]
fn a_failed_tool_fails_the_run_if_that_is_asked_for() {
    for (words, code) in [(&["--yolo", "Go."][..], 0), (&["--yolo", "--fail-on-tool-error", "Go."], 1)] {
        let answers =
            [Answer::calling("c1", "bash", json!({"command": "exit 3"})), Answer::say("It failed.")];
        let (home, provider) = (home(), StrictProvider::start(answers));
        let run = home.run(&provider, words.to_vec()).finish().expect_code(code);
        assert_eq!(run.last()["reason"], if code == 0 { "completed" } else { "tool_error" });
        assert_eq!(run.last()["answer"], "It failed.");
    }
}

#[test]
fn a_run_without_a_standard_output_has_no_reader_and_asks_nothing() {
    for (format, without) in [("text", ">&-"), ("json", "<&- >&-"), ("text", "<&- >&- 2>&-")] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
        let run = home.run_text(&provider, ["--format", format, "Hi"]);
        let run = run.through_shell(&format!("exec \"$0\" \"$@\" {without}")).finish();
        assert_eq!(
            (run.code, run.out.as_str(), provider.requests().len()),
            (Some(141), "", 0),
            "{format} {without}"
        );
    }
    // Who wants nothing to be printed says so with a device that takes everything.
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let silent = "exec \"$0\" \"$@\" 1<>/dev/null";
    home.run_text(&provider, ["Hi"]).through_shell(silent).finish().expect_code(0);
    assert_eq!(provider.completions().len(), 1);
}

#[test]
fn an_answer_that_cannot_be_delivered_is_no_success() {
    let full = std::path::Path::new("/dev/full");
    assert!(full.exists(), "a device that is always full");
    for format in ["text", "json"] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
        let run = home.run_text(&provider, ["--format", format, "Hi"]).output_to(full).finish();
        assert_eq!(run.code, Some(1), "{format}: {}", run.err);
        let said = "hostler: Standard output cannot be written (No space left on device";
        assert!(run.err.contains(said), "{}", run.err);
    }
}
