//! Several sessions in one directory: they do not concern each other, and one that is idle is let go.

use crate::ids::{PromptId, SessionId};
use crate::model::{FinishReason, ModelEvent};
use crate::record::{CancelScope, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{cancel, overloaded, preparation, prompt, session, submit, text, to};
use crate::session::Input;

fn other() -> SessionId {
    SessionId::new("other")
}

/// Begins a turn in each of two sessions.
fn two() -> Rig {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Here."));
    rig.asks_for(submit(&other(), prompt("q", "There.")));
    rig.open(&other());
    let result = Box::new(Ok(preparation()));
    rig.batch(vec![to(&other(), Input::Prepared { prompt: PromptId::new("q"), result })]);
    rig
}

fn said(rig: &Rig, session: &SessionId, event: ModelEvent) -> crate::workspace::Input {
    let attempt = rig.flights.calls.iter().find(|(id, _)| id == session).expect("a model is asked").1;
    to(session, Input::Model { attempt, event })
}

#[test]
fn sessions_work_at_the_same_time_and_end_by_themselves() {
    let mut rig = two();
    assert_eq!(rig.flights.calls.len(), 2);
    let end = [text(0, "Done."), ModelEvent::Finished(FinishReason::Stop)];
    let inputs: Vec<_> = end.into_iter().map(|event| said(&rig, &other(), event)).collect();
    assert_eq!(rig.batch(inputs).asks(), ["close other"]);
    assert_eq!(rig.end("q").status, RunStatus::Ok);
    assert!(rig.ended("p").is_none() && rig.is_open(&session()));
    rig.answer("Done.");
    assert!(rig.is_idle());
}

#[test]
fn a_cancel_concerns_one_session() {
    let mut rig = two();
    let (_, batch) = rig.asks_for(cancel(&other(), CancelScope::Session));
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1", "close other"]);
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn both_may_use_the_same_ids() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Here."));
    rig.asks_for(submit(&other(), prompt("p", "There.")));
    let batch = rig.open(&other());
    assert_eq!(batch.kinds(), ["SessionCreated", "PromptAccepted"]);
}

#[test]
fn the_earliest_deadline_of_all_sessions_counts_and_each_is_met() {
    let mut rig = two();
    let here = rig.deadline();
    let fail = said(&rig, &other(), ModelEvent::Failed(overloaded(Some(2_000))));
    rig.batch(vec![fail]);
    assert_eq!(rig.deadline().map(|(at, _)| at), Some(rig.now.plus(2_000)));
    assert_eq!(rig.tick().asks(), ["call t1.s1.a2"]);
    assert_eq!(rig.deadline(), here);
}

#[test]
fn a_session_is_closed_after_its_last_turn_and_opened_again_when_needed() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    assert_eq!(rig.answer("Done.").asks(), ["close s"]);
    let (_, batch) = rig.asks_for(submit(&session(), prompt("q", "Two.")));
    assert_eq!(batch.asks(), ["open s"]);
    rig.open(&session());
    rig.prepared("q");
    rig.answer("Done.");
    assert_eq!(rig.durable(&session()).messages.len(), 4);
}

#[test]
fn a_prompt_in_the_batch_that_closes_its_session_opens_it_again_behind_that() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    let end = said(&rig, &session(), ModelEvent::Finished(FinishReason::Stop));
    let (_, next) = rig.request(submit(&session(), prompt("q", "Two.")));
    assert_eq!(rig.batch(vec![end, next]).asks(), ["close s", "open s"]);
    rig.open(&session());
    assert!(rig.durable(&session()).find_open(&PromptId::new("q")).is_some());
}

#[test]
fn a_call_and_its_stop_in_one_batch_cancel_each_other_out() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "One."));
    rig.fail(overloaded(None));
    rig.now = rig.now.plus(5_000);
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let batch = rig.batch(vec![stop]);
    assert_eq!(batch.kinds()[..2], ["AttemptStarted", "CancelAccepted"]);
    assert_eq!(batch.asks(), ["close s"]);
}

#[test]
fn what_concerns_a_session_that_is_not_open_changes_nothing() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    let attempt = rig.attempt();
    rig.answer("Done.");
    for input in [
        Input::Tick,
        Input::Opened,
        Input::Model { attempt, event: text(0, "late") },
        Input::Prepared { prompt: PromptId::new("p"), result: Box::new(Ok(preparation())) },
    ] {
        let batch = rig.happens(input);
        assert!(batch.entries.is_empty() && batch.effects.is_empty(), "{batch:?}");
    }
}
