//! Providers as they are configured, on every protocol: headers, fields, keys; and what comes where an answer should.

use hostler_tests::harness::{Finished, Home, Hostler, model};
use hostler_tests::strict::{Answer, Protocol, Script, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// The name of the provider that speaks that protocol.
fn provider_of(protocol: Protocol) -> &'static str {
    model(protocol).split_once('/').map_or("", |(provider, _)| provider)
}

/// A home in which something more is said of that provider.
fn configured(name: &str, more: Value) -> Home {
    let home = home();
    home.configure(&json!({"local_servers": false, "providers": {name: more}}).to_string());
    home
}

/// A run that asks a provider which may refuse something.
fn asks<'a>(home: &'a Home, protocol: Protocol, provider: &StrictProvider) -> Hostler<'a> {
    let url = match protocol {
        Protocol::Chat | Protocol::Responses => "OPENAI_BASE_URL",
        Protocol::Messages => "ANTHROPIC_BASE_URL",
        Protocol::Gemini => "GEMINI_BASE_URL",
    };
    let run = home.hostler(["run", "--model", model(protocol), "--format", "jsonl", "Hi"]);
    run.variable(url, &provider.base_url_of(protocol))
}

#[test]
fn headers_and_fields_go_along_on_every_protocol() {
    for protocol in Protocol::ALL {
        let field = if protocol == Protocol::Gemini { "generationConfig" } else { "temperature" };
        let value = if protocol == Protocol::Gemini { json!({"temperature": 0.5}) } else { json!(0.5) };
        let more =
            json!({"headers": {"X-Team": "blue"}, "body": {field: value, "x_extra": [1, {"a": null}]}});
        let home = configured(provider_of(protocol), more);
        let provider = StrictProvider::start(Script::new([Answer::say("Hello.")]).allow(["x_extra"]));
        let run = home.run_as(protocol, &provider, ["Hi"]).finish().expect_code(0);
        assert_eq!(run.last()["answer"], "Hello.", "{protocol:?}");
        let asked = provider.completions().remove(0);
        assert_eq!((asked.header("x-team"), &asked.body[field]), (Some("blue"), &value), "{protocol:?}");
        assert_eq!(asked.body["x_extra"], json!([1, {"a": null}]));
    }
}

/// Has one key the first time it is asked, and another one later.
const CHANGES: &str = "if [ -e asked ]; then echo sk-new; else touch asked; echo sk-old; fi";

#[test]
fn a_key_that_has_run_out_is_had_anew_once_on_every_protocol() {
    for protocol in Protocol::ALL {
        let home = configured(provider_of(protocol), json!({"key_command": CHANGES}));
        let provider = StrictProvider::start(Script::new([Answer::say("Hello.")]).key("sk-new"));
        let run = asks(&home, protocol, &provider).finish().expect_code(0);
        assert_eq!((&run.last()["answer"], provider.requests().len()), (&json!("Hello."), 2), "{protocol:?}");
        assert!(!run.out.contains("sk-") && !run.err.contains("sk-"));
    }
}

#[test]
fn a_key_in_a_file_is_read_again_on_every_protocol() {
    for protocol in Protocol::ALL {
        // A server that wants another key is one that writes it down where the old one was.
        let home = configured(provider_of(protocol), json!({"key_file": "key"}));
        home.write("key", "sk-old\n");
        let file = home.work().join("key");
        let refuses = match protocol {
            Protocol::Gemini => Answer::status(
                400,
                &json!({"error": {"code": 400, "message": "API key expired.",
                "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}})
                .to_string(),
            ),
            Protocol::Chat | Protocol::Messages | Protocol::Responses => Answer::error(401, "Expired."),
        };
        let provider = StrictProvider::start(Script::each(move |asked| {
            if asked.index > 0 {
                return Answer::say("Hello.");
            }
            std::fs::write(&file, "sk-new\n").unwrap();
            refuses.clone()
        }));
        let run = asks(&home, protocol, &provider).finish().expect_code(0);
        assert_eq!(run.last()["answer"], "Hello.", "{protocol:?}");
        let shown = |asked: &hostler_tests::strict::Recorded| {
            asked.headers.iter().any(|(_, value)| value.contains("sk-new"))
        };
        assert_eq!(provider.requests().iter().map(shown).collect::<Vec<_>>(), [false, true]);
    }
}

#[test]
fn a_key_that_is_refused_twice_ends_the_run_on_every_protocol() {
    for protocol in Protocol::ALL {
        let home = configured(provider_of(protocol), json!({"key_command": "echo sk-old"}));
        let provider = StrictProvider::start(Script::new([]).key("sk-new"));
        let run = asks(&home, protocol, &provider).finish().expect_code(3);
        assert_eq!(
            (&run.last()["reason"], provider.requests().len()),
            (&json!("credentials"), 2),
            "{protocol:?}"
        );
        let message = run.last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("The provider refused the credentials (status 40"), "{message}");
        assert!(!message.contains("sk-old") && !message.contains('\n'), "{message}");
    }
}

/// Runs a prompt against those answers by that protocol and expects that code.
#[track_caller]
fn run(protocol: Protocol, answers: impl Into<Script>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers));
    let run = home.run_as(protocol, &provider, ["Hi"]).finish().expect_code(code);
    (run, provider)
}

