//! What is done with sessions beside running prompts in them, and the commands around that.

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// A session in which the model looked at a file, and its id.
fn begun(home: &Home) -> String {
    home.write("a.txt", "hello ```` there\n");
    let look = Answer::say("I'll look.").call("c1", "view", json!({"file_path": "a.txt"}));
    let provider = StrictProvider::start([look, Answer::say("It says hello.")]);
    home.run(&provider, ["Read it."]).finish().expect_code(0).lines().session()
}

fn out(home: &Home, words: &[&str]) -> String {
    home.hostler(words.to_vec()).finish().expect_code(0).out
}

fn sessions(home: &Home) -> Vec<Value> {
    out(home, &["sessions", "list", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_session_gets_another_title() {
    let home = home();
    let id = begun(&home);
    assert_eq!(out(&home, &["sessions", "rename", &id[..8], "What", "it", "says"]), "");
    assert_eq!(sessions(&home)[0]["title"], "What it says");
    let none = home.hostler(["sessions", "rename", "zz", "x"]).finish().expect_code(2);
    assert!(none.err.contains("there is no session"), "{}", none.err);
    home.hostler(["sessions", "rename", &id, " "]).finish().expect_code(2);
}

#[test]
fn a_session_is_forked_by_hand_and_the_fork_goes_on() {
    let home = home();
    let id = begun(&home);
    let fork = out(&home, &["sessions", "fork", &id]).trim().to_owned();
    assert_ne!(fork, id);
    let provider = StrictProvider::start(Answer::say("Yes."));
    let run = home.run(&provider, ["--session", &fork, "Sure?"]).finish().expect_code(0);
    assert_eq!(run.lines().session(), fork);
    assert!(
        provider.completions()[0].body.to_string().contains("It says hello."),
        "what was said is sent again"
    );
    let messages = |id: &str| {
        let shown = out(&home, &["sessions", "show", id, "--json"]);
        serde_json::from_str::<Value>(&shown).unwrap()["messages"].as_array().unwrap().len()
    };
    assert_eq!((messages(&id), messages(&fork)), (3, 5));
}

#[test]
fn a_run_goes_on_in_a_fork() {
    let home = home();
    let id = begun(&home);
    let provider = StrictProvider::start(Answer::say("Yes."));
    let run = home.run(&provider, ["--continue", "--fork", "Sure?"]).finish().expect_code(0);
    assert_ne!(run.lines().session(), id);
    assert_eq!(sessions(&home).len(), 2);
    assert_eq!(out(&home, &["sessions", "show", &id]).matches("] user").count(), 1);
    let nothing = home.run(&provider, ["--fork", "Sure?"]).finish().expect_code(2);
    assert!(nothing.out.is_empty() && nothing.err.contains("nothing to fork"), "{}", nothing.err);
}

#[test]
fn a_session_is_deleted_unless_it_is_at_work() {
    let home = home();
    let id = begun(&home);
    let provider = StrictProvider::start(Answer::say("Slow").stall());
    let running = home.run(&provider, ["--continue", "Go on."]).start();
    running.wait_for_line("text.delta");
    let busy = home.hostler(["sessions", "delete", &id]).finish().expect_code(2);
    assert!(busy.err.contains("is at work in the session"), "{}", busy.err);
    running.signal(hostler_tests::harness::Signal::Interrupt);
    running.finish().expect_code(130);
    assert_eq!(out(&home, &["sessions", "delete", &id]), "");
    assert!(sessions(&home).is_empty());
    home.hostler(["sessions", "delete", &id]).finish().expect_code(2);
    home.hostler(["runs", "list"]).finish().expect_code(0);
}

#[test]
fn a_session_is_exported_for_people_and_for_programs() {
    let home = home();
    let id = begun(&home);
    let text = out(&home, &["sessions", "export", &id]);
    for part in [
        "# Read it.\n",
        "\n## User, ",
        "\nRead it.\n",
        "\nI'll look.\n",
        "Tool `view`:",
        "\n`````\n",
        "\nIt says hello.\n",
    ] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    let object: Value =
        serde_json::from_str(&out(&home, &["sessions", "export", &id, "--format", "json"])).unwrap();
    assert_eq!(object["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn runs_are_listed_the_last_first() {
    let home = home();
    assert!(out(&home, &["runs", "list"]).contains("no runs"));
    begun(&home);
    let provider = StrictProvider::start(Answer::error(400, "No."));
    let bad = home.run(&provider, ["Hi\nyou"]).finish().expect_code(1).lines().run();
    let text = out(&home, &["runs", "list"]);
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with(&bad[..8]) && lines[0].contains("exit code 1, provider  "),
        "{text}"
    );
    assert!(lines[0].ends_with("Hi") && lines[1].contains("ok"), "{text}");
    let first: Value =
        serde_json::from_str(out(&home, &["runs", "list", "--json", "--limit", "1"]).trim()).unwrap();
    assert_eq!(first["run"], bad.as_str());
    let cut = home.hostler(["runs", "list", "--limit", "1"]).finish().expect_code(0);
    assert!(cut.err.contains("There are more than 1 run; --limit"), "{}", cut.err);
    assert_eq!(home.hostler(["runs", "list", "--limit", "2"]).finish().expect_code(0).err, "");
    home.hostler(["runs", "list", "--limit", "0"]).finish().expect_code(2);
    let unknown = home.hostler(["runs", "show", "zz"]).finish().expect_code(2);
    assert!(unknown.err.contains("hostler runs list"), "{}", unknown.err);
}

#[test]
fn a_run_names_the_flight_records_that_it_is_in() {
    let home = home();
    begun(&home);
    let provider = StrictProvider::start(Answer::say("Hello."));
    let run = home.run(&provider, ["Hi"]).finish().expect_code(0).lines().run();
    let shown: Value = serde_json::from_str(&out(&home, &["runs", "show", &run, "--json"])).unwrap();
    let [file] = &shown["flight_records"].as_array().unwrap()[..] else { panic!("{shown}") };
    let file = file.as_str().unwrap();
    assert!(out(&home, &["runs", "show", &run]).contains(&format!("\nflight record {file}\n")));
    assert!(out(&home, &["replay", file]).contains("are decided as they were recorded"));
}

#[test]
fn of_several_sessions_none_is_deleted_unless_all_are_found() {
    let home = home();
    let (one, two) = (begun(&home), begun(&home));
    home.hostler(["sessions", "delete", &one, "zz"]).finish().expect_code(2);
    assert_eq!(sessions(&home).len(), 2);
    out(&home, &["sessions", "delete", &one, &two, &one]);
    assert!(sessions(&home).is_empty());
}

#[test]
fn what_failed_and_what_was_attached_is_told_wherever_a_session_is() {
    let home = home();
    home.write("a.txt", "hello");
    let provider = StrictProvider::start(Answer::error(400, "No."));
    let run = home.run(&provider, ["--file", "a.txt", "Hi"]).finish().expect_code(1);
    let id = run.lines().session();
    for (command, attached) in [("show", "\nAttached: a.txt\n"), ("export", "\nAttached: `a.txt`\n")] {
        let text = out(&home, &["sessions", command, &id]);
        assert!(text.contains(attached) && text.contains("\n(failed: "), "{command}: {text}");
    }
}

#[test]
fn a_scenario_is_called_as_it_was_asked_for() {
    let home = home();
    home.write("b.json", r#"{"steps": [{"say": [{"text": "Hello."}]}]}"#);
    let model = format!("rehearsal:{}/b.json", home.work().display());
    out(&home, &["run", "--model", &model, "Hi"]);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    assert!(out(&home, &["sessions", "show", &id]).contains(&format!("] {model}\n")));
    assert!(out(&home, &["sessions", "export", &id]).contains(&format!("\n## {model}, ")));
}

#[test]
fn shells_and_manuals_are_served() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(out(&home, &["completions", shell]).contains("hostler"), "{shell}");
    }
    assert!(out(&home, &["man"]).contains(".TH"));
    assert!(out(&home, &["man", "sessions", "list"]).contains("the one that changed last first"));
    assert!(out(&home, &["man", "sessions list"]).contains("the one that changed last first"));
    home.hostler(["man", "nothing"]).finish().expect_code(2);
}

#[test]
fn the_schema_of_a_runs_lines_is_printed() {
    let schema: Value = serde_json::from_str(&out(&home(), &["schema", "run"])).unwrap();
    assert!(schema["$defs"]["run.finished"]["properties"]["exit_code"].is_object());
}

#[test]
fn arguments_are_not_obeyed_by_a_terminal() {
    let wrong = home().hostler(["run", "--no\u{1b}[2Jsuch\u{202e}option"]).finish().expect_code(2);
    assert!(!wrong.err.contains(['\u{1b}', '\u{202e}']) && wrong.err.contains("\\u{1b}[2J"), "{}", wrong.err);
    let unknown = home().hostler(["sessions", "show", "a\nb\u{2028}"]).finish().expect_code(2);
    assert!(unknown.err.lines().count() == 1 && !unknown.err.contains('\u{2028}'), "{}", unknown.err);
}
