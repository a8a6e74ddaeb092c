//! What is known of models: what their runs cost, and that something is said when nothing is known.

use hostler_tests::harness::Hostler;
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
fn models_behind_openrouter_are_listed_with_its_key_and_have_their_prices() {
    let (home, provider) = (home(), StrictProvider::start([Answer::say("Hello.").usage(1_000, 100)]));
    let listed = |run: Hostler<'_>| run.finish().expect_code(0).out;
    let name = "openrouter/anthropic/claude-haiku-4.5";
    assert!(listed(home.hostler(["models", name])).starts_with("Nothing is known of a model like"));
    let with_key = home.hostler(["models", name]).variable("OPENROUTER_API_KEY", "sk-test");
    let line = [name, "200000", "64000", "tools", "vision", "reasoning", "$1/$5"];
    let listed = listed(with_key);
    let shown: Vec<Vec<_>> = listed.lines().skip(1).map(|shown| shown.split_whitespace().collect()).collect();
    assert_eq!(shown, [line.to_vec()], "{listed}");

    let run = home.hostler(["run", "--model", name, "--format", "jsonl", "Hi"]).provider(&provider);
    let run =
        run.variable("OPENROUTER_BASE_URL", &provider.base_url()).variable("OPENROUTER_API_KEY", "sk-test");
    let run = run.finish().expect_code(0);
    assert_eq!(run.last()["cost_usd"], json!(0.0015));
    assert!(run.lines().of("warning").is_empty());
    assert_eq!(provider.completions()[0].body["model"], "anthropic/claude-haiku-4.5");
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
