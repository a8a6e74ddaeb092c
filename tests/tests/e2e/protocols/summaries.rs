//! Conversations that become too long are summed up, and gone on with.

use hostler_tests::harness::model;
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::json;

use super::{each, goes_on, run_in};
use crate::home;

const REQUEST: &str = "Count the stars.";

fn looks() -> Answer {
    Answer::new().sealed("How many?").text("I look up.").call("c1", "ls", json!({}))
}

#[test]
fn a_conversation_that_is_refused_as_too_long_is_summed_up() {
    each(&[()], |protocol, ()| {
        let home = home();
        let provider = StrictProvider::start([
            looks(),
            Answer::context_exceeded(),
            Answer::say("One star so far."),
            looks(),
            Answer::say("Two stars."),
        ]);
        let finished = run_in(&home, protocol, &provider, &[REQUEST], 0);
        assert_eq!(finished.last()["answer"], "Two stars.");
        let asked = provider.completions();
        assert!(asked[2].tool_names().is_empty() && asked[2].last_user_text().contains("I look up."));
        let went_on = asked[3].user_texts().concat();
        assert!(went_on.contains("One star so far."), "{went_on}");
        assert_eq!(went_on.matches(REQUEST).count(), 1, "the request is quoted once");
        assert!(!asked[3].text.contains("I look up."), "the summary stands for what came before");
        goes_on(&home, protocol);
    });
}

#[test]
fn what_fills_a_small_window_is_summed_up_before_the_next_request() {
    each(&[()], |protocol, ()| {
        let home = home();
        let models = json!({model(protocol): {"context_window": 8192}});
        home.configure(&json!({"local_servers": false, "models": models}).to_string());
        let answers = [looks().usage(6_000, 700), Answer::say("One star so far."), Answer::say("Two stars.")];
        let provider = StrictProvider::start(answers);
        let finished = run_in(&home, protocol, &provider, &[REQUEST], 0);
        assert_eq!(finished.last()["answer"], "Two stars.");
        assert!(provider.completions()[1].tool_names().is_empty(), "the second request is for a summary");
        goes_on(&home, protocol);
    });
}
