//! What providers refuse, and what becomes of their answers.

use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use super::Page;
use crate::home;

fn coded(status: u16, code: &str, message: &str) -> Answer {
    Answer::status(status, &json!({"error": {"message": message, "type": "x", "code": code}}).to_string())
}

/// The same four times, as often as it is tried, at once.
fn again(answer: fn() -> Answer) -> Vec<Answer> {
    (0..4).map(|_| answer().header("retry-after-ms", "1")).collect()
}

#[test]
fn what_a_provider_refuses_is_said_so() {
    let mut page = Page::new();
    for (what, answers) in [
        ("A key that has expired.", vec![Answer::error(401, "Your API key has expired.")]),
        ("A key that may not.", vec![Answer::error(403, "Country not supported.")]),
        (
            "A model that it does not have.",
            vec![coded(404, "model_not_found", "The model `strict-1` does not exist.")],
        ),
        (
            "An address that it does not have.",
            vec![Answer::status(404, "<html><title>Not Found</title></html>")],
        ),
        ("A request that makes no sense to it.", vec![Answer::error(400, "Unknown parameter: 'x'.")]),
        (
            "A quota that is used up.",
            vec![coded(429, "insufficient_quota", "You exceeded your current quota.")],
        ),
        ("A bill that is not paid.", vec![Answer::error(402, "Payment required.")]),
        ("A wait that is too long.", vec![Answer::rate_limited("3600")]),
        ("Too much at once.", again(|| Answer::error(429, "Slow down."))),
        ("Trouble of its own.", again(|| Answer::error(500, "Oops."))),
        ("Trouble without a word.", again(|| Answer::status(503, ""))),
        ("A conversation that is too long.", vec![Answer::context_exceeded()]),
        ("What a terminal would obey.", vec![Answer::error(400, "a\u{1b}[2J\nb\u{202e}")]),
    ] {
        let (home, provider) = (home(), StrictProvider::start(answers));
        page.meet(what, &home, home.run_text(&provider, ["-q", "Hi"]));
    }
    page.is("refusals");
}

#[test]
fn an_answer_that_is_none_is_said_so() {
    let mut page = Page::new();
    // Some are tried again for as long as patience lasts, so all are tried at the same time.
    let all = [
        ("It is cut.", vec![Answer::say("Once upon a").finish("length")]),
        ("It is withheld.", vec![Answer::say("Once").finish("content_filter")]),
        ("It breaks off, again and again.", (0..4).map(|_| Answer::say("Once").no_tail()).collect()),
        ("It is an error.", (0..4).map(|_| Answer::say("Once").error_event("The model failed.")).collect()),
        ("It makes no sense.", vec![Answer::new().event(json!("nonsense"))]),
    ];
    let all = all.map(|(what, answers)| (what, home(), StrictProvider::start(answers)));
    let runs = all.each_ref().map(|(what, home, provider)| {
        let run = home.run_text(provider, ["-q", "Hi"]);
        (what, home, run.line(), run.start())
    });
    for (what, home, line, run) in runs {
        page.met(what, home, &line, &run.finish());
    }
    page.is("answers");
}

#[test]
fn a_limit_is_said_so() {
    let mut page = Page::new();
    let looks = || Script::always(Answer::calling("c1", "ls", json!({})));
    let denied = || Script::always(Answer::calling("c1", "bash", json!({"command": "make"})));
    for (what, words, script) in [
        ("As many steps as it may have.", &["--max-steps", "2"][..], looks()),
        (
            "As much time as it may take.",
            &["--timeout", "300ms"],
            Script::always(Answer::say("Once").stall()),
        ),
        ("Nothing but denied calls.", &[], denied()),
        ("Going round in circles.", &[], looks()),
        (
            "A wait beyond what is allowed.",
            &["--max-wait", "49ms"],
            Script::always(Answer::rate_limited("1").header("retry-after-ms", "50")),
        ),
    ] {
        let (home, provider) = (home(), StrictProvider::start(script));
        page.meet(what, &home, home.run_text(&provider, ["-q", "Hi"]).words(words.to_vec()));
    }
    let home = home();
    home.configure(
        r#"{"local_servers": false, "models": {"openai/strict-1": {"context_window": 1000000, "prices": {"input": 1000, "output": 1000}}}}"#,
    );
    let provider = StrictProvider::start(looks());
    page.meet("As much as it may cost.", &home, home.run_text(&provider, ["-q", "--max-cost", "0.1", "Hi"]));
    let fails =
        [Answer::calling("c1", "view", json!({"file_path": "missing"})), Answer::say("It is not there.")];
    let provider = StrictProvider::start(fails);
    page.meet(
        "A tool that failed where none may.",
        &home,
        home.run_text(&provider, ["-q", "--fail-on-tool-error", "Hi"]),
    );
    home.write("schema.json", r#"{"type": "object"}"#);
    let provider = StrictProvider::start((0..3).map(|_| Answer::say("No.")).collect::<Vec<_>>());
    let bound = home.run_text(&provider, ["-q", "--schema", "schema.json", "Hi"]);
    page.meet("An answer that does not satisfy its schema.", &home, bound);
    page.is("limits");
}