#[test]
fn what_comes_in_place_of_a_stream_is_said_and_not_asked_for_again() {
    let error =
        r#"{"error":{"message":"Model is being retired.","type":"invalid_request_error","code":"gone"}}"#;
    let page = "<!doctype html><html><title>Sign in</title></html>";
    for protocol in Protocol::ALL {
        for (body, says) in [
            (error, "Model is being retired;"),
            (page, "Sign in"),
            ("upstream: nobody is at home", "nobody is at home"),
            (r#"{"id": "1", "choices": [{"message": {"content": "Hi"}}]}"#, "no stream of events but"),
        ] {
            let (run, provider) = run(protocol, vec![Answer::status(200, body), Answer::say("never")], 1);
            assert_eq!(
                (&run.last()["reason"], provider.remaining()),
                (&json!("provider"), 1),
                "{protocol:?}"
            );
            let message = run.last()["message"].as_str().unwrap().to_owned();
            assert!(message.contains(says) && !message.contains("broke off"), "{protocol:?}: {message}");
        }
    }
}

#[test]
fn a_refusal_with_success_means_what_it_says() {
    let busy = r#"{"error":{"message":"Overloaded.","code":503}}"#;
    let (passing, _) = run(Protocol::Chat, [Answer::status(200, busy), Answer::say("Hello.")], 0);
    assert_eq!((&passing.last()["answer"], &passing.last()["attempts"]), (&json!("Hello."), &json!(2)));
    let key = r#"{"error":{"message":"Invalid key.","code":"invalid_api_key"}}"#;
    let (refused, _) = run(Protocol::Chat, Answer::status(200, key), 3);
    assert_eq!(refused.last()["reason"], "credentials");
}

#[test]
fn an_answer_that_is_over_is_not_waited_for_when_its_stream_does_not_end() {
    let runs = [Protocol::Chat, Protocol::Messages, Protocol::Gemini].map(|protocol| {
        let looks = Answer::say("I look.").call("a", "ls", json!({})).no_done().stall_at(1_000);
        (protocol, home(), StrictProvider::start([looks, Answer::say("Done.").no_done().stall_at(1_000)]))
    });
    // Each waits for the same time, so they do so together.
    let started: Vec<_> = runs
        .iter()
        .map(|(protocol, home, provider)| home.run_as(*protocol, provider, ["--yolo", "Hi"]).start())
        .collect();
    for (run, (protocol, _, provider)) in started.into_iter().zip(&runs) {
        let run = run.finish().expect_code(0);
        assert_eq!(
            (&run.last()["answer"], &run.last()["attempts"]),
            (&json!("Done."), &json!(2)),
            "{protocol:?}"
        );
        assert_eq!((&run.last()["tools"]["ok"], provider.completions().len()), (&json!(1), 2));
    }
}

#[test]
fn a_stream_that_has_nothing_but_its_end_is_no_answer() {
    let nothing = || Answer::new().no_role().no_tail();
    let stop = json!({"type": "message_stop"});
    let cases = [
        (Protocol::Chat, nothing().garbage("data: [DONE]")),
        (Protocol::Messages, nothing().event(stop)),
        (Protocol::Responses, nothing().comment("ping")),
        (Protocol::Gemini, nothing().comment("ping")),
    ];
    let runs = cases
        .map(|(protocol, empty)| (protocol, home(), StrictProvider::start([empty, Answer::say("Hello.")])));
    let started: Vec<_> = runs
        .iter()
        .map(|(protocol, home, provider)| home.run_as(*protocol, provider, ["Hi"]).start())
        .collect();
    for (run, (protocol, _, _)) in started.into_iter().zip(&runs) {
        let run = run.finish().expect_code(0);
        assert_eq!(
            (&run.last()["answer"], &run.last()["attempts"]),
            (&json!("Hello."), &json!(2)),
            "{protocol:?}"
        );
    }
}
