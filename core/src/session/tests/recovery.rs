//! The end of the process, in every phase, and what the next one does with what it finds.

use crate::content::{Finish, ToolStatus};
use crate::protocol::Reply;
use crate::record::{Reason, Record, ReturnReason, RunStatus, TurnOutcome};
use crate::rig::words::{call_id, called, cancel, overloaded, prompt, run, session, submit, text, to};
use crate::rig::{Batch, Rig};
use crate::session::Input;

/// Ends the process and lets the next one open the session for a prompt of its own.
fn reopened(rig: &mut Rig) -> Batch {
    rig.crash();
    rig.submit(run("next", "Go on.")).1
}

fn is_interrupted(rig: &Rig, prompt: &str) {
    let end = rig.end(prompt);
    assert_eq!((end.status, end.reason), (RunStatus::Error, Reason::Interrupted), "{prompt}");
}

fn is_given_back(rig: &Rig, prompt: &str) {
    let end = rig.end(prompt);
    assert_eq!((end.status, end.reason), (RunStatus::Cancelled, Reason::Interrupted), "{prompt}");
    let returned = rig.log.iter().filter(|entry| match &entry.record {
        Record::PromptReturned { prompt: own, reason, .. } => {
            own.as_str() == prompt && *reason == ReturnReason::Interrupted
        }
        _ => false,
    });
    assert_eq!(returned.count(), 1, "{prompt}");
}

/// The prompt that came after the crash runs.
fn goes_on(rig: &mut Rig) {
    rig.prepared("next");
    rig.answer("Done.");
    assert_eq!(rig.end("next").status, RunStatus::Ok);
    assert!(rig.is_idle());
}

#[test]
fn a_prompt_that_was_being_prepared_goes_back() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let batch = reopened(&mut rig);
    assert_eq!(batch.kinds(), ["PromptReturned", "RunFinished", "PromptAccepted"]);
    is_given_back(&rig, "p");
    goes_on(&mut rig);
}

#[test]
fn a_queued_prompt_goes_back_and_the_turn_ends_interrupted() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.enter(run("q", "Then this."));
    reopened(&mut rig);
    is_interrupted(&rig, "p");
    is_given_back(&rig, "q");
    goes_on(&mut rig);
}

#[test]
fn what_had_been_recorded_of_an_answer_is_kept_and_closed() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(vec![text(0, "I will")]);
    rig.stream(vec![text(0, " not")]);
    let batch = reopened(&mut rig);
    assert_eq!(batch.kinds()[..4], ["MessageFinished", "StepFinished", "TurnFinished", "RunFinished"]);
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text")).expect("it is kept");
    assert_eq!((answer.text().as_str(), &answer.finish), ("I will", &Some(Finish::Interrupted)));
    goes_on(&mut rig);
}

#[test]
fn a_half_streamed_call_leaves_nothing() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(called(0, "bash", r#"{"comm"#).to_vec());
    reopened(&mut rig);
    is_interrupted(&rig, "p");
    goes_on(&mut rig);
}

#[test]
fn during_the_wait_before_the_next_attempt_the_turn_is_interrupted_too() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(vec![text(0, "void")]);
    rig.fail(overloaded(None));
    reopened(&mut rig);
    is_interrupted(&rig, "p");
    assert_eq!(rig.end("p").answer, None);
    goes_on(&mut rig);
}

#[test]
fn calls_that_were_due_or_running_are_never_repeated_and_the_model_is_warned() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#), ("ls", "{}")]);
    rig.inspected(1);
    let batch = reopened(&mut rig);
    assert_eq!(batch.asks(), ["prepare next"]);
    for call in [call_id(1, 1, 1), call_id(1, 1, 2)] {
        let (status, told) = rig.outcome(call);
        assert_eq!(status, ToolStatus::Interrupted);
        assert!(told.contains("may or may not"), "{told}");
    }
    goes_on(&mut rig);
    let late = Input::ToolFinished {
        call: call_id(1, 1, 1),
        outcome: crate::rig::words::outcome(ToolStatus::Ok, "late"),
    };
    assert!(rig.happens(late).entries.is_empty());
}

#[test]
fn outcomes_that_were_recorded_are_kept() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#), ("bash", r#"{"command":"rm a"}"#)]);
    rig.run_tool(1, "built");
    reopened(&mut rig);
    assert_eq!(rig.outcome(call_id(1, 1, 1)), (ToolStatus::Ok, "built".into()));
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Interrupted);
    goes_on(&mut rig);
}

#[test]
fn a_turn_that_was_being_cancelled_ends_once() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    rig.inspected(1);
    rig.cancel();
    reopened(&mut rig);
    is_interrupted(&rig, "p");
    goes_on(&mut rig);
}

