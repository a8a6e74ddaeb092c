//! What providers do wrong when they refuse, and what a run makes of it.

use hostler_tests::harness::{Finished, Home};
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// Runs a prompt against those answers and expects that code.
#[track_caller]
fn run(words: &[&str], answers: Vec<Answer>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers));
    let run = home.run(&provider, words.to_vec()).finish().expect_code(code);
    goes_on(&home);
    (run, provider)
}

/// Whatever happened, the session is one that a provider accepts.
fn goes_on(home: &Home) {
    let provider = StrictProvider::start(Answer::say("Still here."));
    let run = home.run(&provider, ["--continue", "Are you there?"]).finish().expect_code(0);
    assert_eq!(run.last()["answer"], "Still here.");
}

/// The same refusal once more, which names its own wait so that the test is quick.
fn quickly(answer: Answer) -> Answer {
    answer.header("retry-after-ms", "1")
}

#[test]
fn passing_trouble_is_waited_out() {
    let page = Answer::status(502, "<html><title>502 Bad Gateway</title></html>")
        .header("content-type", "text/html");
    let troubles = [
        Answer::rate_limited("3600"),
        Answer::error(500, "Oops."),
        Answer::error(503, "Busy."),
        page,
        Answer::error(408, "Slow."),
        Answer::error(409, "Once more."),
        Answer::error(529, "Overloaded."),
        Answer::error(400, "Odd.").header("x-should-retry", "true"),
    ];
    for trouble in troubles {
        let (run, provider) = run(&["Hi"], vec![quickly(trouble), Answer::say("Hello.")], 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)));
        let lines = run.lines();
        assert_eq!(lines.first("retry").unwrap()["delay_ms"], 1);
        assert_eq!(lines.kinds()[2..5], ["step.started", "retry", "attempt.reset"]);
        let asked = provider.completions();
        assert_eq!(asked[0].body, asked[1].body, "the same is asked again");
    }
}

#[test]
fn a_wait_that_the_provider_asks_for_is_not_cut_short() {
    let (run, _) = run(&["Hi"], vec![Answer::rate_limited("1"), Answer::say("Hello.")], 0);
    assert_eq!(run.lines().first("retry").unwrap()["delay_ms"], 1000);
    assert!(run.last()["duration_ms"].as_u64().unwrap() >= 1000, "{}", run.last());
}

#[test]
fn what_an_attempt_that_failed_had_used_is_counted() {
    let usage = json!({"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37});
    let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "strict-1",
        "choices": [], "usage": usage});
    let breaks = Answer::say("Hel").event(chunk).error_event("Overloaded.");
    let (run, _) = run(&["Hi"], vec![breaks, Answer::say("Hello.")], 0);
    let (usage, attempts) = (&run.last()["usage"], &run.last()["attempts"]);
    assert_eq!((&usage["input"], &usage["output"], attempts), (&json!(130), &json!(27), &json!(2)));
    assert_eq!(run.last()["answer"], "Hello.");
}

#[test]
fn each_step_has_patience_of_its_own() {
    let busy = || quickly(Answer::error(503, "Busy."));
    let looks = Answer::say("I look.").call("c1", "ls", json!({}));
    let answers = vec![busy(), busy(), busy(), looks, busy(), busy(), busy(), Answer::say("Hello.")];
    let (run, _) = run(&["Hi"], answers, 0);
    assert_eq!((&run.last()["attempts"], run.lines().tools().len()), (&json!(8), 1));
}

#[test]
fn patience_ends() {
    let refusals = (0..4).map(|_| quickly(Answer::error(500, "Oops."))).collect();
    let (run, provider) = run(&["Hi"], refusals, 1);
    assert_eq!((&run.last()["reason"], &run.last()["attempts"]), (&json!("provider"), &json!(4)));
    assert!(run.last()["message"].as_str().unwrap().contains("Oops;"), "{}", run.last());
    assert_eq!(provider.completions().len(), 4);
}

