//! `hostler replay`: a flight record compared, looked into, and written for others.

use std::path::{Path, PathBuf};

use hostler_tests::harness::{Finished, Home};
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::json;

use crate::home;

/// The one flight record that there is.
fn record(home: &Home) -> PathBuf {
    let workspaces = home.state().join("hostler/workspaces");
    let workspace = std::fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let mut records = std::fs::read_dir(workspace.join("flight")).unwrap();
    let record = records.next().unwrap().unwrap().path();
    assert!(records.next().is_none(), "there is another one");
    record
}

fn replay(home: &Home, file: &Path, words: &[&str]) -> Finished {
    home.hostler(["replay", file.to_str().unwrap()]).words(words.to_vec()).finish()
}

/// A run with a tool in it that prints a secret, killed while the tool runs or finished.
fn secretive(home: &Home, killed: bool) -> PathBuf {
    let wait = if killed { "sleep 60" } else { "true" };
    let command = format!("echo started > sign; echo hunter2; {wait}");
    let answers = [Answer::calling("c1", "bash", json!({"command": command})), Answer::say("It is hunter2.")];
    let provider = StrictProvider::start(answers);
    let run = home.run(&provider, ["--yolo", "Print hunter2"]).start();
    home.wait_for_file("sign");
    if killed {
        run.kill();
    } else {
        run.finish().expect_code(0);
    }
    record(home)
}

/// Rules are texts, and what they fit is hidden beside them.
#[test]
fn what_is_exported_of_a_run_with_rules_is_decided_alike() {
    let rules = [
        &["--allow", "bash(echo *)", "--allow", "bash(ls 'a b')", "--deny", "bash(rm *)"][..],
        &["--allow", "bash", "--deny", "bash(cat hunter2)", "--deny", "read(hunter2)"],
        &["--allow", "host(*.example.com)", "--allow", "write(hunter2/**)", "--deny", "ls"],
    ];
    for rules in rules {
        let home = home();
        let commands =
            ["echo hunter2", "ls 'a b'", "rm hunter2", "cat hunter2", "curl https://api.example.com"];
        let calls = commands.iter().enumerate().fold(Answer::say("Well."), |answer, (nth, command)| {
            answer.call(&format!("c{nth}"), "bash", json!({"command": command}))
        });
        let write = json!({"file_path": "hunter2/a.txt", "content": "hunter2"});
        let calls = calls.call("c8", "write", write).call("c9", "ls", json!({}));
        let provider = StrictProvider::start([calls, Answer::say("Done.")]);
        home.run(&provider, ["Go"]).words(rules.to_vec()).finish().expect_code(0);
        let (record, out) = (record(&home), home.root().join("shown.jsonl"));
        replay(&home, &record, &["--export", out.to_str().unwrap()]).expect_code(0);
        assert!(!std::fs::read_to_string(&out).unwrap().contains("hunter2"));
        replay(&home, &out, &[]).expect_code(0);
    }
}

#[test]
fn the_first_batch_that_differs_is_named() {
    let home = home();
    let record = secretive(&home, false);
    assert!(replay(&home, &record, &[]).expect_code(0).out.contains("decided as they were recorded"));
    let text = std::fs::read_to_string(&record).unwrap();
    let digest = text.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap();
    let other = home.root().join("other.jsonl");
    std::fs::write(&other, text.replacen(digest, "0000", 1)).unwrap();
    assert!(replay(&home, &other, &[]).expect_code(1).out.contains("Batch 1 is decided differently"));
    assert!(replay(&home, &other, &["--at", "1"]).expect_code(1).out.contains("decided differently"));
    assert!(replay(&home, &other, &["--export", "x"]).expect_code(2).err.contains("batch 1"));
    std::fs::write(&other, "nonsense\n").unwrap();
    replay(&home, &other, &[]).expect_code(2);
    replay(&home, &home.root().join("missing"), &[]).expect_code(2);
}

#[test]
fn a_moment_is_shown_with_what_led_to_it() {
    let home = home();
    let record = secretive(&home, false);
    let text = std::fs::read_to_string(&record).unwrap();
    let started = text.lines().position(|line| line.contains("\"Inspected\"")).unwrap().to_string();
    let shown = replay(&home, &record, &["--at", &started]).expect_code(0).out;
    for part in
        ["What happened", "Inspected", "ToolCallStarted", "RunTool", "Print hunter2", "is part of the turn"]
    {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(replay(&home, &record, &["--at", "0"]).expect_code(0).out.contains("no session is in use"));
    assert!(replay(&home, &record, &["--at", "9999"]).expect_code(2).err.contains("there is no batch 9999"));
    replay(&home, &record, &["--at", "1", "--export", "x"]).expect_code(2);
}

#[test]
fn what_is_exported_says_nothing_and_replays() {
    for killed in [false, true] {
        let home = home();
        let record = secretive(&home, killed);
        let out = home.root().join("shown.jsonl");
        let said = replay(&home, &record, &["--export", out.to_str().unwrap()]).expect_code(0).out;
        let (before, after) =
            (std::fs::read_to_string(&record).unwrap(), std::fs::read_to_string(&out).unwrap());
        assert!(before.contains("hunter2") && !after.contains("hunter2"), "{after}");
        let place = home.work();
        assert!(!after.contains(place.to_str().unwrap()), "the directory is still there: {after}");
        assert!(after.contains("bash") && after.contains("strict-1"), "{after}");
        assert!(said.contains(&format!("{} batches", after.lines().count() - 1)), "{said}");
        let (first, again) = (replay(&home, &record, &[]), replay(&home, &out, &[]));
        assert_eq!(again.expect_code(0).out, first.expect_code(0).out);
        let twice = replay(&home, &record, &["--export", out.to_str().unwrap()]);
        assert!(
            twice.expect_code(1).err.contains("cannot be written"),
            "a file that is there is not replaced"
        );
    }
}
