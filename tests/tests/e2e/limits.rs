//! Limits on what a run may cost, and on going round in circles.

use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use crate::home;

#[test]
fn a_limit_on_a_cost_that_cannot_be_known_is_refused() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    let run = home.run(&provider, ["--max-cost", "0.50", "Go."]).finish().expect_code(2);
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("prices of openai/strict-1 are not known"), "{message}");
    assert!(provider.requests().is_empty());
}

#[test]
fn an_amount_that_is_none_is_a_mistake() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    for amount in ["0", "-1", "1e3", "a lot", "0.0000001"] {
        let run = home.run(&provider, [&format!("--max-cost={amount}"), "Go."]).finish().expect_code(2);
        assert!(run.out.is_empty() && run.err.contains("is not an amount of dollars"), "{}", run.err);
    }
}

#[test]
fn a_run_ends_at_the_first_step_that_would_cost_more() {
    let home = home();
    // At 30 and 60 dollars a million tokens each step costs 36 cents.
    let looks = |id: &str| Answer::say("Once more.").call(id, "ls", json!({})).usage(10_000, 1_000);
    let provider = StrictProvider::start([looks("a"), looks("b"), Answer::say("never")]);
    let run =
        home.hostler(["run", "--model", "openai/gpt-4", "--format", "jsonl", "--max-cost", "0.50", "Go."]);
    let run = run.provider(&provider).finish().expect_code(4);
    let last = run.last();
    assert_eq!(
        (&last["status"], &last["reason"], &last["steps"]),
        (&json!("limit"), &json!("max_cost"), &json!(2))
    );
    assert_eq!((last["cost_usd"].as_f64(), provider.remaining()), (Some(0.72), 1));
    let provider = StrictProvider::start(Answer::say("Still here."));
    home.run(&provider, ["--continue", "Go on."]).finish().expect_code(0);
}

#[test]
fn a_run_that_goes_round_in_circles_ends() {
    let mut asked = 0;
    let provider = StrictProvider::start(Script::each(move |_| {
        asked += 1;
        Answer::calling(&format!("c{asked}"), "ls", json!({}))
    }));
    let home = home();
    let run = home.run(&provider, ["Go."]).finish().expect_code(4);
    assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("limit"), &json!("repetition")));
    assert!(provider.requests().len() < 20, "{}", provider.requests().len());
    let provider = StrictProvider::start(Answer::say("Still here."));
    home.run(&provider, ["--continue", "Go on."]).finish().expect_code(0);
}
