//! Scripts: order, closures, exhaustion, and many requests at once.

use super::{PATIENCE, client::post, least};
use crate::strict::{Answer, Gate, Recorded, Script, StrictProvider, Verdict};
use std::{panic, thread};

fn say(provider: &StrictProvider, text: &str) -> String {
    post(provider, &least(text)).unwrap().joined("content")
}

#[test]
fn answers_in_order_and_then_refuses() {
    let provider = StrictProvider::start([Answer::say("one"), Answer::say("two")]);
    assert_eq!((say(&provider, "x"), say(&provider, "y")), ("one".into(), "two".into()));
    provider.assert_clean();
    let response = post(&provider, &least("z")).unwrap();
    assert_eq!((response.status, response.json()["error"]["type"].as_str()), (500, Some("server_error")));
    let message = "The script has no answer left for this request.";
    assert_eq!(response.error(), message);
    assert_eq!(provider.requests()[2].verdict, Verdict::Rejected { status: 500, message: message.into() });
    assert_eq!(provider.rejections(), [format!("request 2 (POST /v1/chat/completions): 500: {message}")]);
    assert_eq!(provider.completions().len(), 2);
}

#[test]
fn fails_a_test_that_was_refused() {
    let provider = StrictProvider::start(Script::new([]));
    post(&provider, &least("x")).unwrap();
    let failed = panic::catch_unwind(panic::AssertUnwindSafe(|| provider.assert_clean())).unwrap_err();
    assert!(failed.downcast_ref::<String>().unwrap().contains("no answer left"));
}

#[test]
fn takes_more_answers() {
    let provider = StrictProvider::start(Script::new([]));
    provider.push(Answer::say("late"));
    assert_eq!(provider.remaining(), 1);
    assert_eq!((say(&provider, "x"), provider.remaining()), ("late".into(), 0));
}

fn echo(request: &Recorded) -> Answer {
    assert_ne!(request.last_user_text(), "panic", "told to");
    Answer::say(&request.last_user_text())
}

#[test]
fn decides_on_the_request() {
    let provider = StrictProvider::start(Script::new([Answer::say("first")]).then(echo));
    assert_eq!((say(&provider, "x"), say(&provider, "y")), ("first".into(), "y".into()));
    let response = post(&provider, &least("panic")).unwrap();
    assert_eq!(response.status, 500);
    assert!(response.error().starts_with("The script panicked") && response.error().contains("told to"));
    assert_eq!((say(&provider, "z"), provider.rejections().len()), ("z".into(), 1));
}

#[test]
fn repeats_an_answer() {
    let provider = StrictProvider::start(Script::always(Answer::say("again")));
    assert_eq!((say(&provider, "x"), say(&provider, "y")), ("again".into(), "again".into()));
}

#[test]
fn serves_many_at_once() {
    const COUNT: usize = 20;
    let gate = Gate::new();
    let held = gate.clone();
    let decide = move |request: &Recorded| Answer::new().gate(&held).text(&request.last_user_text());
    let provider = StrictProvider::start(Script::each(decide));
    thread::scope(|scope| {
        let ask = |n: usize| (n, say(&provider, &n.to_string()));
        let asked: Vec<_> = (0..COUNT).map(|n| scope.spawn(move || ask(n))).collect();
        assert!(gate.wait_reached_by(COUNT, PATIENCE), "all are in progress at the same time");
        gate.open();
        for asked in asked {
            let (n, answered) = asked.join().unwrap();
            assert_eq!(answered, n.to_string());
        }
    });
    provider.assert_clean();
    let indices: Vec<_> = provider.requests().iter().map(|request| request.index).collect();
    assert_eq!(indices, (0..COUNT).collect::<Vec<_>>());
}
