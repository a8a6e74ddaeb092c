//! Requests that are refused, or not answered at all.

use hostler_tests::strict::{Answer, Protocol};
use serde_json::{Value, json};

use super::{each, each_that_waits, run};

/// The same refusal once more, which names its own wait so that the test is quick.
fn quickly(answer: Answer) -> Answer {
    answer.header("retry-after-ms", "1")
}

#[test]
fn passing_trouble_is_waited_out() {
    let page = Answer::status(502, "<html><title>502 Bad Gateway</title></html>");
    let troubles = [
        Answer::rate_limited("3600"),
        Answer::error(500, "Oops."),
        Answer::error(503, "Busy."),
        page.header("content-type", "text/html"),
        Answer::error(504, "Late."),
        Answer::error(529, "Overloaded."),
        Answer::error(400, "Odd.").header("x-should-retry", "true"),
        Answer::status(500, ""),
    ];
    each(&troubles, |protocol, trouble| {
        let answers = vec![quickly(trouble.clone()), Answer::say("Hello.")];
        let (run, provider) = run(protocol, &["Hi"], answers, 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)));
        let asked = provider.completions();
        assert_eq!(asked[0].body, asked[1].body, "the same is asked again");
    });
}

#[test]
fn patience_ends() {
    each(&[()], |protocol, ()| {
        let refusals = (0..4).map(|_| quickly(Answer::error(500, "Oops."))).collect();
        let (run, provider) = run(protocol, &["Hi"], refusals, 1);
        assert_eq!((&run.last()["reason"], provider.completions().len()), (&json!("provider"), 4));
        assert!(run.last()["message"].as_str().unwrap().contains("Oops"), "{}", run.last());
    });
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    let finals = [
        (Answer::wrong_key(), 3, "credentials"),
        (Answer::error(403, "Country not supported."), 3, "credentials"),
        (Answer::unknown_model(), 2, "unknown_model"),
        (Answer::error(400, "Unknown parameter."), 1, "provider"),
        (Answer::context_exceeded(), 4, "context"),
        (Answer::error(500, "Oops.").header("x-should-retry", "false"), 1, "provider"),
    ];
    each(&finals, |protocol, (answer, code, reason)| {
        let answers = vec![quickly(answer.clone()), Answer::say("never")];
        let (run, provider) = run(protocol, &["Hi"], answers, *code);
        assert_eq!((&run.last()["reason"], &run.last()["attempts"]), (&json!(reason), &json!(1)));
        assert_eq!((provider.completions().len(), run.last()["answer"].clone()), (1, Value::Null));
    });
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    each(&[()], |protocol, ()| {
        let (long, _) = run(protocol, &["Hi"], vec![Answer::rate_limited("3600")], 4);
        assert_eq!(long.last()["reason"], "max_wait");
    });
}

#[test]
fn silence_is_waited_for_until_time_is_over() {
    let silent = [
        Answer::new().stall_headers(),
        Answer::new().stall_at(0),
        Answer::say("Hel").stall(),
        Answer::new().sealed("Hm.").stall(),
        Answer::say("Hel").call("c1", "bash", json!({"command": "touch made"})).stall(),
    ];
    each_that_waits(&silent, |protocol, silent| {
        let (run, _) = run(protocol, &["--timeout", "1s", "Hi"], vec![silent.clone()], 4);
        assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("limit"), &json!("timeout")));
        assert_eq!(run.lines().of("tool.started").len(), 0);
    });
}

#[test]
fn an_answer_that_was_cut_or_withheld_is_no_success() {
    let ends = [("length", 4, "output_limit", 1), ("content_filter", 1, "refusal", 0)];
    each(&ends, |protocol, (finish, code, reason, started)| {
        let ends = |answer: Answer| {
            let (run, _) = run(protocol, &["Hi"], vec![answer.finish(finish)], *code);
            assert_eq!(run.last()["reason"], *reason);
            run.lines().of("tool.started").len()
        };
        assert_eq!(ends(Answer::say("Once upon a")), 0);
        let calls = Answer::say("Once").call("c1", "bash", json!({"command": "touch made"}));
        assert_eq!(ends(calls), *started, "what is whole is run, unless all of it was withheld");
        // Gemini's arguments are never half of an object.
        if protocol != Protocol::Gemini {
            let half = Answer::say("Once").call_raw("c1", "bash", "{\"command\": \"touch made");
            assert_eq!(ends(half), 0, "what is half written is not run");
        }
    });
}

#[test]
fn a_limit_on_steps_ends_a_run_that_does_not() {
    each(&[()], |protocol, ()| {
        let looks = |id: &str| Answer::say("Once more.").call(id, "ls", json!({}));
        let answers = vec![looks("a"), looks("b"), looks("c")];
        let (run, provider) = run(protocol, &["--max-steps", "2", "Go."], answers, 4);
        assert_eq!((&run.last()["reason"], provider.remaining()), (&json!("max_steps"), 1));
    });
}
