//! Failed attempts: which are made again and when, and that nothing of them is left in the answer.

use crate::content::Usage;
use crate::model::{CallError, CallErrorKind, ModelEvent, Preparation, Prices};
use crate::prompt::{Prompt, Terms};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::{broken, overloaded, preparation, prompt, session, stop, text, used};
use crate::rig::{Batch, Rig};
use crate::time::Deadline;
use crate::workspace::Effect;

fn streaming() -> Rig {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Talk."));
    rig
}

fn status(status: u16, code: &str) -> CallError {
    broken(CallErrorKind::Status { status, code: code.into() })
}

#[test]
fn passing_trouble_is_met_with_another_attempt_and_the_rest_ends_the_turn() {
    let stream = |code: &str| broken(CallErrorKind::Stream { code: code.into() });
    let said = |should, error| CallError { should_retry: Some(should), ..error };
    for (error, end) in [
        (broken(CallErrorKind::Transport), None),
        (broken(CallErrorKind::Truncated), None),
        (stream("overloaded_error"), None),
        (stream("502"), None),
        (status(408, ""), None),
        (status(409, ""), None),
        (status(429, ""), None),
        (status(500, ""), None),
        (status(599, ""), None),
        (said(true, status(400, "")), None),
        (said(false, status(503, "")), Some(Reason::Provider)),
        (said(true, status(429, "insufficient_quota")), Some(Reason::Provider)),
        (stream("invalid_request_error"), Some(Reason::Provider)),
        (stream("context_length_exceeded"), Some(Reason::Context)),
        (status(400, ""), Some(Reason::Provider)),
        (status(401, ""), Some(Reason::Credentials)),
        (status(402, ""), Some(Reason::Provider)),
        (status(403, ""), Some(Reason::Credentials)),
        (status(404, ""), Some(Reason::UnknownModel)),
        (status(413, "context_length_exceeded"), Some(Reason::Context)),
        (broken(CallErrorKind::Protocol), Some(Reason::Provider)),
        (broken(CallErrorKind::Credentials), Some(Reason::Credentials)),
    ] {
        let mut rig = streaming();
        rig.fail(error.clone());
        assert_eq!(rig.ended("p").map(|end| end.reason), end, "{error:?}");
        let waits = rig.deadline().map(|(at, why)| (at.since(rig.now), why));
        assert_eq!(waits, end.is_none().then_some((5_000, Deadline::Retry)), "{error:?}");
    }
}

#[test]
fn each_wait_is_twice_the_one_before_and_the_fourth_failure_is_the_last() {
    let mut rig = streaming();
    for wait in [5_000, 10_000, 20_000] {
        rig.fail(overloaded(None));
        assert_eq!(rig.deadline(), Some((rig.now.plus(wait), Deadline::Retry)));
        let batch = rig.tick();
        assert_eq!(batch.kinds(), ["AttemptStarted"]);
    }
    let batch = rig.fail(overloaded(None));
    assert_eq!(
        batch.kinds(),
        ["AttemptFailed", "MessageFinished", "StepFinished", "TurnFinished", "RunFinished"]
    );
    let end = rig.end("p");
    assert_eq!((end.status, end.reason, end.totals.attempts), (RunStatus::Error, Reason::Provider, 4));
    assert!(end.message.contains("4 attempts)"), "{}", end.message);
}

#[test]
fn what_a_provider_asks_for_is_waited_to_the_millisecond() {
    let mut rig = streaming();
    rig.fail(overloaded(Some(1_234)));
    rig.wait(1_233);
    assert_eq!(rig.asked.len(), 1);
    rig.wait(1);
    assert_eq!(rig.asked.len(), 2);
    rig.fail(overloaded(Some(0)));
    rig.wait(0);
    assert_eq!(rig.asked.len(), 3);
}

#[test]
fn a_longer_wait_than_the_prompt_allows_ends_the_turn() {
    let mut rig = Rig::new();
    let terms = Terms { max_wait: 999, ..prompt("p", "").terms };
    rig.begin(Prompt { terms, ..prompt("p", "Talk.") });
    rig.fail(overloaded(Some(1_000)));
    assert_eq!((rig.end("p").status, rig.end("p").reason), (RunStatus::Limit, Reason::MaxWait));
}

#[test]
fn what_a_failed_attempt_had_said_is_void_so_text_is_never_doubled() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "Once upon")]);
    rig.wait(40);
    rig.stream(vec![text(0, " a")]);
    rig.fail(broken(CallErrorKind::Truncated));
    rig.tick();
    rig.answer("Once upon a time.");
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text"));
    assert_eq!(answer.map(|answer| answer.text()), Some("Once upon a time.".into()));
}

#[test]
fn what_the_last_attempt_had_said_is_kept() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "Once upon")]);
    rig.fail(broken(CallErrorKind::Protocol));
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text"));
    assert_eq!(answer.map(|answer| answer.text()), Some("Once upon".into()));
}

#[test]
fn what_failed_attempts_used_is_counted() {
    let mut rig = streaming();
    rig.stream(vec![used(100, 3)]);
    rig.fail(broken(CallErrorKind::Truncated));
    rig.tick();
    rig.stream(vec![text(0, "Done."), used(100, 20), stop()]);
    let totals = rig.end("p").totals;
    assert_eq!(totals.usage, Usage { input: 200, output: 23, ..Usage::default() });
}

#[test]
fn what_the_attempt_used_that_ended_the_turn_is_counted_once() {
    let mut rig = streaming();
    rig.stream(vec![used(100, 3)]);
    rig.fail(broken(CallErrorKind::Protocol));
    assert_eq!(rig.end("p").totals.usage, Usage { input: 100, output: 3, ..Usage::default() });
}

