//! Rules on the command line, rules that are kept, and plans.

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::json;

use crate::home;

/// The model runs two commands and writes a file.
fn acting() -> StrictProvider {
    let calls = Answer::new()
        .call("c1", "bash", json!({"command": "touch one"}))
        .call("c2", "write", json!({"file_path": "src/two.txt", "content": "2"}))
        .call("c3", "write", json!({"file_path": "out/three.txt", "content": "3"}));
    StrictProvider::start([calls, Answer::say("Done.")])
}

/// How the three calls end when the program is started with those words.
fn ends(home: &Home, words: &[&str]) -> Vec<String> {
    let provider = acting();
    let run = home.run(&provider, words.to_vec()).words(["Go."]).finish().expect_code(0);
    run.lines().tools().into_iter().map(|(_, status)| status).collect()
}

#[test]
fn what_a_rule_allows_is_done_and_nothing_else() {
    let home = home();
    assert_eq!(ends(&home, &["--allow", "write(out/**)"]), ["denied", "denied", "ok"]);
    assert!(!home.has("one") && !home.has("src"));
    assert_eq!(home.read("out/three.txt"), "3");
    assert_eq!(ends(&home, &["--allow", "bash", "--allow", "write(src/**)"]), ["ok", "ok", "denied"]);
}

#[test]
fn what_a_rule_denies_is_not_done_even_with_yolo() {
    let home = home();
    assert_eq!(
        ends(&home, &["--yolo", "--deny", "bash", "--deny", "write(out/**)"]),
        ["denied", "ok", "denied"]
    );
    assert_eq!(ends(&home, &["--allow", "write", "--deny", "write(src/**)"]), ["denied", "denied", "ok"]);
    assert!(!home.has("one"));
}

