//! Cancels, in every phase that a prompt can be in.

use crate::content::{Finish, MessageBody, ToolStatus};
use crate::model::ModelEvent;
use crate::record::{CancelScope, Reason, Record, ReturnReason, RunStatus, TurnOutcome};
use crate::rig::words::{call_id, cancel, headless, overloaded, prompt, run, session, text, to};
use crate::rig::{Batch, Rig};
use crate::session;
use crate::time::Deadline;

fn is_cancelled(rig: &Rig, prompt: &str) {
    let end = rig.end(prompt);
    assert_eq!((end.status, end.reason), (RunStatus::Cancelled, Reason::User), "{prompt}");
}

fn is_returned(rig: &Rig, prompt: &str) {
    let end = rig.end(prompt);
    assert_eq!((end.status, end.reason), (RunStatus::Cancelled, Reason::Returned), "{prompt}");
}

/// How the answers of the session ended, in order.
fn finishes(rig: &Rig) -> Vec<Finish> {
    let finishes = rig.durable(&session()).messages.iter().filter_map(|message| match &message.body {
        MessageBody::Assistant(answer) => answer.finish.clone(),
        MessageBody::User(_) | MessageBody::Summary(_) => None,
    });
    finishes.collect()
}

fn nothing(batch: &Batch) {
    assert!(batch.entries.is_empty(), "{:?}", batch.kinds());
    assert!(batch.asks().is_empty(), "{:?}", batch.asks());
}

#[test]
fn with_nothing_to_stop_a_cancel_changes_nothing() {
    let mut rig = Rig::new();
    nothing(&rig.cancel());
    rig.begin(run("p", "Do it."));
    let (runs, batch) = rig.cancel_run("run-other");
    assert!(runs.is_empty());
    nothing(&batch);
    rig.answer("Done.");
    nothing(&rig.cancel());
    rig.begin(run("q", "More."));
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok, "and it does not poison what comes next");
}

#[test]
fn a_prompt_that_is_being_prepared_becomes_a_cancelled_turn() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let batch = rig.cancel();
    assert_eq!(batch.kinds(), ["CancelAccepted", "TurnStarted", "TurnFinished", "RunFinished"]);
    assert_eq!(batch.asks(), ["stop preparing p", "close s"]);
    is_cancelled(&rig, "p");
    nothing(&rig.prepared("p"));
}

#[test]
fn all_prompts_that_are_being_prepared_are_covered() {
    let mut rig = Rig::new();
    rig.submit(prompt("a", "One."));
    rig.submit(prompt("b", "Two."));
    rig.prepared("b");
    rig.cancel();
    is_cancelled(&rig, "a");
    is_cancelled(&rig, "b");
    assert_eq!(rig.begun(), ["a", "b"]);
    assert!(rig.asked.is_empty() && rig.is_idle());
}

#[test]
fn only_the_run_that_is_meant_is_cancelled_while_it_is_prepared() {
    let mut rig = Rig::new();
    rig.submit(run("a", "One."));
    rig.submit(run("b", "Two."));
    rig.prepared("b");
    let (runs, batch) = rig.cancel_run("run-a");
    assert_eq!(runs.len(), 1);
    is_cancelled(&rig, "a");
    assert_eq!(batch.asks(), ["stop preparing a", "call t2.s1.a1"], "what waited behind it begins");
}

#[test]
fn a_queued_prompt_goes_back_to_its_sender() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "Then this."));
    let (_, batch) = rig.cancel_run("run-q");
    assert_eq!(batch.kinds(), ["CancelAccepted", "PromptReturned", "RunFinished"]);
    assert!(batch.records().any(|record| matches!(
        record,
        Record::PromptReturned { reason: ReturnReason::Cancelled, text, .. } if text == "Then this."
    )));
    is_returned(&rig, "q");
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn cancelling_the_turn_leaves_alone_what_waits_behind_it() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(run("q", "Then this."));
    rig.submit(run("r", "And this."));
    let (_, batch) = rig.cancel_run("run-p");
    is_cancelled(&rig, "p");
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1", "call t2.s1.a1"]);
    assert_eq!(rig.begun(), ["p", "q"]);
}

#[test]
fn cancelling_the_session_covers_the_turn_and_all_that_waits() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(prompt("q", "Then this."));
    rig.submit(prompt("r", "And this."));
    let batch = rig.cancel();
    is_cancelled(&rig, "p");
    is_returned(&rig, "q");
    is_returned(&rig, "r");
    assert_eq!(batch.asks(), ["stop preparing r", "stop calling t1.s1.a1", "close s"]);
}

