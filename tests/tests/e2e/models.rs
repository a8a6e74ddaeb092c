//! Which model is asked, and what there is to say if none can be.

use hostler_tests::harness::Hostler;
use hostler_tests::strict::{Answer, Script, StrictProvider};

use crate::home;

/// Runs with that model and expects it to end with that code and reason; the message must say how to go on.
#[track_caller]
fn refused(model: &[&str], with: fn(Hostler<'_>) -> Hostler<'_>, code: i32, reason: &str, says: &str) {
    let home = home();
    let run = with(home.hostler(["run", "--format", "jsonl", "Hi"]).words(model.to_vec()))
        .finish()
        .expect_code(code);
    assert_eq!(run.last()["reason"], reason, "{model:?}");
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(says), "{model:?}: {message}");
}

#[test]
fn without_a_provider_it_says_what_to_set() {
    refused(&[], |run| run, 3, "no_provider", "OPENAI_API_KEY");
    refused(&[], |run| run.variable("OPENAI_API_KEY", " "), 3, "no_provider", "OPENAI_API_KEY");
    refused(&[], |run| run.variable("OPENAI_API_KEY", "sk"), 3, "no_provider", "--model openai/NAME");
    refused(&["--model", "openai/x"], |run| run, 3, "credentials", "OPENAI_API_KEY");
}

#[test]
fn a_model_that_is_not_known_is_a_mistake() {
    for (model, says) in [
        ("nonsense", "rehearsal"),
        ("", "rehearsal"),
        ("openai/", "write openai/NAME, where `hostler models openai`"),
        ("nobody/x", "providers.nobody.base_url"),
    ] {
        refused(&["--model", model], |run| run.variable("OPENAI_API_KEY", "sk"), 2, "unknown_model", says);
    }
}

#[test]
fn a_scenario_that_cannot_be_played_is_a_mistake() {
    refused(&["--model", "rehearsal:missing.json"], |run| run, 2, "usage", "missing.json");
    let home = home();
    home.write("bad.json", r#"{"steps": [{"say": [{"shout": "x"}]}]}"#);
    let run = home.hostler(["run", "--model", "rehearsal:bad.json", "Hi"]).finish().expect_code(2);
    assert!(run.out.is_empty() && run.err.contains("bad.json"), "{}", run.err);
    home.hostler(["run", "--model", "nobody/x", "Hi"]).finish().expect_code(2);
    let kept = home.hostler(["sessions", "list"]).finish().expect_code(0);
    assert!(kept.out.starts_with("There are no sessions"), "nothing is kept of a mistake: {}", kept.out);
}

#[test]
fn the_environment_can_name_the_model_and_the_command_line_has_the_last_word() {
    for (words, asked) in
        [(&[][..], "from-environment"), (&["--model", "openai/given/with-slash"], "given/with-slash")]
    {
        let provider = StrictProvider::start(Answer::say("Hello."));
        let home = home();
        let run = home.hostler(["run", "--format", "jsonl", "Hi"]).words(words.to_vec()).provider(&provider);
        run.variable("HOSTLER_MODEL", "openai/from-environment").finish().expect_code(0);
        assert_eq!(provider.completions()[0].body["model"], asked);
    }
}

#[test]
fn a_session_goes_on_with_its_model_unless_another_one_is_named() {
    let (home, provider) = (home(), StrictProvider::start(Script::always(Answer::say("Hello."))));
    let run = |words: &[&str]| {
        let run = home.hostler(["run", "--format", "jsonl", "Hi"]).words(words.to_vec());
        run.provider(&provider).finish().expect_code(0)
    };
    run(&["--model", "openai/first"]);
    home.hostler(["config", "set", "model", "openai/configured"]).finish().expect_code(0);
    let gone_on = run(&["--continue"]);
    assert!(gone_on.lines().all()[0]["model"].is_null(), "which one it is is not known when the run begins");
    run(&["--continue", "--fork"]);
    run(&["--continue", "--model", "openai/second"]);
    run(&["--continue"]);
    run(&[]);
    let asked = provider.completions().into_iter().map(|asked| asked.body["model"].clone());
    let expected = ["first", "first", "first", "second", "second", "configured"];
    assert_eq!(asked.collect::<Vec<_>>(), expected);
}

#[test]
fn the_key_goes_to_the_provider_and_to_nothing_else() {
    let key = "sk-secret-of-this-test";
    let command = serde_json::json!({"command": "env"});
    let script = Script::new([Answer::calling("c1", "bash", command), Answer::say("Done.")]).key(key);
    let (home, provider) = (home(), StrictProvider::start(script));
    let run = home.run(&provider, ["--yolo", "Go."]).variable("OPENAI_API_KEY", key).finish().expect_code(0);
    let asked = provider.completions();
    assert_eq!(asked[1].header("authorization"), Some(format!("Bearer {key}").as_str()));
    let printed = run.lines().first("tool.finished").unwrap()["output"].to_string();
    assert!(printed.contains("HOSTLER=1") && !printed.contains(key), "{printed}");
    assert!(!run.out.contains(key) && !run.err.contains(key));
}

#[test]
fn a_server_without_a_key_needs_none() {
    let script = Script::new([Answer::say("Hello.")]);
    let (home, provider) = (home(), StrictProvider::start(script));
    let run = home.hostler(["run", "--format", "jsonl", "--model", "openai/x", "Hi"]);
    let base = format!("{}/", provider.base_url());
    let run = run.variable("OPENAI_BASE_URL", &base).finish();
    // The strict provider wants a key; what matters is that it was asked, at the right path and without one.
    assert_eq!((run.code, run.last()["reason"].as_str()), (Some(3), Some("credentials")));
    let message = run.last()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("none is set; set OPENAI_API_KEY"), "{message}");
    let asked = &provider.requests()[0];
    assert_eq!((asked.path.as_str(), asked.header("authorization")), ("/v1/chat/completions", None));
}