#[test]
fn prompts_that_had_joined_end_with_their_turn() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.enter(prompt("q", "And this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    reopened(&mut rig);
    is_interrupted(&rig, "p");
    is_interrupted(&rig, "q");
    goes_on(&mut rig);
}

#[test]
fn what_was_not_committed_never_was() {
    let mut rig = Rig::new();
    let (_, input) = rig.request(submit(&session(), prompt("p", "Do it.")));
    rig.crash_uncommitted(vec![input]);
    assert!(rig.log.is_empty());
    let (id, _) = rig.submit(prompt("p", "Do it."));
    assert!(matches!(rig.reply(id), Reply::Accepted { sequence: 1, .. }));
}

#[test]
fn what_was_committed_and_not_begun_is_given_back_or_interrupted() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let prepared = Input::Prepared {
        prompt: crate::ids::PromptId::new("p"),
        result: Box::new(Ok(crate::rig::words::preparation())),
    };
    rig.crash_unstarted(vec![to(&session(), prepared)]);
    rig.submit(run("next", "Go on."));
    is_interrupted(&rig, "p");
    goes_on(&mut rig);
    assert_eq!(rig.asked.len(), 1);
}

#[test]
fn an_id_from_before_the_crash_is_still_known() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.crash();
    let (id, _) = rig.submit(prompt("p", "Do it."));
    assert!(matches!(rig.reply(id), Reply::Accepted { .. }));
    is_interrupted(&rig, "p");
    assert!(rig.is_idle(), "it is not run again");
}

#[test]
fn a_server_starts_what_is_young_in_its_order() {
    let mut rig = Rig::serving();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "One."));
    rig.submit(run("r", "Two."));
    rig.crash();
    let batch = rig.submit(run("next", "Three.")).1;
    assert_eq!(batch.asks(), ["prepare q", "prepare r", "prepare next"]);
    is_interrupted(&rig, "p");
    for prompt in ["next", "r", "q"] {
        rig.prepared(prompt);
    }
    for _ in 0..3 {
        rig.answer("Done.");
    }
    assert_eq!(rig.begun(), ["p", "q", "r", "next"]);
    assert!(rig.is_idle());
}

#[test]
fn a_server_gives_back_what_is_old() {
    let mut rig = Rig::serving();
    rig.submit(run("old", "One."));
    rig.crash();
    rig.now = rig.now.plus(1);
    rig.submit(run("young", "Two."));
    rig.crash();
    rig.now = rig.now.plus(599_999);
    let batch = rig.submit(run("next", "Three.")).1;
    assert_eq!(batch.asks(), ["prepare young", "prepare next"]);
    is_given_back(&rig, "old");
}

#[test]
fn what_joins_a_turn_is_not_prepared_any_longer() {
    let mut rig = Rig::serving();
    rig.begin(run("p", "Begin."));
    rig.enter(prompt("a", "One."));
    rig.enter(prompt("b", "Two."));
    rig.crash();
    rig.submit(run("next", "Three."));
    let batch = rig.prepared("a");
    assert_eq!(batch.asks(), ["stop preparing b", "call t2.s1.a1"]);
    rig.answer("Both done.");
    assert!(rig.ended("a").is_some() && rig.ended("b").is_some());
    goes_on(&mut rig);
}

#[test]
fn clearing_what_holds_the_next_prompt_back_lets_that_begin() {
    let mut rig = Rig::serving();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "One."));
    rig.crash();
    rig.submit(run("next", "Two."));
    rig.prepared("next");
    let (cleared, batch) = rig.clear_queue();
    assert_eq!(cleared.len(), 1);
    assert_eq!(batch.asks(), ["stop preparing q", "call t2.s1.a1"]);
    rig.answer("Done.");
    assert!(rig.is_idle());
}

#[test]
fn what_is_prepared_anew_can_be_cancelled() {
    let mut rig = Rig::serving();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "One."));
    rig.submit(run("r", "Two."));
    rig.crash();
    let (_, input) = rig.request(submit(&session(), run("next", "Three.")));
    rig.batch(vec![input]);
    let (_, stop) = rig.request(cancel(&session(), crate::record::CancelScope::Session));
    let opening = rig.opening(&session());
    let batch = rig.batch(vec![opening, stop]);
    assert_eq!(batch.asks(), ["close s"]);
    for prompt in ["q", "r", "next"] {
        assert_eq!(rig.end(prompt).status, RunStatus::Cancelled, "{prompt}");
    }
    assert!(rig.is_idle());
}

#[test]
fn recovery_says_of_each_turn_once_that_it_is_over() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    for _ in 0..3 {
        reopened(&mut rig);
    }
    assert_eq!(rig.turns().iter().filter(|end| **end == &TurnOutcome::Interrupted).count(), 1);
}
