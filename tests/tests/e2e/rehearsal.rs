//! The rehearsal model: real work without a network or a key.

use hostler_tests::harness::{Finished, Home};
use serde_json::json;

use crate::home;

fn tour(home: &Home, words: &[&str]) -> Finished {
    let run = home.hostler(["run", "--model", "rehearsal", "--format", "jsonl"]).words(words.to_vec());
    // Nothing can be reached there: port 9 of this machine discards, if anybody listens at all.
    run.variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").finish().expect_code(0)
}

#[test]
fn it_tours_the_directory_with_the_real_tools() {
    let home = home();
    home.write("README.md", "# Snail\n\nA slow program.\n");
    home.write("src/main.c", "int main(void) {\n    return 0;\n}\n");
    let run = tour(&home, &["What is in this repository?"]);
    let answer = run.last()["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("README.md") && answer.contains("main.c"), "{answer}");
    assert!(answer.contains("I am a script"), "it says what it is: {answer}");
    let tools = run.lines().tools();
    assert!(tools.len() >= 3 && tools.iter().all(|(_, status)| status == "ok"), "{tools:?}");
    assert_eq!(home.read("README.md"), "# Snail\n\nA slow program.\n");
    tour(&home, &["--continue", "And now?"]);
}

#[test]
fn it_tours_an_empty_directory() {
    let home = home();
    assert!(tour(&home, &["What is here?"]).last()["answer"].is_string());
    assert_eq!(std::fs::read_dir(home.work()).unwrap().count(), 0, "it leaves nothing there");
}

#[test]
fn a_scenario_is_played_with_its_faults() {
    let home = home();
    let limited = json!({"refuse": {"status": 429, "code": "rate_limit_exceeded", "retry_after_ms": 1}});
    let passed =
        json!({"expect": {"last_result_contains": "2 passed"}, "say": [{"text": "The tests pass."}]});
    let scenario = json!({"steps": [
        {"say": [
            {"reasoning": "Tests first.", "pieces": 3},
            {"text": "I'll run the tests."},
            {"call": {"tool": "bash", "input": {"command": "echo 2 passed"}}},
        ], "usage": {"input": 1200, "output": 40}},
        {"attempts": [limited, passed]},
    ]});
    home.write("scenario.json", &scenario.to_string());
    let run =
        home.hostler(["run", "--yolo", "--format", "jsonl", "--model", "rehearsal:scenario.json", "Go."]);
    let run = run.finish().expect_code(0);
    assert_eq!(run.last()["answer"], "The tests pass.");
    assert_eq!((&run.last()["attempts"], &run.last()["usage"]["input"]), (&json!(3), &json!(1200)));
    assert_eq!(run.lines().tools(), [("bash".to_owned(), "ok".to_owned())]);
}
