//! Prompts that come while a turn is under way: they join it, or wait for a turn of their own.

use crate::content::{ErrorClass, ErrorInfo, MessageBody};
use crate::ids::{PromptId, RequestId};
use crate::model::Item;
use crate::prompt::Delivery;
use crate::record::{Record, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{broken, delivered, headless, prompt, run, session, stop, text};
use crate::session::{Decisions, Durable, Input, Session, Settings};
use crate::time::Timestamp;

/// What the user has said in a request, one item each.
fn said(rig: &Rig, request: usize) -> Vec<&str> {
    let items = rig.asked[request].1.items.iter();
    let said = items.filter_map(|item| match item {
        Item::User { text, .. } => Some(text.as_str()),
        Item::Assistant { .. } | Item::Results(_) => None,
    });
    said.collect()
}

#[test]
fn a_prompt_joins_the_turn_at_its_next_step_and_stays_in_all_later_requests() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    assert_eq!(rig.enter(prompt("q", "And this.")).kinds(), ["PromptQueued"]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    assert_eq!(said(&rig, 1), ["Begin.", "And this."]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "b");
    assert_eq!(said(&rig, 2), ["Begin.", "And this."]);
    rig.answer("Both done.");
    assert_eq!(rig.begun(), ["p"]);
    assert_eq!(rig.end("q").status, RunStatus::Ok);
    assert_eq!(rig.end("q").answer, rig.end("p").answer);
}

#[test]
fn what_a_turn_used_is_counted_once() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.enter(prompt("q", "And this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.answer("Done.");
    assert_eq!((rig.end("p").totals.steps, rig.end("q").totals.steps), (2, 0));
    assert_eq!(rig.durable(&session()).totals.steps, 2);
}

#[test]
fn prompts_join_in_their_order() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.submit(prompt("a", "First."));
    rig.submit(prompt("b", "Second."));
    rig.prepared("b");
    rig.prepared("a");
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    assert_eq!(said(&rig, 1), ["Begin.", "First.\n\nSecond."]);
}

#[test]
fn a_prompt_that_is_still_prepared_does_not_join() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.submit(prompt("q", "And this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    assert_eq!(said(&rig, 1), ["Begin."]);
    rig.answer("Done.");
    rig.prepared("q");
    assert_eq!(rig.begun(), ["p", "q"]);
}

#[test]
fn a_prompt_that_could_not_be_prepared_joins_all_the_same() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.submit(prompt("q", "And this."));
    rig.unprepared("q");
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_prompt_with_a_run_of_its_own_waits_for_a_turn_of_its_own() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "Then this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    assert_eq!(said(&rig, 1), ["Begin."]);
    let batch = rig.answer("Done.");
    assert_eq!(
        batch.kinds(),
        [
            "TextAppended",
            "MessageFinished",
            "StepFinished",
            "TurnFinished",
            "RunFinished",
            "TurnStarted",
            "StepStarted",
            "AttemptStarted"
        ],
        "the end of one is on record before the other begins"
    );
    assert_eq!(rig.begun(), ["p", "q"]);
}

#[test]
fn delivery_can_be_asked_for() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.enter(delivered(Delivery::OwnTurn, prompt("own", "Alone.")));
    rig.enter(delivered(Delivery::Fold, prompt("fold", "Together.")));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.answer("Done.");
    assert_eq!(rig.begun(), ["p", "own"]);
    assert!(rig.ended("fold").is_some() && rig.ended("own").is_none());
}

#[test]
fn what_waits_and_may_join_joins_the_first_step_of_the_turn_that_follows() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(prompt("a", "One."));
    rig.enter(prompt("b", "Two."));
    rig.answer("Done.");
    assert_eq!(rig.begun(), ["p", "a"]);
    assert_eq!(said(&rig, 1), ["Begin.", "One.\n\nTwo."]);
    rig.answer("Done.");
    assert!(rig.ended("a").is_some() && rig.ended("b").is_some() && rig.is_idle());
}

/// Ends the turn of the first prompt in some way and checks that the second one begins.
fn hands_off(end: impl FnOnce(&mut Rig)) {
    let mut rig = Rig::new();
    rig.begin(headless("p", "Begin."));
    rig.enter(run("q", "Then this."));
    end(&mut rig);
    assert!(rig.ended("p").is_some());
    assert_eq!(rig.begun(), ["p", "q"]);
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn the_next_prompt_begins_however_the_turn_ends() {
    use crate::model::{CallErrorKind, FinishReason, ModelEvent};
    hands_off(|rig| drop(rig.answer("Done.")));
    hands_off(|rig| drop(rig.fail(broken(CallErrorKind::Protocol))));
    hands_off(|rig| drop(rig.cancel_run("p")));
    hands_off(|rig| drop(rig.stream(vec![text(0, "cut"), ModelEvent::Finished(FinishReason::Length)])));
    hands_off(|rig| drop(rig.stream(vec![ModelEvent::Finished(FinishReason::ContentFilter)])));
    hands_off(|rig| drop(rig.stream(vec![stop()])));
}

#[test]
fn a_cleared_queue_goes_back_to_its_senders_and_the_turn_goes_on() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.enter(prompt("a", "One."));
    rig.enter(run("b", "Two."));
    let (cleared, batch) = rig.clear_queue();
    let names: Vec<_> = cleared.iter().map(|prompt| prompt.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let returned = batch.records().filter_map(|record| match record {
        Record::PromptReturned { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(returned.collect::<Vec<_>>(), ["One.", "Two."]);
    assert_eq!(rig.end("b").status, RunStatus::Cancelled);
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    let users = rig.durable(&session()).messages.iter().filter(|m| matches!(m.body, MessageBody::User(_)));
    assert_eq!(users.count(), 1, "what goes back is not part of the conversation");
}

#[test]
fn clearing_leaves_alone_what_is_still_prepared() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Begin."));
    rig.submit(prompt("a", "One."));
    assert!(rig.clear_queue().0.is_empty());
    rig.prepared("a");
    assert!(rig.ended("a").is_none());
}

/// Many prompts whose runs can all not be prepared, which is found out of the first one last.
fn many_failures() {
    let mut alone = Session::new(Durable::new(session()), Settings::default());
    let (now, mut out) = (Timestamp::from_millis(0), Decisions::default());
    let ids: Vec<_> = (0..2_000).map(|number| format!("p{number}")).collect();
    for id in &ids {
        let prompt = Box::new(run(id, "Do it."));
        alone.decide(now, Input::Submit { to: RequestId(1), prompt }, &mut out);
    }
    for id in ids.iter().rev() {
        let result = Box::new(Err(ErrorInfo::new(ErrorClass::NoProvider, "there is none")));
        alone.decide(now, Input::Prepared { prompt: PromptId::new(id), result }, &mut out);
    }
    assert!(alone.is_idle());
}

#[test]
fn however_many_runs_fail_one_after_the_other_a_small_stack_is_enough() {
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let thread = small.spawn(many_failures).expect("there is room for a thread");
    thread.join().expect("they all end");
}
