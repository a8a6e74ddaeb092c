//! What is peculiar to Gemini: calls without ids, whole arguments, signatures, and answers that are none.

use hostler_tests::harness::Finished;
use hostler_tests::strict::{Answer, Call, Protocol, Script, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// A model of the strict provider that signs nothing and gives its calls no ids.
const OLDER: &str = "gemini/gemini-2.5-pro";

/// Runs a prompt with everything allowed against those answers and expects that code; then the session must be one that the
/// provider accepts.
#[track_caller]
fn run(answers: impl IntoIterator<Item = Answer>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers.into_iter().collect::<Vec<_>>()));
    let run = home.run_as(Protocol::Gemini, &provider, ["--yolo", "Hi"]).finish().expect_code(code);
    let next = StrictProvider::start(Answer::say("Still here."));
    home.run_as(Protocol::Gemini, &next, ["--continue", "Are you there?"]).finish().expect_code(0);
    (run, provider)
}

fn echo(word: &str) -> Call {
    Call::new("", "bash", json!({"command": format!("echo {word}")})).no_id()
}

/// The parts of an answer as they were sent back.
fn parts(asked: &Value, content: usize) -> &[Value] {
    asked["contents"][content]["parts"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn calls_without_ids_are_told_apart_by_their_order() {
    for model in ["gemini/strict-1", OLDER] {
        let twice = Answer::new().with_call(echo("one")).with_call(echo("two"));
        let again = Answer::say("Once more.").with_call(echo("three"));
        let (home, provider) = (home(), StrictProvider::start([twice, again, Answer::say("Done.")]));
        let run = home.hostler(["run", "--model", model, "--format", "jsonl", "--yolo", "Go."]);
        let run = run.provider_as(Protocol::Gemini, &provider).finish().expect_code(0);
        assert_eq!((&run.last()["answer"], &run.last()["tools"]["ok"]), (&json!("Done."), &json!(3)));
        let asked = provider.completions().pop().unwrap();
        let results = asked.tool_results();
        let expected = ["one", "two", "three"].map(|word| ("bash".to_owned(), word.to_owned()));
        assert_eq!(results, expected, "{model}");
        assert!(!asked.text.contains("\"id\""), "{}", asked.text);
    }
}

#[test]
fn ids_that_were_given_are_named_again() {
    let twice = Answer::new().call("a", "bash", json!({"command": "sleep 0.2; echo slow"})).call(
        "b",
        "bash",
        json!({"command": "echo fast"}),
    );
    let (_, provider) = run([twice, Answer::say("Done.")], 0);
    let results = provider.completions()[1].tool_results();
    assert_eq!(results, [("a".into(), "slow".into()), ("b".into(), "fast".into())]);
}

#[test]
fn what_was_signed_comes_back_on_the_part_that_it_was_on() {
    let looks = Answer::new()
        .sealed("I think.")
        .text("I lo")
        .text("ok.")
        .call("a", "bash", json!({"command": "echo 'ä\"b'", "timeout": 5}))
        .call("b", "ls", json!({}));
    let (home, provider) = (home(), StrictProvider::start([looks, Answer::say("Done.").text(" ")]));
    let run = home.run_as(Protocol::Gemini, &provider, ["--yolo", "Hi"]).finish().expect_code(0);
    assert_eq!(run.lines().first("reasoning.delta").unwrap()["text"], "I think.");
    let asked = provider.completions()[1].body.clone();
    let signed = |part: &Value| part["thoughtSignature"].is_string();
    assert_eq!(parts(&asked, 1).iter().map(signed).collect::<Vec<_>>(), [true, false, true, false]);
    assert_eq!(parts(&asked, 1)[1], json!({"text": "I look."}));
    // The end of an answer signs all of its text, on a part that has none.
    let next = StrictProvider::start(Answer::say("Still here."));
    home.run_as(Protocol::Gemini, &next, ["--continue", "And?"]).finish().expect_code(0);
    let asked = next.completions()[0].body.clone();
    assert_eq!(parts(&asked, 3)[1]["text"], "");
    assert!(signed(&parts(&asked, 3)[1]), "{asked}");
}

#[test]
fn a_signature_that_is_refused_is_not_sent_again_and_the_run_goes_on() {
    let looks = Answer::new().call("a", "ls", json!({}));
    let refused = Answer::error(400, "Thought signature is not valid");
    let (run, provider) = run([looks, refused, Answer::say("Done.")], 0);
    assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Done."), &json!(3)));
    let asked = provider.completions()[2].body.clone();
    assert_eq!(parts(&asked, 1)[0]["thoughtSignature"], "skip_thought_signature_validator");
}

#[test]
fn a_conversation_of_another_provider_goes_on_here() {
    let home = home();
    let looks = Answer::say("I look.").call("call_1", "ls", json!({})).call("call_2", "ls", json!({}));
    let first = StrictProvider::start([looks, Answer::say("Once upon").finish("length")]);
    home.run(&first, ["--yolo", "Hi"]).finish().expect_code(4);
    let next = StrictProvider::start([Answer::new().call("x", "ls", json!({})), Answer::say("Done.")]);
    home.run_as(Protocol::Gemini, &next, ["--yolo", "--continue", "Go on."]).finish().expect_code(0);
    assert_eq!(next.completions()[1].tool_results().len(), 3);
}

/// An answer that is one event, which ends as Gemini's streams do: without a word.
fn chunk(chunk: Value) -> Answer {
    Answer::new().event(chunk).no_tail()
}

#[test]
fn a_prompt_that_is_blocked_is_a_refusal() {
    for reason in ["SAFETY", "PROHIBITED_CONTENT", "OTHER"] {
        let usage = json!({"promptTokenCount": 7, "totalTokenCount": 7});
        let blocked = json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": usage});
        let (run, _) = run([chunk(blocked)], 1);
        assert_eq!((&run.last()["reason"], &run.last()["usage"]["input"]), (&json!("refusal"), &json!(7)));
        assert_eq!(run.last()["attempts"], 1);
    }
}

#[test]
fn answers_end_for_reasons_of_their_own() {
    for (reason, code, told) in [
        ("SAFETY", 1, "refusal"),
        ("RECITATION", 1, "refusal"),
        ("PROHIBITED_CONTENT", 1, "refusal"),
        ("MAX_TOKENS", 4, "output_limit"),
    ] {
        let (run, _) = run([Answer::say("Once").finish(reason)], code);
        assert_eq!(run.last()["reason"], told, "{reason}");
    }
}

#[test]
fn a_call_that_the_model_garbled_is_asked_for_again() {
    let garbled = Answer::say("I run it.").call_raw("a", "bash", "{\"command\": \"touch made");
    let (run, provider) = run([garbled, Answer::say("Done.")], 0);
    assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Done."), &json!(2)));
    let cause = run.lines().first("retry").unwrap()["cause"].as_str().unwrap().to_owned();
    assert!(cause.contains("Malformed function call"), "{cause}");
    let asked = provider.completions();
    assert_eq!(asked[0].body, asked[1].body);
}

#[test]
fn an_answer_without_a_word_is_not_passed_over_in_silence() {
    let empty = || chunk(json!({"candidates": [{"finishReason": "STOP", "index": 0}]}));
    let (run, _) = run([empty()], 0);
    assert_eq!((&run.last()["status"], &run.last()["answer"]), (&json!("ok"), &Value::Null));
    let (home, provider) = (home(), StrictProvider::start(empty()));
    let run =
        home.hostler(["run", "--model", "gemini/strict-1", "Hi"]).provider_as(Protocol::Gemini, &provider);
    let run = run.finish().expect_code(0);
    assert!(run.out.is_empty() && run.err.contains("has said nothing"), "{}", run.err);
}

#[test]
fn a_wait_stands_among_the_details_of_an_error() {
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"},
    ]);
    let error = json!({"code": 429, "message": "Slow.", "status": "RESOURCE_EXHAUSTED", "details": details});
    let refused = Answer::status(429, &json!({"error": error}).to_string());
    let (run, _) = run([refused, Answer::say("Done.")], 0);
    assert_eq!(
        (&run.lines().first("retry").unwrap()["delay_ms"], &run.last()["answer"]),
        (&json!(50), &json!("Done."))
    );
}

#[test]
fn a_key_that_is_none_is_known_from_its_own_status() {
    let (home, provider) = (home(), StrictProvider::start(Script::new([]).key("another")));
    let run = home.hostler(["run", "--model", "gemini/strict-1", "--format", "jsonl", "Hi"]);
    let run = run.variable("GEMINI_BASE_URL", &provider.base_url_of(Protocol::Gemini));
    let run = run.variable("GEMINI_API_KEY", "wrong").finish().expect_code(3);
    assert_eq!((&run.last()["reason"], &run.last()["attempts"]), (&json!("credentials"), &json!(1)));
    assert!(run.last()["message"].as_str().unwrap().contains("API key not valid"), "{}", run.last());
}

#[test]
fn tokens_are_counted_once_each() {
    let (run, _) = run([Answer::say("Hi.").usage_details(50, 40, 7, 3)], 0);
    let usage = &run.last()["usage"];
    let counts = ["input", "cache_read", "output", "reasoning"].map(|name| usage[name].as_u64());
    assert_eq!(counts, [Some(10), Some(40), Some(7), Some(3)]);
}
