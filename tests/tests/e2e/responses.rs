//! What is particular about OpenAI's Responses. What they have in common with other protocols is in `protocols`.

use std::thread;

use hostler_tests::harness::Finished;
use hostler_tests::strict::{Answer, Protocol, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// What every seal begins with.
const SEAL: &str = "U2VhbGVk";

/// Runs a prompt against those answers, expects that code, and then that the session goes on.
#[track_caller]
fn run(answers: Vec<Answer>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers));
    let run = home.run_as(Protocol::Responses, &provider, ["--yolo", "Hi"]).finish().expect_code(code);
    let next = StrictProvider::start(Answer::say("Still here."));
    let again =
        home.run_as(Protocol::Responses, &next, ["--continue", "Are you there?"]).finish().expect_code(0);
    assert_eq!(again.last()["answer"], "Still here.");
    (run, provider)
}

#[test]
fn seals_that_are_refused_are_given_up_and_later_ones_come_back() {
    let error = json!({"error": {"message": "The encrypted content for item rs_1 could not be verified.",
        "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content"}});
    let thinks = |id: &str| Answer::new().sealed("Hm.").call(id, "ls", json!({}));
    let answers = vec![
        thinks("a"),
        Answer::status(400, &error.to_string()),
        thinks("b"),
        Answer::new().sealed("So.").text("Done."),
    ];
    let (run, provider) = run(answers, 0);
    assert_eq!(run.last()["answer"], "Done.");
    let sent: Vec<_> =
        provider.completions().iter().map(|request| request.text.matches(SEAL).count()).collect();
    assert_eq!(sent, [0, 1, 0, 1]);
}

#[test]
fn thoughts_that_were_told_openly_do_not_go_back() {
    let (run, provider) =
        run(vec![Answer::new().reasoning("Hm.").call("a", "ls", json!({})), Answer::say("Done.")], 0);
    assert_eq!(run.lines().of("reasoning.delta").len(), 1, "{}", run.out);
    let sent = &provider.completions()[1];
    assert!(!sent.text.contains("Hm.") && sent.tool_results().len() == 1, "{}", sent.text);
}

/// An answer that fails after a few words, with an error of that code.
fn fails(code: &str) -> Answer {
    let error = json!({"code": code, "message": "It went wrong."});
    let usage = json!({"input_tokens": 30, "output_tokens": 7, "total_tokens": 37});
    let response =
        json!({"object": "response", "status": "failed", "error": error, "output": [], "usage": usage});
    Answer::say("Hel")
        .event(json!({"type": "response.failed", "sequence_number": 5, "response": response}))
        .no_tail()
}

#[test]
fn a_response_that_failed_is_asked_for_again() {
    for code in ["server_error", "rate_limit_exceeded"] {
        let (run, provider) = run(vec![fails(code), Answer::say("Hello.")], 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)), "{code}");
        assert_eq!(run.last()["usage"]["input"], 130, "what it had used is counted");
        let asked = provider.completions();
        assert_eq!(asked[0].body, asked[1].body, "{code}");
    }
}

#[test]
fn a_response_that_cannot_succeed_is_not_asked_for_again() {
    for (code, exit, reason) in [("context_length_exceeded", 4, "context"), ("invalid_prompt", 1, "provider")]
    {
        let (run, provider) = run(vec![fails(code)], exit);
        assert_eq!((&run.last()["reason"], provider.completions().len()), (&json!(reason), 1), "{code}");
        assert_eq!(run.last()["answer"], "Hel", "what was said is not lost");
    }
}

#[test]
fn what_is_not_streamed_is_taken_from_the_whole() {
    let item = |item: Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let call = json!({"id": "fc_1", "type": "function_call", "call_id": "a", "name": "bash", "arguments": "{\"command\":\"echo one\"}"});
    let content = json!([{"type": "output_text", "text": "It says one."}]);
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content});
    let answers = vec![Answer::new().event(item(call)), Answer::new().event(item(message))];
    let (run, provider) = run(answers, 0);
    assert_eq!(run.last()["answer"], "It says one.");
    assert_eq!(provider.completions()[1].tool_results(), [("a".to_owned(), "one".to_owned())]);
}

#[test]
fn wherever_a_response_ends_that_is_not_repeated_in_full_nothing_is_said_twice() {
    // The events that open a response repeat the request, and are longer than all that follows.
    let cuts: Vec<_> = (0..4200).step_by(131).enumerate().collect();
    let try_one = |kind: usize, at: usize| {
        let said = Answer::new().no_role().sealed("Hm.").text("Hel").text("lo.");
        let broken = match kind % 3 {
            0 => said.cut_at(at),
            1 => said.reset_at(at),
            _ => said.truncate_chunk_at(at),
        };
        let (home, provider) = (home(), StrictProvider::start([broken, Answer::say("Hello.")]));
        let run = home.run_as(Protocol::Responses, &provider, ["Hi"]).finish().expect_code(0);
        let lines = run.lines();
        let last = lines.of("text.delta").pop().unwrap()["message_id"].clone();
        assert_eq!(
            (&run.last()["answer"], lines.streamed(&last)),
            (&json!("Hello."), "Hello.".to_owned()),
            "{at}"
        );
        assert_eq!(provider.remaining() == 0, run.last()["attempts"] == 2, "{at}");
    };
    thread::scope(|scope| {
        for &(kind, at) in &cuts {
            scope.spawn(move || try_one(kind, at));
        }
    });
}
