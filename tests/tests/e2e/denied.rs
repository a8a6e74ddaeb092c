//! Permissions where nobody can be asked: reading inside the working directory is allowed, and everything else is not.

use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// Calls that need permission, with a file outside of the working directory.
fn forbidden(outside: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("bash", json!({"command": "touch made-by-bash"})),
        ("write", json!({"file_path": "made.txt", "content": "x"})),
        ("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"})),
        ("view", json!({"file_path": outside})),
        ("view", json!({"file_path": "../outside.txt"})),
        ("view", json!({"file_path": "link.txt"})),
        ("ls", json!({"path": ".."})),
        ("grep", json!({"pattern": "secret", "path": ".."})),
        ("glob", json!({"pattern": "*", "path": "/"})),
    ]
}

#[test]
fn what_needs_permission_is_denied_and_the_model_is_told() {
    let home = home();
    let outside = home.root().join("outside.txt");
    std::fs::write(&outside, "a secret\n").unwrap();
    home.write("a.txt", "one\n");
    std::os::unix::fs::symlink(&outside, home.work().join("link.txt")).unwrap();
    let calls = forbidden(outside.to_str().unwrap());
    let add = |answer: Answer, (at, (name, input)): (usize, &(&str, Value))| {
        answer.call(&format!("c{at}"), name, input.clone())
    };
    let asks = calls.iter().enumerate().fold(Answer::new(), add);
    let provider = StrictProvider::start([asks, Answer::say("I may not.")]);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert_eq!(run.lines().of("permission.denied").len(), calls.len());
    assert_eq!(run.lines().of("tool.started").len(), 0);
    assert_eq!(run.last()["tools"]["denied"], calls.len());
    let results = provider.completions()[1].tool_results();
    assert_eq!(results.len(), calls.len());
    for (call, text) in results {
        assert!(text.contains("Permission denied") && !text.contains("secret"), "{call}: {text}");
    }
    assert_eq!(home.read("a.txt"), "one\n");
    assert!(!home.has("made-by-bash") && !home.has("made.txt"));
}

#[test]
fn whoever_runs_it_is_told_once_which_option_would_have_allowed_what_was_denied() {
    let home = home();
    let outside = home.root().join("outside.txt");
    std::fs::write(&outside, "seen\n").unwrap();
    let look = |id: &str| (id.to_owned(), "view", json!({"file_path": outside}));
    let asks = [look("c1"), look("c2"), ("c3".to_owned(), "bash", json!({"command": "touch made"}))];
    let asks =
        asks.into_iter().fold(Answer::new(), |answer, (id, name, input)| answer.call(&id, name, input));
    let provider = StrictProvider::start([asks, Answer::say("I may not.")]);
    let run = home.run_text(&provider, ["Go."]).finish().expect_code(0);
    let hints: Vec<_> = run.err.lines().filter(|line| line.starts_with("hostler: Denied")).collect();
    assert_eq!(hints.len(), 2, "{}", run.err);
    let rule = format!("read({})", outside.display());
    assert!(hints[0].contains(&format!("--allow '{rule}'")) && hints[0].contains("--yolo"), "{}", run.err);
    assert!(hints[1].contains("--allow 'bash(touch made)'"), "{}", run.err);
    // What it says does it.
    let (_, name, input) = look("c1");
    let provider = StrictProvider::start([Answer::calling("c1", name, input), Answer::say("Done.")]);
    let run = home.run_text(&provider, ["--allow", &rule, "Go."]).finish().expect_code(0);
    assert!(!run.err.contains("hostler: Denied"), "{}", run.err);
    assert!(provider.completions()[1].tool_results()[0].1.contains("seen"));
}

#[test]
fn reading_inside_is_allowed_in_every_way_of_writing_a_path() {
    let home = home();
    home.write("src/a.txt", "one\n");
    let whole = home.work().join("src/a.txt");
    let asks = Answer::new()
        .call("c1", "view", json!({"file_path": "src/a.txt"}))
        .call("c2", "view", json!({"file_path": whole}))
        .call("c3", "view", json!({"file_path": "src/../src/./a.txt"}))
        .call("c4", "ls", json!({"path": "src"}))
        .call("c5", "glob", json!({"pattern": "**/*.txt"}))
        .call("c6", "grep", json!({"pattern": "on.", "include": "*.txt"}));
    let provider = StrictProvider::start([asks, Answer::say("Read.")]);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert!(run.lines().tools().iter().all(|(_, status)| status == "ok"), "{:?}", run.lines().tools());
    assert_eq!(run.lines().tools().len(), 6);
}

/// An answer that asks for what is denied.
fn asks(id: &str) -> Answer {
    Answer::say("Please.").call(id, "bash", json!({"command": "touch made"}))
}

#[test]
fn three_steps_of_nothing_but_denials_end_the_run() {
    let home = home();
    let provider = StrictProvider::start([asks("c1"), asks("c2"), asks("c3"), Answer::say("never")]);
    let run = home.run(&provider, ["Go."]).finish().expect_code(5);
    assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("denied"), &json!("denied")));
    assert!(run.last()["message"].as_str().unwrap().contains("--yolo"));
    assert_eq!(provider.remaining(), 1);
    assert!(!home.has("made"));
    let provider = StrictProvider::start(Answer::say("All right."));
    home.run(&provider, ["--continue", "Never mind."]).finish().expect_code(0);
}

#[test]
fn a_step_that_may_do_something_begins_the_count_anew() {
    let looks =
        || Answer::new().call("c", "ls", json!({})).call("d", "bash", json!({"command": "touch made"}));
    let home = home();
    let answers = [asks("c1"), asks("c2"), looks(), asks("c4"), asks("c5"), Answer::say("I give up.")];
    let provider = StrictProvider::start(answers);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert_eq!((&run.last()["tools"]["denied"], &run.last()["tools"]["ok"]), (&json!(5), &json!(1)));
}

#[test]
fn everything_is_allowed_if_the_user_says_so() {
    let home = home();
    let outside = home.root().join("outside.txt");
    std::fs::write(&outside, "a secret\n").unwrap();
    let answer = asks("c1").call("c2", "view", json!({"file_path": outside}));
    let provider = StrictProvider::start([answer, Answer::say("Done.")]);
    let run = home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert_eq!(run.lines().first("run.started").unwrap()["permission_mode"], "yolo");
    assert_eq!(run.lines().tools().iter().filter(|(_, status)| status == "ok").count(), 2);
    assert!(home.has("made"));
    assert!(provider.completions()[1].tool_results()[1].1.contains("a secret"));
}
