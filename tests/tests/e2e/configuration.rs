//! What is configured holds, and what is written wrong is said before anything happens.

use std::fs;

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use crate::home;

/// A home whose configuration names the strict provider under a name of its own.
fn configured(provider: &StrictProvider, more: &str) -> Home {
    let home = home();
    let base = provider.base_url();
    home.configure(&format!(
        "{{\n  // a comment\n  \"model\": \"mine/strict-1\",\n  \"models\": {{\"mine/strict-1\": {{\"context_window\": 100000}}}},\n  \
         \"providers\": {{\"mine\": {{\"base_url\": \"{base}\", {more}}}}},\n}}\n"
    ));
    home
}

#[test]
fn a_provider_of_ones_own_is_asked_as_it_is_configured() {
    let script =
        Script::new([Answer::say("Hello.")]).key("sk-own").allow(["temperature"]).models(["strict-1"]);
    let provider = StrictProvider::start(script);
    let more = r#""key": "sk-own", "headers": {"X-Team": "blue"}, "body": {"temperature": 0.5},"#;
    let home = configured(&provider, more);
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
    assert_eq!(run.last()["answer"], "Hello.");
    assert!(run.lines().of("warning").is_empty(), "{}", run.out);
    let asked = &provider.completions()[0];
    assert_eq!((asked.header("x-team"), &asked.body["temperature"]), (Some("blue"), &json!(0.5)));
    provider.assert_clean();
}

#[test]
fn a_key_comes_from_a_command_or_a_file_and_is_shown_nowhere() {
    for (at, value) in [("key_command", "echo noise >&2; cat key"), ("key_file", "key")] {
        let script = Script::new([Answer::say("Hello.")]).key("sk-from-elsewhere");
        let provider = StrictProvider::start(script);
        let home = configured(&provider, &format!("\"{at}\": \"{value}\""));
        home.write("key", "sk-from-elsewhere\n");
        let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
        assert!(!run.out.contains("sk-from") && !run.err.contains("sk-from"));
        fs::remove_file(home.work().join("key")).unwrap();
        let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(3);
        assert_eq!(run.last()["reason"], "credentials");
        assert!(
            run.last()["message"].as_str().unwrap().contains("The key cannot be had from the "),
            "{}",
            run.last()
        );
    }
}

#[test]
fn a_key_that_is_refused_is_found_out_anew_once() {
    let changes = r#""key_command": "if [ -e asked ]; then echo sk-new; else touch asked; echo sk-old; fi""#;
    let provider = StrictProvider::start(Script::new([Answer::say("Hello.")]).key("sk-new"));
    let home = configured(&provider, changes);
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
    assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)));

    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")).key("sk-other"));
    let home = configured(&provider, changes);
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(3);
    assert_eq!((&run.last()["reason"], &run.last()["attempts"]), (&json!("credentials"), &json!(2)));
}

#[test]
fn a_command_that_prints_a_key_leaves_nothing_behind() {
    let provider = StrictProvider::start(Script::new([Answer::say("Hello.")]).key("k"));
    let home = configured(&provider, r#""key_command": "sleep 100 > /dev/null & echo k""#);
    // What is left of a run is looked for when it has ended.
    home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
}

#[test]
fn the_environment_goes_before_files_and_the_command_line_before_both() {
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")));
    let home = home();
    home.configure(r#"{"model": "openai/from-file", "limits": {"max_steps": 3}}"#);
    let asked = |words: &[&str], environment: Option<&str>| {
        let run = home.hostler(["run", "--format", "jsonl", "Hi"]).words(words.to_vec()).provider(&provider);
        let run = match environment {
            Some(model) => run.variable("HOSTLER_MODEL", model),
            None => run,
        };
        run.finish().expect_code(0);
        provider.completions().last().unwrap().body["model"].clone()
    };
    assert_eq!(asked(&[], None), "from-file");
    assert_eq!(asked(&[], Some("openai/from-environment")), "from-environment");
    assert_eq!(asked(&["--model", "openai/given"], Some("openai/from-environment")), "given");
}

#[test]
fn limits_are_those_that_are_configured_unless_the_command_line_says_otherwise() {
    let looks = || Answer::calling("c", "ls", json!({}));
    let provider = StrictProvider::start(Script::each(move |_| looks()));
    let home = home();
    home.configure(r#"{"limits": {"max_steps": 2}}"#);
    let run = home.run(&provider, ["Go."]).finish().expect_code(4);
    assert_eq!((&run.last()["reason"], &run.last()["steps"]), (&json!("max_steps"), &json!(2)));
    let run = home.run(&provider, ["--max-steps", "1", "Go."]).finish().expect_code(4);
    assert_eq!(run.last()["steps"], 1);
}

#[test]
fn rules_that_are_configured_are_judged_by() {
    let acts = Answer::new().call("c1", "bash", json!({"command": "touch made"})).call("c2", "ls", json!({}));
    let provider = StrictProvider::start([acts, Answer::say("Done.")]);
    let home = home();
    home.configure(r#"{"permissions": {"allow": ["bash"], "deny": ["ls"]}}"#);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    let tools: Vec<_> = run.lines().tools().into_iter().map(|(_, status)| status).collect();
    assert_eq!(tools, ["ok", "denied"], "{}", run.out);
    assert!(home.has("made"));
}

#[test]
fn a_mistake_ends_a_run_before_it_begins_and_is_pointed_at() {
    let provider = StrictProvider::start([]);
    let home = home();
    home.configure("{\n  \"modle\": \"openai/x\"\n}\n");
    let path = home.configuration();
    let sentence = format!("{}:2:3: There is no key modle; did you mean model?", path.display());
    let run = home.run(&provider, ["Hi"]).finish().expect_code(2);
    assert_eq!(
        (run.last()["reason"].as_str(), run.last()["message"].as_str()),
        (Some("usage"), Some(sentence.as_str()))
    );
    assert_eq!(run.lines().kinds(), ["run.started", "run.finished"]);
    let run = home.run_text(&provider, ["Hi"]).finish().expect_code(2);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", format!("hostler: {sentence}\n").as_str()));
    assert!(provider.requests().is_empty());
    // What needs no configuration works all the same.
    home.hostler(["sessions", "list"]).finish().expect_code(0);
}

#[test]
fn a_server_on_this_machine_is_found_if_nothing_else_is_configured() {
    let script = Script::new([Answer::say("Hello.")]).key("k").models(["small", "big"]);
    let provider = StrictProvider::start(script);
    let home = home();
    let nobody = "http://127.0.0.1:1/v1";
    let servers = |local: bool| {
        json!({"local_servers": local, "providers": {
            "ollama": {"base_url": nobody},
            "llamacpp": {"base_url": provider.base_url(), "key": "k"},
            "lmstudio": {"base_url": nobody},
        }})
    };
    home.configure(&servers(true).to_string());
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
    let first = run.lines().of("warning")[0]["message"].as_str().unwrap().to_owned();
    assert!(first.starts_with("No model is named and no key is set, so llamacpp/small is used"), "{first}");
    assert_eq!(provider.completions()[0].body["model"], "small");
    let key =
        |run: hostler_tests::harness::Hostler<'_>| run.variable("GROQ_API_KEY", "k").finish().expect_code(3);
    key(home.hostler(["run", "--format", "jsonl", "Hi"]));
    home.configure(&servers(false).to_string());
    home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(3);
}
