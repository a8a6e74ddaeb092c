//! Answers that are spelt in every way that there is, and those that break off.

use std::time::Duration;

use hostler_tests::strict::{Answer, Call, Protocol, StrictProvider};
use serde_json::{Value, json};

use super::{each, each_that_waits, run, run_in};
use crate::home;

#[test]
fn every_way_of_spelling_an_answer_is_understood() {
    let said = || Answer::say("Hel").text("lo.");
    let spellings = [
        said(),
        said().dribble(),
        said().chunks_of(7).crlf(),
        said().no_id(),
        said().no_role(),
        said().no_done(),
        said().usage_on_finish(),
        Answer::new().comment("ping").text("Hel").comment("ping").garbage("retry: 10").text("lo."),
        Answer::new().text("Hel").garbage("nonsense: x").text("lo."),
        Answer::new().reasoning("Hm.").text("Hello."),
        Answer::new().sealed("Hm.").text("Hello."),
        Answer::new().sealed("").text("Hello."),
    ];
    each(&spellings, |protocol, spelling| {
        let (run, _) = run(protocol, &["Hi"], vec![spelling.clone()], 0);
        assert_eq!((&run.last()["answer"], &run.last()["usage"]["output"]), (&json!("Hello."), &json!(20)));
    });
}

#[test]
fn usage_is_told_in_the_same_terms() {
    each(&[()], |protocol, ()| {
        let answer = Answer::say("Hello.").usage_details(100, 40, 30, 10);
        let (told, _) = run(protocol, &["Hi"], vec![answer], 0);
        let usage = &told.last()["usage"];
        let parts = ["input", "cache_read", "output", "reasoning"].map(|part| usage[part].clone());
        assert_eq!(parts, [60, 40, 30, 10], "{usage}");
        let (silent, _) = run(protocol, &["Hi"], vec![Answer::say("Hello.").no_usage()], 0);
        assert_eq!(
            (&silent.last()["answer"], &silent.last()["usage"]["input"]),
            (&json!("Hello."), &json!(0))
        );
    });
}

#[test]
fn every_way_of_spelling_a_call_is_understood() {
    let input = || json!({"command": "echo 'ä\"b'"});
    let spellings = [
        Call::new("c1", "bash", input()),
        Call::new("c1", "bash", input()).pieces(1),
        Call::new("c1", "bash", input()).pieces(5).repeat_head(),
        Call::new("c1", "bash", input()).whole(),
        Call::new("", "bash", input()).no_id(),
        Call::new("c1", "bash", input()).index(3),
    ];
    each(&spellings, |protocol, spelling| {
        let answers = vec![Answer::new().with_call(spelling.clone()), Answer::say("Done.")];
        let (run, provider) = run(protocol, &["Hi"], answers, 0);
        assert_eq!(run.lines().tools(), [("bash".to_owned(), "ok".to_owned())]);
        assert_eq!(provider.completions()[1].tool_results()[0].1, "ä\"b");
    });
}

#[test]
fn names_of_calls_that_come_twice_are_told_apart() {
    each(&[()], |protocol, ()| {
        let look = |answer: Answer| answer.call("call_0", "ls", json!({}));
        let twice =
            Answer::new().call("call_1", "ls", json!({})).call("call_1", "glob", json!({"pattern": "*"}));
        let answers = vec![look(Answer::new()), look(Answer::say("Again.")), twice, Answer::say("Done.")];
        let (run, provider) = run(protocol, &["Hi"], answers, 0);
        assert_eq!(run.last()["tools"]["ok"], 4);
        assert_eq!(provider.completions().pop().unwrap().tool_results().len(), 4);
    });
}

#[test]
fn a_call_that_makes_no_sense_is_not_run_and_the_model_is_told_why() {
    each(&[()], |protocol, ()| {
        let mut bad =
            Answer::new().call("c3", "bash", json!({"cmd": "touch made"})).call("c4", "launch", json!({}));
        let mut says = vec!["missing field `command`", "no tool named \"launch\""];
        // Gemini's arguments are an object of the stream's own JSON, so that they cannot be broken by themselves.
        if protocol != Protocol::Gemini {
            bad = bad.call_raw("c1", "bash", "{\"command\": \"touch made").call_raw("c5", "bash", "[1]");
            says.extend(["Nothing was run"; 2]);
        }
        let (run, provider) = run(protocol, &["Hi"], vec![bad, Answer::say("Sorry.")], 0);
        assert_eq!(run.lines().of("tool.started").len(), 0);
        let results = provider.completions()[1].tool_results();
        assert_eq!(results.len(), says.len());
        for ((call, text), says) in results.iter().zip(says) {
            assert!(text.contains(says), "{call}: {text}");
        }
    });
}

