//! What is known of models: what their runs cost, and that something is said when nothing is known.

use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use crate::home;

#[test]
fn a_run_of_a_known_model_has_its_price() {
    let (home, provider) = (home(), StrictProvider::start([Answer::say("Hello.").usage(1_000, 100)]));
    let run = home.hostler(["run", "--model", "openai/gpt-5", "--format", "jsonl", "Hi"]).provider(&provider);
    let run = run.finish().expect_code(0);
    // 1,000 tokens at 1.25 and 100 at 10 dollars a million.
    assert_eq!(run.last()["cost_usd"], json!(0.00225));
    assert!(run.lines().of("warning").is_empty());
}

#[test]
fn of_a_model_that_is_not_known_that_is_said_once_a_session() {
    let (home, provider) = (home(), StrictProvider::start(Script::always(Answer::say("Hello."))));
    home.configure("{}");
    let run = home.run(&provider, ["Hi"]).finish().expect_code(0);
    let lines = run.lines();
    let message = lines.of("warning")[0]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("The limits and prices of openai/strict-1 are not known"), "{message}");
    assert!(run.last()["cost_usd"].is_null());
    let again = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
    assert!(again.lines().of("warning").is_empty());
}

#[test]
fn a_conversation_is_summed_up_before_it_no_longer_fits_what_is_configured() {
    let answers = [
        Answer::say(&"Long. ".repeat(100)).usage(900, 90),
        Answer::say("Summary: somebody said hi."),
        Answer::say("Hello again."),
    ];
    let (home, provider) = (home(), StrictProvider::start(answers));
    home.configure(r#"{"models": {"openai/strict-1": {"context_window": 1000}}}"#);
    home.run(&provider, ["Hi"]).finish().expect_code(0);
    let run = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
    assert_eq!(run.lines().of("summary.finished").len(), 1, "{}", run.out);
    assert_eq!(run.last()["answer"], "Hello again.");
}
