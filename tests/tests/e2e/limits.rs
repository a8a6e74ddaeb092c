//! Limits on what a run may cost.

use hostler_tests::strict::{Answer, StrictProvider};

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