#[test]
fn a_provider_that_goes_on_without_saying_anything_is_not_waited_for() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Talk."));
    let first = rig.deadline();
    rig.wait(1_000);
    rig.stream(vec![used(1, 0), text(0, "")]);
    assert_eq!(rig.deadline(), first);
    rig.stream(vec![text(0, "A word.")]);
    let idle = rig.deadline();
    assert_ne!(idle, first);
    rig.wait(1_000);
    rig.stream(vec![used(1, 1)]);
    assert_eq!(rig.deadline(), idle);
}

#[test]
fn every_wait_for_a_provider_has_an_end() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Talk."));
    assert_eq!(rig.deadline(), Some((rig.now.plus(310_000), Deadline::Connect)));
    let batch = rig.tick();
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1"]);
    assert_eq!(batch.kinds(), ["AttemptFailed"]);
    rig.tick();
    rig.stream(vec![ModelEvent::Connected]);
    assert_eq!(rig.deadline(), Some((rig.now.plus(300_000), Deadline::FirstEvent)));
    rig.tick();
    rig.tick();
    rig.stream(vec![ModelEvent::Connected, text(0, "a")]);
    rig.wait(200_000);
    rig.stream(vec![text(0, "b")]);
    assert_eq!(rig.deadline(), Some((rig.now.plus(300_000), Deadline::Idle)), "each event counts");
    rig.tick();
    let waited = rig.log.iter().filter_map(|entry| match &entry.record {
        Record::AttemptFailed { error, .. } => Some((error.kind.clone(), error.message.as_str())),
        _ => None,
    });
    let expected = [
        (Deadline::Connect, "no answer within 310 s"),
        (Deadline::FirstEvent, "no first event within 300 s"),
        (Deadline::Idle, "no event within 300 s"),
    ];
    let expected = expected.map(|(what, said)| (CallErrorKind::Timeout(what), said));
    assert_eq!(waited.collect::<Vec<_>>(), expected);
}

#[test]
fn a_provider_that_speaks_without_announcing_itself_is_heard() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Talk."));
    rig.stream(vec![text(0, "Hi.")]);
    assert_eq!(rig.deadline().map(|(_, why)| why), Some(Deadline::Idle));
    rig.stream(vec![ModelEvent::Connected]);
    assert_eq!(rig.deadline().map(|(_, why)| why), Some(Deadline::Idle));
}

#[test]
fn an_abandoned_attempt_is_not_heard_any_more() {
    let mut rig = streaming();
    let first = rig.attempt();
    rig.fail(overloaded(None));
    let silent = |rig: &mut Rig| {
        let late = vec![text(0, "late"), ModelEvent::Failed(overloaded(None)), stop()];
        let batch = rig.stream_to(first, late);
        assert!(batch.entries.is_empty() && batch.effects.is_empty(), "{batch:?}");
    };
    silent(&mut rig);
    rig.tick();
    silent(&mut rig);
    rig.answer("Done.");
    silent(&mut rig);
}

#[test]
fn each_step_has_attempts_of_its_own() {
    let mut rig = streaming();
    for _ in 0..3 {
        rig.fail(overloaded(None));
        rig.tick();
    }
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.fail(overloaded(None));
    assert_eq!(rig.deadline(), Some((rig.now.plus(5_000), Deadline::Retry)));
}

#[test]
fn what_failed_attempts_used_costs_as_much() {
    let prices = Prices { input: 2_000_000, output: 10_000_000, ..Prices::default() };
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Talk."));
    rig.prepared_with("p", Ok(Preparation { prices: Some(Box::new(prices)), ..preparation() }));
    rig.stream(vec![used(100, 3)]);
    rig.fail(broken(CallErrorKind::Truncated));
    rig.tick();
    rig.stream(vec![used(100, 20)]);
    rig.fail(broken(CallErrorKind::Protocol));
    assert_eq!(rig.end("p").totals.cost, Some(2 * 200 + 10 * 23));
    assert_eq!(rig.durable(&session()).totals.cost, Some(630));
}

fn unauthorised() -> CallError {
    broken(CallErrorKind::Status { status: 401, code: String::new() })
}

#[test]
fn refused_credentials_are_had_anew_once_a_step_and_the_attempts_begin_anew() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Talk."));
    rig.prepared_with("p", Ok(Preparation { renewable: true, ..preparation() }));
    rig.fail(overloaded(None));
    rig.tick();
    let renews = |batch: &Batch| {
        let asked = batch.effects.iter().filter_map(|effect| match effect {
            Effect::Session(owned) => Some(&owned.effect),
            _ => None,
        });
        asked.filter(|effect| matches!(effect, crate::session::Effect::CallModel { renew: true, .. })).count()
    };
    let failed = rig.fail(unauthorised());
    assert_eq!((failed.kinds(), renews(&failed)), (vec!["AttemptFailed"], 0));
    assert_eq!(rig.deadline(), Some((rig.now, Deadline::Retry)));
    let again = rig.tick();
    assert_eq!(renews(&again), 1);
    for _ in 0..3 {
        rig.fail(overloaded(None));
        assert_eq!(renews(&rig.tick()), 0, "once is enough");
    }
    rig.fail(unauthorised());
    assert_eq!(rig.end("p").reason, Reason::Credentials);
    assert_eq!(rig.end("p").totals.attempts, 6);
}

#[test]
fn credentials_that_cannot_be_had_anew_are_refused_once_and_for_all() {
    let mut rig = streaming();
    rig.fail(unauthorised());
    assert_eq!((rig.end("p").reason, rig.end("p").totals.attempts), (Reason::Credentials, 1));
}