#[test]
fn a_prompt_that_joined_ends_with_the_turn_and_is_named() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(prompt("q", "And this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    let (runs, _) = rig.cancel_run("run-p");
    is_cancelled(&rig, "p");
    is_cancelled(&rig, "q");
    let names: Vec<_> = runs.iter().map(|run| run.as_str()).collect();
    assert_eq!(names, ["run-p", "q"]);
}

#[test]
fn before_the_first_event_there_is_nothing_to_keep() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Do it."));
    let batch = rig.cancel();
    assert_eq!(
        batch.kinds(),
        ["CancelAccepted", "MessageFinished", "StepFinished", "TurnFinished", "RunFinished"]
    );
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1", "close s"]);
    assert_eq!(finishes(&rig), [Finish::Cancelled]);
    is_cancelled(&rig, "p");
}

#[test]
fn what_was_said_before_the_cancel_is_kept_and_closed() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(vec![text(0, "I will ")]);
    rig.stream(vec![text(0, "now")]);
    let batch = rig.cancel();
    assert_eq!(batch.kinds()[..3], ["CancelAccepted", "TextAppended", "MessageFinished"]);
    let answer = rig.end("p").answer.expect("there is text");
    let durable = rig.durable(&session());
    assert_eq!(durable.answer(answer).map(|answer| answer.text()), Some("I will now".into()));
    assert_eq!(finishes(&rig), [Finish::Cancelled]);
}

#[test]
fn a_half_written_call_is_not_kept() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    let [call, input] = crate::rig::words::called(1, "bash", r#"{"comm"#);
    rig.stream(vec![text(0, "Let me see."), call, input]);
    rig.cancel();
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text")).expect("it is kept");
    assert_eq!(answer.calls().count(), 0);
}

#[test]
fn during_the_wait_before_the_next_attempt_a_cancel_ends_the_turn_at_once() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(vec![text(0, "void")]);
    rig.fail(overloaded(Some(50_000)));
    let batch = rig.cancel();
    assert_eq!(batch.asks(), ["close s"]);
    is_cancelled(&rig, "p");
    assert_eq!(rig.end("p").answer, None, "what the failed attempt said is void");
    assert_eq!(rig.deadline(), None);
}

#[test]
fn between_looking_at_a_call_and_running_it_a_cancel_prevents_it() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"ls"}"#), ("bash", r#"{"command":"pwd"}"#)]);
    let call = rig.nth(1);
    rig.cancel();
    for call in [call, call_id(1, 1, 2)] {
        assert_eq!(rig.outcome(call).0, ToolStatus::Cancelled);
    }
    is_cancelled(&rig, "p");
    assert_eq!(finishes(&rig), [Finish::ToolUse], "the answer itself was complete");
    nothing(&rig.happens(session::Input::Inspected { call, intent: crate::rig::words::reading(true) }));
}

#[test]
fn a_running_tool_is_told_to_stop_and_its_own_outcome_is_kept() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#), ("bash", r#"{"command":"pwd"}"#)]);
    rig.inspected(1);
    let call = rig.nth(1);
    let batch = rig.cancel();
    assert_eq!(batch.asks(), ["stop running t1.s1.c1"]);
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Cancelled);
    assert!(rig.ended("p").is_none(), "it is waited for");
    rig.wait(400);
    let batch = rig.done_with(call, ToolStatus::Cancelled, "half of it is built");
    assert_eq!(rig.outcome(call), (ToolStatus::Cancelled, "half of it is built".into()));
    assert_eq!(batch.asks(), ["close s"]);
    is_cancelled(&rig, "p");
}

#[test]
fn a_tool_that_ends_well_all_the_same_says_so() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    rig.inspected(1);
    let call = rig.nth(1);
    rig.cancel();
    rig.done_with(call, ToolStatus::Ok, "built");
    assert_eq!(rig.outcome(call), (ToolStatus::Ok, "built".into()));
    is_cancelled(&rig, "p");
}

#[test]
fn a_tool_that_does_not_stop_is_given_up_after_exactly_the_time_to_settle() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"sleep 99"}"#)]);
    rig.inspected(1);
    let call = rig.nth(1);
    rig.wait(500);
    rig.cancel();
    assert_eq!(rig.deadline(), Some((rig.now.plus(3_000), Deadline::Settle)));
    rig.wait(2_999);
    assert!(rig.ended("p").is_none());
    rig.wait(1);
    is_cancelled(&rig, "p");
    let (status, told) = rig.outcome(call);
    assert_eq!(status, ToolStatus::Cancelled);
    assert!(told.contains("may have had some effect"), "{told}");
    let duration = rig.log.iter().find_map(|entry| match entry.record {
        Record::ToolCallFinished { duration, .. } => Some(duration),
        _ => None,
    });
    assert_eq!(duration, Some(3_500), "it ran for as long as that");
    nothing(&rig.done_with(call, ToolStatus::Ok, "too late"));
}

#[test]
fn several_running_tools_are_all_waited_for() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("ls", "{}"), ("view", r#"{"file_path":"a"}"#)]);
    rig.inspected(1);
    rig.inspected(2);
    assert_eq!(rig.cancel().asks(), ["stop running t1.s1.c1", "stop running t1.s1.c2"]);
    rig.done(2, "b");
    assert!(rig.ended("p").is_none());
    rig.done(1, "a");
    is_cancelled(&rig, "p");
}

