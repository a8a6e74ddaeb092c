//! What providers do wrong while they answer, and what a run makes of it.

use hostler_tests::harness::Finished;
use hostler_tests::strict::{Answer, Call, Gate, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// Runs a prompt with everything allowed against those answers and expects that code.
#[track_caller]
fn run(answers: impl IntoIterator<Item = Answer>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers.into_iter().collect::<Vec<_>>()));
    let run = home.run(&provider, ["--yolo", "Hi"]).finish().expect_code(code);
    let next = StrictProvider::start(Answer::say("Still here."));
    home.run(&next, ["--continue", "Are you there?"]).finish().expect_code(0);
    (run, provider)
}

#[test]
fn every_way_of_spelling_an_answer_is_understood() {
    let said = || Answer::say("Hel").text("lo.");
    let spellings = [
        said().dribble(),
        said().chunks_of(7).crlf(),
        said().no_id().no_role(),
        said().no_done(),
        said().usage_on_finish(),
        Answer::new().comment("ping").text("Hel").comment("ping").garbage("retry: 10").text("lo."),
        Answer::new().text("Hel").garbage("nonsense: x").text("lo.").finish("stop"),
        Answer::new().reasoning_field("reasoning").reasoning("Hm.").text("Hello."),
    ];
    for spelling in spellings {
        let (run, _) = run([spelling], 0);
        assert_eq!((&run.last()["answer"], &run.last()["usage"]["output"]), (&json!("Hello."), &json!(20)));
    }
}

#[test]
fn a_provider_that_tells_no_usage_is_none_the_worse() {
    let (run, _) =
        run([Answer::calling("c1", "ls", json!({})).no_usage(), Answer::say("Hello.").no_usage()], 0);
    assert_eq!((&run.last()["answer"], &run.last()["usage"]["input"]), (&json!("Hello."), &json!(0)));
}

#[test]
fn every_way_of_spelling_a_call_is_understood() {
    let input = || json!({"command": "echo 'ä\"b'"});
    let spellings = [
        Call::new("c1", "bash", input()),
        Call::new("c1", "bash", input()).pieces(1),
        Call::new("c1", "bash", input()).pieces(5).repeat_head(),
        Call::new("c1", "bash", input()).whole(),
        Call::new("", "bash", input()).no_id(),
        Call::new("c1", "bash", input()).index(3),
    ];
    for spelling in spellings {
        let (run, provider) = run([Answer::new().with_call(spelling), Answer::say("Done.")], 0);
        assert_eq!(run.lines().tools(), [("bash".to_owned(), "ok".to_owned())]);
        assert_eq!(provider.completions()[1].tool_results()[0].1, "ä\"b");
    }
}

#[test]
fn names_of_calls_that_come_twice_are_told_apart() {
    let look = |answer: Answer| answer.call("call_0", "ls", json!({}));
    let twice = Answer::new().call("call_1", "ls", json!({})).call("call_1", "glob", json!({"pattern": "*"}));
    let (run, provider) =
        run([look(Answer::new()), look(Answer::say("Again.")), twice, Answer::say("Done.")], 0);
    assert_eq!(run.last()["tools"]["ok"], 4);
    let results = provider.completions().pop().unwrap().tool_results();
    let mut names: Vec<_> = results.into_iter().map(|(id, _)| id).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 4);
}

#[test]
fn a_call_that_makes_no_sense_is_not_run_and_the_model_is_told_why() {
    let bad = Answer::new()
        .call_raw("c1", "bash", "{\"command\": \"touch made")
        .call_raw("c2", "bash", "touch made")
        .call("c3", "bash", json!({"cmd": "touch made"}))
        .call("c4", "launch", json!({}))
        .call_raw("c5", "bash", "[1]")
        .call_raw("c6", "ls", "");
    let (run, provider) = run([bad, Answer::say("Sorry.")], 0);
    assert_eq!((&run.last()["tools"]["failed"], &run.last()["tools"]["ok"]), (&json!(5), &json!(1)));
    assert_eq!(run.lines().of("tool.started").len(), 1);
    let results = provider.completions()[1].tool_results();
    let says = [
        "Nothing was run",
        "Nothing was run",
        "missing field `command`",
        "no tool named \"launch\"",
        "Nothing was run",
    ];
    for ((call, text), says) in results.iter().zip(says) {
        assert!(text.contains(says), "{call}: {text}");
    }
}

