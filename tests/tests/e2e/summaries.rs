//! A conversation that becomes too long for its model is summed up, and the run goes on.

use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::{Value, json};

use crate::home;

fn look() -> Answer {
    Answer::calling("call_1", "ls", json!({})).usage(500, 10)
}

/// What was said in a request, all of it.
fn said(messages: &[Value]) -> String {
    messages.iter().map(Value::to_string).collect()
}

#[test]
fn a_provider_that_finds_it_too_long_is_asked_for_a_summary_and_the_run_goes_on_from_that() {
    let home = home();
    let script = Script::new([
        look(),
        Answer::context_exceeded(),
        Answer::say("The directory was looked at.").usage(80, 9),
        Answer::say("It is tidy.").usage(60, 3),
    ]);
    let provider = StrictProvider::start(script);
    let run = home.run(&provider, ["Look whether all is tidy."]).finish().expect_code(0);
    assert_eq!(run.last()["answer"], "It is tidy.");
    let lines = run.lines();
    let kinds = lines.kinds();
    assert!(kinds.contains(&"summary.started") && kinds.contains(&"summary.finished"), "{kinds:?}");
    let asked = provider.completions();
    assert_eq!(asked.len(), 4);
    assert!(asked[2].body.get("tools").is_none(), "a summary is asked for without tools");
    let last = said(asked[3].messages());
    assert!(last.contains("The directory was looked at.") && !last.contains("call_1"), "{last}");
    assert_eq!(last.matches("Look whether all is tidy.").count(), 1, "{last}");
}

#[test]
fn a_run_that_cannot_be_made_to_fit_ends_with_its_reason_and_its_session_goes_on() {
    let home = home();
    let provider = StrictProvider::start(Answer::context_exceeded());
    let run = home.run(&provider, ["Far too long."]).finish().expect_code(4);
    assert_eq!(run.last()["reason"], "context");
    let provider = StrictProvider::start(Answer::say("Still here."));
    home.run(&provider, ["--continue", "Short."]).finish().expect_code(0);
}

#[test]
fn a_provider_that_refuses_to_sum_up_ends_the_run_after_a_few_smaller_requests() {
    let home = home();
    let refusals = std::iter::repeat_with(Answer::context_exceeded).take(9);
    let provider = StrictProvider::start(Script::new([look()].into_iter().chain(refusals)));
    let run = home.run(&provider, ["Look whether all is tidy."]).finish().expect_code(4);
    assert_eq!(run.last()["reason"], "context");
    let mut asked: Vec<_> = provider.completions().iter().map(|one| said(one.messages())).collect();
    let made = asked.len();
    assert!((3..=6).contains(&made), "{made} requests");
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), made, "a refused request was made again");
}