/// A refusal that is final: one request, and an end with that code and reason.
#[track_caller]
fn is_final(answer: Answer, code: i32, reason: &str, says: &str) {
    let (run, provider) = run(&["Hi"], vec![quickly(answer), Answer::say("never")], code);
    assert_eq!((&run.last()["reason"], &run.last()["attempts"]), (&json!(reason), &json!(1)));
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(says), "{message}");
    assert_eq!((provider.completions().len(), run.last()["answer"].clone()), (1, Value::Null));
}

fn coded(status: u16, code: &str) -> Answer {
    Answer::status(status, &json!({"error": {"message": "No.", "type": "x", "code": code}}).to_string())
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    is_final(Answer::error(401, "Incorrect API key provided."), 3, "credentials", "Incorrect API key");
    is_final(Answer::error(403, "Country not supported."), 3, "credentials", "Country");
    is_final(coded(404, "model_not_found"), 2, "unknown_model", "does not have this model");
    is_final(Answer::error(400, "Unknown parameter."), 1, "provider", "Unknown parameter;");
    is_final(coded(429, "insufficient_quota"), 1, "provider", "quota");
    is_final(Answer::context_exceeded(), 4, "context", "too long");
    is_final(Answer::error(500, "Oops.").header("x-should-retry", "false"), 1, "provider", "Oops;");
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    let far = || vec![Answer::rate_limited("3600")];
    let (long, _) = run(&["Hi"], far(), 4);
    assert_eq!((&long.last()["status"], &long.last()["reason"]), (&json!("limit"), &json!("max_wait")));
    let near = vec![Answer::rate_limited("1").header("retry-after-ms", "50")];
    let (short, _) = run(&["--max-wait", "49ms", "Hi"], near, 4);
    assert_eq!(short.last()["reason"], "max_wait");
}

#[test]
fn a_provider_that_cannot_be_reached_is_tried_until_time_is_over() {
    let home = home();
    // A port that was free a moment ago may be another test's by now; this one is nobody's.
    let closed = "127.0.0.1:1";
    let run = home.hostler(["run", "--format", "jsonl", "--model", "openai/x", "--timeout", "300ms", "Hi"]);
    let run = run.variable("OPENAI_BASE_URL", &format!("http://{closed}/v1")).finish().expect_code(4);
    assert_eq!(run.last()["reason"], "timeout");
    let cause = run.lines().first("retry").unwrap()["cause"].as_str().unwrap().to_owned();
    assert!(cause.to_lowercase().contains("refused"), "{cause}");
    goes_on(&home);
}

#[test]
fn a_provider_that_falls_silent_is_waited_for_until_time_is_over() {
    for silent in [Answer::new().stall_headers(), Answer::new().stall_at(0), Answer::say("Hel").stall()] {
        let (run, _) = run(&["--timeout", "300ms", "Hi"], vec![silent], 4);
        assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("limit"), &json!("timeout")));
    }
}

#[test]
fn a_limit_on_steps_ends_a_run_that_does_not() {
    let looks = |id: &str| Answer::say("Once more.").call(id, "ls", json!({}));
    let (run, provider) = run(&["--max-steps", "2", "Go."], vec![looks("a"), looks("b"), looks("c")], 4);
    assert_eq!((&run.last()["reason"], &run.last()["steps"]), (&json!("max_steps"), &json!(2)));
    assert_eq!((run.last()["tools"]["ok"].as_u64(), provider.remaining()), (Some(2), 1));
}

#[test]
fn an_answer_that_was_cut_or_withheld_is_no_success() {
    let (cut, _) = run(&["Hi"], vec![Answer::say("Once upon a").finish("length")], 4);
    assert_eq!(
        (&cut.last()["reason"], &cut.last()["answer"]),
        (&json!("output_limit"), &json!("Once upon a"))
    );
    let (withheld, _) = run(&["Hi"], vec![Answer::say("Once").finish("content_filter")], 1);
    assert_eq!(withheld.last()["reason"], "refusal");
}