/// A stream that cannot be understood ends the run at once: another request would get the like.
#[track_caller]
fn not_understood(answer: Answer, reason: &str, says: &str) {
    let (run, provider) = run([answer, Answer::say("never")], 1);
    assert_eq!((&run.last()["reason"], provider.remaining()), (&json!(reason), 1));
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(says), "{message}");
}

#[test]
fn what_is_no_answer_is_said_to_be_none() {
    not_understood(Answer::say("Hel").garbage("data: {nonsense"), "provider", "{nonsense");
    not_understood(Answer::say("Hel").garbage("data: 7"), "provider", "no chat completion chunk");
    let error =
        json!({"error": {"message": "Content blocked.", "type": "invalid_request_error", "code": "blocked"}});
    not_understood(Answer::say("Hel").event(error).no_tail(), "provider", "Content blocked;");
}

#[test]
fn what_breaks_off_is_asked_again_and_what_it_had_said_is_void() {
    let call = || Answer::say("Hel").call("c1", "bash", json!({"command": "touch made"}));
    let broken = [
        Answer::say("Hel").no_tail(),
        Answer::say("Hel").text("lo.").cut_at(400),
        Answer::say("Hel").text("lo.").truncate_chunk_at(400),
        Answer::say("Hel").text("lo.").reset_at(400),
        Answer::close(),
        Answer::reset(),
        Answer::say("Hel").error_event("Overloaded."),
        call().no_tail(),
    ];
    // The wait before another attempt is long, so all of them wait at the same time.
    let tests: Vec<_> = broken
        .map(|broken| (home(), StrictProvider::start([broken, Answer::say("Hello.")])))
        .into_iter()
        .collect();
    let runs: Vec<_> =
        tests.iter().map(|(home, provider)| home.run(provider, ["--yolo", "Hi"]).start()).collect();
    for (run, (home, provider)) in runs.into_iter().zip(&tests) {
        let run = run.finish().expect_code(0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)));
        assert!(!home.has("made"), "a call of an answer that broke off is not run");
        let asked = provider.completions();
        assert_eq!(asked[0].body, asked[1].body);
    }
}

#[test]
fn text_of_an_attempt_that_failed_is_told_apart_when_live() {
    let gate = Gate::new();
    let broken = Answer::say("Hel").gate(&gate).no_tail();
    let (home, provider) = (home(), StrictProvider::start([broken, Answer::say("Hello.")]));
    let run = home.run_text(&provider, ["--live", "Hi"]).start();
    run.wait_for_text("Hel");
    gate.open();
    run.wait_for_error("retrying in 5 s");
    let run = run.finish().expect_code(0);
    assert_eq!(run.out, "Hel\n\nHello.\n");
}

#[test]
fn a_huge_answer_is_kept_whole() {
    let line = "0123456789abcde\n".repeat(1024);
    let (run, _) = run([Answer::new().repeat(200, &line)], 0);
    assert_eq!(run.last()["answer"].as_str().map(str::len), Some(200 * line.len()));
}

#[test]
fn an_answer_without_end_is_given_up() {
    let piece = "x".repeat(256 << 10);
    let (run, _) = run([Answer::new().repeat(40, &piece)], 1);
    assert_eq!(run.last()["reason"], "provider");
    assert!(run.last()["message"].as_str().unwrap().contains("longer than 8 MiB"));
}

#[test]
fn an_answer_that_says_nothing_is_an_answer() {
    let (run, _) = run([Answer::new().finish("stop")], 0);
    assert_eq!((&run.last()["answer"], &run.last()["steps"]), (&Value::Null, &json!(1)));
}