#[test]
fn a_second_cancel_changes_nothing_about_the_first() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    rig.inspected(1);
    rig.cancel();
    let until = rig.deadline();
    rig.wait(1_000);
    let batch = rig.cancel();
    assert_eq!(batch.kinds(), ["CancelAccepted"]);
    assert!(batch.asks().is_empty(), "the tool is not told twice");
    assert_eq!(rig.deadline(), until, "and the wait is not drawn out");
    rig.done(1, "built");
    is_cancelled(&rig, "p");
}

#[test]
fn a_second_cancel_covers_what_was_accepted_in_between() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    rig.inspected(1);
    rig.cancel();
    rig.submit(prompt("q", "And this."));
    rig.cancel();
    is_returned(&rig, "q");
    rig.done(1, "built");
    assert!(rig.is_idle());
}

#[test]
fn a_prompt_that_is_accepted_after_the_cancel_runs() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    rig.inspected(1);
    rig.cancel();
    rig.enter(prompt("q", "Do that."));
    assert_eq!(rig.begun(), ["p"], "it does not join a turn that is being cancelled, and waits for its end");
    rig.done(1, "built");
    assert_eq!(rig.begun(), ["p", "q"]);
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_cancel_and_a_prompt_in_the_same_batch_keep_their_order() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Do it."));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let (_, next) = rig.request(crate::rig::words::submit(&session(), prompt("q", "Do that.")));
    rig.batch(vec![stop, next]);
    is_cancelled(&rig, "p");
    rig.open(&session());
    rig.prepared("q");
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn what_has_not_started_when_its_cancel_is_decided_never_starts() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let prepared = session::Input::Prepared {
        prompt: crate::ids::PromptId::new("p"),
        result: Box::new(Ok(crate::rig::words::preparation())),
    };
    let batch = rig.batch(vec![to(&session(), prepared), stop]);
    assert_eq!(batch.asks(), ["close s"], "neither the call nor its stop");
    is_cancelled(&rig, "p");
}

#[test]
fn a_tool_that_was_taken_back_before_it_started_is_told_of_and_ends() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.call(&[("bash", r#"{"command":"make"}"#)]);
    let call = rig.nth(1);
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let inspected = session::Input::Inspected { call, intent: crate::rig::words::reading(true) };
    let batch = rig.batch(vec![to(&session(), inspected), stop]);
    assert_eq!(batch.asks(), ["stop running t1.s1.c1"]);
    rig.batch(Vec::new());
    assert_eq!(rig.outcome(call), (ToolStatus::Cancelled, "It was not started.".into()));
    is_cancelled(&rig, "p");
}

#[test]
fn what_a_call_would_touch_is_not_looked_at_after_its_cancel() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    let attempt = rig.attempt();
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let said = |event| to(&session(), session::Input::Model { attempt, event });
    let call = ModelEvent::Call { block: 0, id: "x".into(), name: "bash".into() };
    let arguments = ModelEvent::Input { block: 0, text: r#"{"command":"ls"}"#.into() };
    let end = ModelEvent::Finished(crate::model::FinishReason::ToolCalls);
    let batch = rig.batch(vec![said(call), said(arguments), said(end), stop]);
    assert!(batch.asks().iter().all(|ask| !ask.starts_with("inspect")), "{:?}", batch.asks());
    is_cancelled(&rig, "p");
}

#[test]
fn the_reason_of_a_cancel_is_the_reason_of_the_end() {
    let mut rig = Rig::new();
    rig.begin(headless("p", "Do it."));
    let stop = crate::protocol::Command::Cancel {
        session: session(),
        scope: CancelScope::Session,
        reason: Reason::Timeout,
    };
    rig.asks_for(stop);
    let end = rig.end("p");
    assert_eq!((end.status, end.reason), (RunStatus::Limit, Reason::Timeout));
    assert_eq!(rig.turns(), [&TurnOutcome::Cancelled(Reason::Timeout)]);
}

#[test]
fn the_last_token_and_a_cancel_in_one_batch_leave_a_complete_answer() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    let attempt = rig.attempt();
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let said = |event| to(&session(), session::Input::Model { attempt, event });
    let end = ModelEvent::Finished(crate::model::FinishReason::Stop);
    rig.batch(vec![said(text(0, "Done.")), said(end), stop]);
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    assert_eq!(finishes(&rig), [Finish::EndTurn]);
}

#[test]
fn a_prompt_that_joined_another_run_cannot_be_cancelled_by_itself() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Begin."));
    rig.enter(prompt("q", "And this."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    let (runs, batch) = rig.cancel_run("q");
    assert!(runs.is_empty());
    nothing(&batch);
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}