#[test]
fn what_is_no_answer_is_said_to_be_none() {
    let nonsense = [("data: {nonsense", "{nonsense"), ("data: 7", "7")];
    each(&nonsense, |protocol, (line, says)| {
        let answers = vec![Answer::say("Hel").garbage(line), Answer::say("never")];
        let (run, provider) = run(protocol, &["Hi"], answers, 1);
        assert_eq!((&run.last()["reason"], provider.remaining()), (&json!("provider"), 1));
        let message = run.last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{message}");
    });
}

#[test]
fn what_breaks_off_is_asked_again_and_what_it_had_said_is_void() {
    let said = || Answer::new().sealed("Hm.").text("Hel").text("lo.");
    let call = || said().call("c1", "bash", json!({"command": "touch made"}));
    let broken = [
        said().no_tail(),
        said().cut_at(0),
        said().cut_at(1),
        said().cut_at(60),
        said().cut_at(200),
        said().truncate_chunk_at(100),
        said().truncate_chunk_at(200),
        said().reset_at(0),
        said().reset_at(200),
        Answer::close(),
        Answer::reset(),
        said().error_event("Overloaded."),
        call().no_tail(),
        call().error_event("Overloaded."),
        call().no_tail().dribble(),
    ];
    // The wait before another attempt is long, so all of them wait at the same time.
    each_that_waits(&broken, |protocol, broken| {
        let (home, provider) = (home(), StrictProvider::start([broken.clone(), Answer::say("Hello.")]));
        let run = run_in(&home, protocol, &provider, &["Hi"], 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(2)));
        assert!(!home.has("made"), "a call of an answer that broke off is not run");
        let asked = provider.completions();
        assert_eq!(asked[0].body, asked[1].body);
    });
}

#[test]
fn wherever_the_connection_ends_nothing_is_said_twice() {
    let cuts: Vec<_> = (0..1600).step_by(67).enumerate().collect();
    each_that_waits(&cuts, |protocol, (kind, at)| {
        let said = Answer::new().sealed("Hm.").text("Hel").text("lo.");
        let broken = match kind % 3 {
            0 => said.cut_at(*at),
            1 => said.reset_at(*at),
            _ => said.truncate_chunk_at(*at),
        };
        let (home, provider) = (home(), StrictProvider::start([broken, Answer::say("Hello.")]));
        let run = run_in(&home, protocol, &provider, &["Hi"], 0);
        assert_eq!(run.last()["answer"], "Hello.");
        assert_eq!(provider.remaining() == 0, run.last()["attempts"] == 2, "{}", run.last());
    });
}

#[test]
fn an_answer_may_take_its_time() {
    let moment = Duration::from_millis(20);
    let said = || Answer::new().sealed("Hm.").text("Hel").text("lo.");
    let slow = [
        said().delay_headers(moment).delay_first(moment),
        said().gap(moment),
        Answer::say("Hel").pause(moment).text("lo."),
        said().delay_first(moment).gap(moment).chunks_of(5).crlf(),
    ];
    each(&slow, |protocol, slow| {
        let (run, _) = run(protocol, &["Hi"], vec![slow.clone()], 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(1)));
    });
}

#[test]
fn what_is_not_known_is_passed_over() {
    each(&[()], |protocol, ()| {
        let news = match protocol {
            Protocol::Chat => json!({"object": "chat.completion.chunk", "choices": [], "news": 1}),
            Protocol::Messages => json!({"type": "news", "index": 0, "news": {"text": "x"}}),
            Protocol::Responses => json!({"type": "response.news", "news": {"text": "x"}}),
            Protocol::Gemini => json!({"news": {"text": "x"}}),
        };
        let answer =
            Answer::new().event(news.clone()).text("Hel").event(news.clone()).text("lo.").event(news);
        let (run, _) = run(protocol, &["Hi"], vec![answer], 0);
        assert_eq!((&run.last()["answer"], &run.last()["attempts"]), (&json!("Hello."), &json!(1)));
    });
}

#[test]
fn an_answer_that_is_silent_huge_or_a_refusal_is_an_answer() {
    let line = "0123456789abcde\n".repeat(1024);
    each(&[()], |protocol, ()| {
        let (silent, _) = run(protocol, &["Hi"], vec![Answer::new().finish("stop")], 0);
        assert_eq!((&silent.last()["answer"], &silent.last()["steps"]), (&Value::Null, &json!(1)));
        let (huge, _) = run(protocol, &["Hi"], vec![Answer::new().repeat(100, &line)], 0);
        assert_eq!(huge.last()["answer"].as_str().map(str::len), Some(100 * line.len()));
        let (refused, _) = run(protocol, &["Hi"], vec![Answer::new().refusal("I will not.")], 0);
        assert_eq!(refused.last()["answer"], "I will not.");
    });
}
