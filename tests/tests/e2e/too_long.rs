//! Conversations that become too long for the model: summed up, and gone on with.

use hostler_tests::harness::{Finished, Home};
use hostler_tests::strict::{Answer, Recorded, StrictProvider};
use serde_json::{Value, json};

use crate::home;

const REQUEST: &str = "Count the stars.";

fn looks() -> Answer {
    Answer::say("I look up.").call("c1", "ls", json!({}))
}

fn run(home: &Home, provider: &StrictProvider, words: &[&str]) -> Finished {
    home.run(provider, words.to_vec()).finish()
}

/// Whatever happened, the session is one that a provider accepts; returns what it is sent.
fn goes_on(home: &Home) -> Recorded {
    let provider = StrictProvider::start(Answer::say("Still here."));
    run(home, &provider, &["--continue", "Are you there?"]).expect_code(0);
    provider.completions().remove(0)
}

/// The texts of a request's messages, without the system prompt.
fn texts(request: &Recorded) -> Vec<String> {
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    request.messages().iter().skip(1).map(text).collect()
}

#[test]
fn a_conversation_that_is_refused_as_too_long_is_summed_up_and_the_run_goes_on() {
    let answers =
        [looks(), Answer::context_exceeded(), Answer::say("One star so far."), Answer::say("Two stars.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let finished = run(&home, &provider, &[REQUEST]).expect_code(0);
    let lines = finished.lines();
    let summary = ["step.finished", "step.started", "step.finished", "summary.started", "step.started"];
    let at = lines.kinds().iter().position(|kind| *kind == "summary.started").unwrap();
    assert_eq!(lines.kinds()[at - 3..=at + 1], summary);
    assert!(lines.first("summary.finished").is_some());
    assert_eq!((&finished.last()["answer"], &finished.last()["steps"]), (&json!("Two stars."), &json!(4)));
    assert_eq!(finished.last()["attempts"], 4);
    assert_eq!(lines.of("text.delta").len(), 2, "the summary is not shown as the answer");

    let asked = provider.completions();
    assert!(asked[2].tool_names().is_empty() && asked[2].last_user_text().contains("I look up."));
    let went_on = texts(&asked[3]);
    assert!(went_on[0].contains("One star so far."), "{went_on:#?}");
    assert_eq!(went_on.concat().matches(REQUEST).count(), 1, "the request is quoted once");
    assert!(!went_on.concat().contains("I look up."), "the summary stands for what came before");

    let later = texts(&goes_on(&home)).concat();
    assert!(later.contains("One star so far.") && later.contains("Two stars."), "{later}");
    let session = finished.lines().session();
    let shown = home.hostler(["sessions", "show", &session]).finish().expect_code(0).out;
    assert!(shown.contains("I look up."), "people still see all of it");
}

#[test]
fn what_fills_a_small_window_is_summed_up_before_the_next_request() {
    let fills = looks().usage(6_000, 700);
    let answers = [fills, Answer::say("One star so far."), Answer::say("Two stars.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let words = ["run", "--model", "openai/gpt-4", "--format", "jsonl", REQUEST];
    let finished = home.hostler(words).provider(&provider).finish().expect_code(0);
    assert_eq!(finished.last()["answer"], "Two stars.");
    assert!(provider.completions()[1].tool_names().is_empty(), "the second request is for a summary");
    assert!(finished.last()["cost_usd"].as_f64().unwrap() > 0.2, "{}", finished.last());
}

#[test]
fn a_run_can_be_summed_up_more_than_once_and_its_request_is_never_nested() {
    let mut answers = Vec::new();
    for round in 1..=3 {
        answers.extend([looks(), Answer::context_exceeded(), Answer::say(&format!("Star {round}."))]);
    }
    answers.push(Answer::say("Three stars."));
    let (home, provider) = (home(), StrictProvider::start(answers));
    let finished = run(&home, &provider, &[REQUEST]).expect_code(0);
    assert_eq!(finished.lines().of("summary.started").len(), 3);
    let last = texts(&provider.completions().pop().unwrap()).concat();
    assert!(last.contains("Star 3.") && !last.contains("Star 1."), "{last}");
    assert_eq!((last.matches(REQUEST).count(), last.matches("<request>").count()), (1, 1), "{last}");
}

#[test]
fn a_summary_that_is_refused_as_too_long_is_asked_for_of_less_and_not_for_ever() {
    let refused = |times: usize| (0..times).map(|_| Answer::context_exceeded());
    let text = "star ".repeat(20_000);
    let home = home();
    home.write("sky", &text);
    let views = || Answer::say("I look up.").call("c1", "view", json!({"file_path": "sky"}));
    let mut answers = vec![views()];
    answers.extend(refused(3));
    answers.extend([Answer::say("One star so far."), Answer::say("Two stars.")]);
    let provider = StrictProvider::start(answers);
    run(&home, &provider, &[REQUEST]).expect_code(0);
    let asked: Vec<usize> = provider.completions()[2..5].iter().map(|request| request.text.len()).collect();
    assert!(asked.is_sorted_by(|more, less| less < more), "each time less is shown: {asked:?}");

    let mut answers = vec![views()];
    answers.extend(refused(20));
    let provider = StrictProvider::start(answers);
    let finished = run(&home, &provider, &["--continue", REQUEST]).expect_code(4);
    assert_eq!(
        (&finished.last()["status"], &finished.last()["reason"]),
        (&json!("limit"), &json!("context"))
    );
    assert!(provider.completions().len() < 10, "{} requests", provider.completions().len());
    goes_on(&home);
}

#[test]
fn a_summary_that_fails_ends_the_run_and_not_the_session() {
    let empty = [looks(), Answer::context_exceeded(), Answer::new().finish("stop")];
    let broken = [looks(), Answer::context_exceeded(), Answer::error(400, "No.")];
    for (answers, says) in [(empty, "wrote nothing"), (broken, "status 400): No;")] {
        let (home, provider) = (home(), StrictProvider::start(answers));
        let finished = run(&home, &provider, &[REQUEST]).expect_code(1);
        let message = finished.last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{message}");
        assert_eq!(finished.last()["answer"], "I look up.");
        assert!(texts(&goes_on(&home)).concat().contains("I look up."), "nothing is lost");
    }
}

#[test]
fn trouble_while_it_is_summed_up_is_waited_out() {
    let busy = || Answer::error(503, "Busy.").header("retry-after-ms", "1");
    let answers = [
        looks(),
        busy(),
        Answer::context_exceeded(),
        busy(),
        busy(),
        Answer::say("One star so far."),
        Answer::say("Two stars."),
    ];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let finished = run(&home, &provider, &[REQUEST]).expect_code(0);
    assert_eq!((&finished.last()["attempts"], finished.lines().of("retry").len()), (&json!(7), 3));
    assert!(texts(&provider.completions()[6])[0].contains("One star so far."));
}

#[test]
fn the_list_of_what_is_to_be_done_outlives_a_summary() {
    let list = json!({"todos": [
        {"content": "Count the first", "status": "completed"},
        {"content": "Count the second", "status": "in_progress"},
    ]});
    let answers = [
        Answer::calling("c1", "todos", list),
        Answer::context_exceeded(),
        Answer::say("One star so far."),
        Answer::say("Two stars."),
    ];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let finished = run(&home, &provider, &[REQUEST]).expect_code(0);
    assert_eq!(finished.lines().tools(), [("todos".to_owned(), "ok".to_owned())]);
    let went_on = texts(&provider.completions()[3]).concat();
    assert!(went_on.contains("Count the first") && went_on.contains("Count the second"), "{went_on}");
}

#[test]
fn a_process_that_is_killed_while_it_sums_up_leaves_a_session_that_goes_on() {
    let answers = [looks(), Answer::context_exceeded(), Answer::say("So far").stall()];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let started = home.run(&provider, [REQUEST]).start();
    started.wait_for_line("summary.started");
    assert!(provider.wait_for_requests(3, crate::PATIENCE));
    let killed = started.kill();
    let later = texts(&goes_on(&home)).concat();
    assert!(later.contains("I look up.") && !later.contains("So far"), "{later}");
    let shown = home.hostler(["runs", "show", &killed.lines().run()]).finish().expect_code(0).out;
    assert!(shown.contains("interrupted"), "{shown}");
}