#[test]
fn a_rule_that_makes_no_sense_is_a_mistake_in_the_command_line() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    for (words, why) in [
        (["--allow", "frobnicate"], "There is no tool named \"frobnicate\""),
        (["--deny", "bash("], "is not a rule"),
        (["--allow", "write(../x)"], "would never apply"),
        (["--allow", ""], "is not a rule"),
    ] {
        let run = home.run(&provider, words).words(["Go."]).finish().expect_code(2);
        assert!(run.out.is_empty() && run.err.contains(why), "{words:?}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
    assert!(provider.requests().is_empty());
}

#[test]
fn what_is_kept_for_the_directory_holds() {
    let home = home();
    assert_eq!(ends(&home, &[]), ["denied", "denied", "denied"]);
    let workspaces = home.state().join("hostler/workspaces");
    let workspace = std::fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let rules = workspace.join("rules.json");
    std::fs::write(&rules, r#"[{"action":"allow","subject":{"tool":"bash"}}]"#).unwrap();
    assert_eq!(ends(&home, &[]), ["ok", "denied", "denied"]);

    std::fs::write(&rules, "mine").unwrap();
    let provider = StrictProvider::start(Answer::say("never"));
    let run = home.run(&provider, ["Go."]).finish().expect_code(1);
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("rules.json") && message.contains("mend that file"), "{message}");
    assert_eq!(run.last()["reason"], "storage");
    assert!(provider.requests().is_empty());
    assert_eq!(std::fs::read_to_string(&rules).unwrap(), "mine");
}

#[test]
fn a_plan_is_offered_only_tools_that_read() {
    let home = home();
    let provider = StrictProvider::start([
        Answer::new().call("c1", "bash", json!({"command": "touch made"})).call("c2", "ls", json!({})),
        Answer::say("I would make it."),
        Answer::calling("c3", "bash", json!({"command": "touch made"})),
        Answer::say("Made."),
    ]);
    let run = home.run(&provider, ["--plan", "--allow", "bash", "Go."]).finish().expect_code(0);
    assert_eq!(run.lines().first("run.started").unwrap()["permission_mode"], "plan");
    let tools = run.lines().tools();
    assert_eq!(tools, [("bash".to_owned(), "error".to_owned()), ("ls".to_owned(), "ok".to_owned())]);
    assert!(!home.has("made"));
    let asked = provider.completions();
    assert_eq!(asked[0].tool_names(), ["agent", "glob", "grep", "ls", "todos", "view"]);

    home.run(&provider, ["--continue", "--yolo", "Do it."]).finish().expect_code(0);
    assert!(home.has("made"));
    let both = home.run(&provider, ["--plan", "--yolo", "Go."]).finish().expect_code(2);
    assert!(both.out.is_empty() && both.err.contains("--plan"), "{}", both.err);
}

/// How one command ends, what the model is told of it, and what is said on standard error.
fn tried(home: &Home, words: &[&str], command: &str) -> (String, String, String) {
    let call = Answer::calling("c1", "bash", json!({ "command": command }));
    let provider = StrictProvider::start([call, Answer::say("Done.")]);
    let run = home.run_text(&provider, words.to_vec()).words(["Go."]).finish().expect_code(0);
    let told = provider.completions()[1].tool_results()[0].1.clone();
    let status = if told.contains("Permission denied") { "denied" } else { "ok" };
    (status.to_owned(), told, run.err)
}

#[test]
fn a_denied_command_says_which_rule_would_do_and_that_rule_does() {
    let home = home();
    home.write("src/a.txt", "1\n2\n");
    let code = "awk '{ print $1 + 1 }' src/a.txt";
    let (status, told, err) = tried(&home, &[], code);
    assert_eq!(status, "denied");
    let rule = r"bash(awk '{ print $1 + 1 }' src/a.txt)";
    let shown = format!("--allow '{}'", rule.replace('\'', r"'\''"));
    assert!(told.contains(&shown) && err.contains(&shown), "{told}\n{err}");
    for rule in [rule, "bash(awk *)", "bash"] {
        let (status, told, err) = tried(&home, &["--allow", rule], code);
        assert!(status == "ok" && told.contains("2\n3"), "{rule}: {told}\n{err}");
    }
    for rules in [&["bash(*)"][..], &["bash(awk '{ print $1 + 2 }' *)"]] {
        let words: Vec<_> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
        assert_eq!(tried(&home, &words, code).0, "denied", "{rules:?}");
    }

    let unknown = "for file in src/*; do cat \"$file\"; done";
    let (_, told, err) = tried(&home, &["--allow", "bash(cat *)"], unknown);
    let advice = "allow all commands with --allow bash, or everything with --yolo";
    assert!(told.contains(advice) && err.contains("cannot be known beforehand"), "{told}\n{err}");
    assert!(err.contains(advice), "{err}");
    let (_, _, err) = tried(&home, &["--allow", "bash(cat *)", "--deny", "bash(rm)"], unknown);
    assert!(!err.contains("--allow bash") && err.contains("--yolo"), "{err}");
    assert_eq!(tried(&home, &["--allow", "bash"], unknown).0, "ok");
}

#[test]
fn whoever_allows_a_directory_means_what_is_in_it_or_is_told_so() {
    let home = home();
    home.write("out/a.txt", "");
    assert_eq!(ends(&home, &["--allow", "write(out/)"]), ["denied", "denied", "ok"]);
    let provider = acting();
    let run = home.run_text(&provider, ["--allow", "write(out)", "Go."]).finish().expect_code(0);
    let warning = "The rule allow write(out) is about out itself; write write(out/**) for what is in it.";
    assert_eq!(run.err.matches(warning).count(), 1, "{}", run.err);
}

#[test]
fn what_may_not_be_read_is_not_found_either() {
    let home = home();
    for (name, text) in [(".env", "needle=1"), ("src/.env", "needle=2"), ("src/a.txt", "needle=3")] {
        home.write(name, text);
    }
    let provider = StrictProvider::start([
        Answer::new()
            .call("c1", "grep", json!({"pattern": "needle"}))
            .call("c2", "glob", json!({"pattern": "**"}))
            .call("c3", "ls", json!({}))
            .call("c4", "view", json!({"file_path": ".emv"}))
            .call("c5", "grep", json!({"pattern": "needle", "path": ".env"})),
        Answer::say("Done."),
    ]);
    home.run(&provider, ["--yolo", "--deny", "read(.env)", "Go."]).finish().expect_code(0);
    let results = provider.completions()[1].tool_results();
    for (call, text) in &results[..3] {
        let said = text.trim_end().ends_with("[2 paths are left out, since rules deny reading them]");
        assert!(said && text.contains("a.txt") && !text.contains("env"), "{call}: {text}");
    }
    assert_eq!(results[3].1.trim_end(), "There is no .emv; use glob or ls to find it.");
    assert!(results[4].1.contains("Permission denied"), "{results:?}");

    let provider = StrictProvider::start([Answer::calling("c1", "ls", json!({})), Answer::say("Done.")]);
    home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert!(provider.completions()[1].tool_results()[0].1.contains(".env"));
}
