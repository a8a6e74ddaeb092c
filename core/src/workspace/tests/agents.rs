//! Sub-agents: a call opens a session, and what becomes of that is the call's outcome.

use crate::content::{ToolStatus, Usage};
use crate::ids::{CallId, MessageId, SessionId};
use crate::model::{Preparation, Prices};
use crate::protocol::{RefusalKind, Reply};
use crate::record::{CancelScope, Reason, Record, RunStatus, TurnOutcome};
use crate::rig::words::{self, call_id, cancel, prompt, session, stop, text, used};
use crate::rig::{Batch, Rig};
use crate::session::Input;

const LOOK: (&str, &str) = ("agent", r#"{"prompt":"Look around."}"#);

/// A turn whose first step has called those tools.
fn calling(calls: &[(&str, &str)]) -> (Rig, Batch) {
    let mut rig = Rig::new();
    let prices = Some(Box::new(Prices { input: 1_000_000, output: 2_000_000, ..Prices::default() }));
    rig.submit(prompt("p", "Do it."));
    rig.prepared_with("p", Ok(Preparation { prices, ..words::preparation() }));
    let batch = rig.call(calls);
    (rig, batch)
}

/// The session that the call opened.
fn child(call: u32) -> SessionId {
    SessionId::child(&session(), MessageId(2), call_id(1, 1, call))
}

fn answers(rig: &mut Rig, child: &SessionId, said: &str) -> Batch {
    let attempt = rig.attempt_in(child);
    let events = [text(0, said), used(30, 7), stop()];
    rig.batch(events.map(|event| words::to(child, Input::Model { attempt, event })).to_vec())
}

fn calls(rig: &mut Rig, child: &SessionId, name: &str, input: &str) -> Batch {
    let attempt = rig.attempt_in(child);
    let events = words::called(0, name, input).into_iter().chain([stop()]);
    rig.batch(events.map(|event| words::to(child, Input::Model { attempt, event })).collect())
}

fn runs_its_tool(rig: &mut Rig, child: &SessionId) -> CallId {
    let call = call_id(1, 1, 1);
    calls(rig, child, "ls", "{}");
    rig.batch(vec![words::to(child, Input::Inspected { call, intent: words::reading(true) })]);
    call
}

fn of(batch: &Batch, session: &SessionId) -> Vec<&'static str> {
    let own = batch.entries.iter().filter(|entry| entry.session == *session);
    own.map(|entry| entry.record.kind()).collect()
}

#[test]
fn a_call_opens_a_session_that_begins_in_the_same_commit() {
    let (rig, batch) = calling(&[LOOK]);
    assert!(of(&batch, &session()).ends_with(&["MessageFinished", "ToolCallStarted"]));
    let began =
        ["SessionCreated", "PromptAccepted", "Prepared", "TurnStarted", "StepStarted", "AttemptStarted"];
    assert_eq!(of(&batch, &child(1)), began);
    let durable = rig.durable(&child(1));
    let parent = durable.parent.as_ref().unwrap();
    assert_eq!((&parent.session, parent.call), (&session(), call_id(1, 1, 1)));
    assert_eq!(durable.title, "Look around.");
    let terms = batch.records().find_map(|record| match record {
        Record::PromptAccepted { prompt, .. } => Some(&prompt.terms),
        _ => None,
    });
    assert_eq!(terms.map(|terms| terms.delivery), Some(crate::prompt::Delivery::OwnTurn));
}

#[test]
fn a_sub_agent_can_only_read_and_knows_its_task_alone() {
    let (mut rig, _) = calling(&[LOOK]);
    let request = &rig.asked.last().unwrap().1;
    let offered: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["glob", "grep", "ls", "view"]);
    assert!(request.system.starts_with("You are tested.") && request.system.contains("sub-agent"));
    assert_eq!(request.items.len(), 1);
    for (name, input) in [("bash", r#"{"command":"rm x"}"#), LOOK, ("todos", r#"{"todos":[]}"#)] {
        let batch = calls(&mut rig, &child(1), name, input);
        assert!(batch.asks().iter().all(|ask| ask.starts_with("call")), "{name} is none of its tools");
    }
}

#[test]
fn its_answer_is_the_outcome_of_the_call_and_its_cost_the_parents() {
    let (mut rig, _) = calling(&[LOOK]);
    let batch = answers(&mut rig, &child(1), "All is well.");
    assert_eq!(of(&batch, &child(1)).last(), Some(&"RunFinished"));
    assert_eq!(of(&batch, &session())[..3], ["SubAgentFinished", "ToolCallFinished", "StepFinished"]);
    assert_eq!(rig.outcome(call_id(1, 1, 1)), (ToolStatus::Ok, "All is well.".into()));
    assert!(!rig.is_open(&child(1)), "it is over");
    rig.stream(vec![text(0, "Done."), used(10, 1), stop()]);
    let totals = rig.end("p").totals;
    assert_eq!(totals.usage, Usage { input: 40, output: 8, ..Usage::default() });
    assert_eq!(totals.cost, Some(30 + 14 + 10 + 2));
    assert_eq!((totals.steps, totals.context), (2, 11), "what it did is not what the run did");
}

#[test]
fn what_it_used_counts_also_when_it_fails() {
    let (mut rig, _) = calling(&[LOOK]);
    let (child, attempt) = (child(1), rig.attempt_in(&child(1)));
    let failed = crate::model::ModelEvent::Failed(words::broken(crate::model::CallErrorKind::Status {
        status: 400,
        code: String::new(),
    }));
    let events = [text(0, "So far"), used(5, 5), failed];
    let batch = rig.batch(events.map(|event| words::to(&child, Input::Model { attempt, event })).to_vec());
    assert!(of(&batch, &session()).contains(&"SubAgentFinished"));
    let (status, said) = rig.outcome(call_id(1, 1, 1));
    assert_eq!(status, ToolStatus::Error);
    assert!(said.contains("did not finish") && said.contains("So far"), "{said}");
    let turn = rig.durable(&session()).turn.as_ref().unwrap();
    assert_eq!(turn.totals.usage.output, 5);
}

#[test]
fn several_work_side_by_side_and_results_keep_the_order_of_the_calls() {
    let (mut rig, _) = calling(&[LOOK, LOOK, ("view", r#"{"file_path":"a"}"#)]);
    answers(&mut rig, &child(2), "second");
    rig.run_tool(3, "third");
    answers(&mut rig, &child(1), "first");
    let request = &rig.asked.last().unwrap().1;
    let crate::model::Item::Results(results) = request.items.last().unwrap() else { panic!("{request:?}") };
    let said: Vec<_> = results.iter().map(|result| result.outcome.text.as_str()).collect();
    assert_eq!(said, ["first", "second", "third"]);
}

#[test]
fn a_cancel_ends_all_in_one_commit_if_nothing_runs() {
    let (mut rig, _) = calling(&[LOOK, LOOK]);
    let batch = rig.cancel();
    assert_eq!(of(&batch, &session()).last(), Some(&"RunFinished"));
    assert_eq!(batch.asks()[..2], ["stop calling t1.s1.a1", "stop calling t1.s1.a1"]);
    assert_eq!(rig.outcome(call_id(1, 1, 1)).0, ToolStatus::Cancelled);
    assert!(rig.is_idle());
    rig.everything_has_ended();
}

#[test]
fn what_starts_and_is_cancelled_in_one_batch_never_starts() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    let attempt = rig.attempt();
    let call = words::called(0, LOOK.0, LOOK.1).into_iter().chain([stop()]);
    let said = call.map(|event| words::to(&session(), Input::Model { attempt, event }));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let batch = rig.batch(said.chain([stop]).collect());
    assert!(batch.asks().iter().all(|ask| !ask.starts_with("call")), "{:?}", batch.asks());
    assert!(rig.is_idle());
}

#[test]
fn a_cancel_waits_for_the_tools_of_sub_agents_too() {
    let (mut rig, _) = calling(&[LOOK]);
    let call = runs_its_tool(&mut rig, &child(1));
    let batch = rig.cancel();
    assert_eq!(batch.asks()[0], "stop running t1.s1.c1");
    assert!(rig.ended("p").is_none());
    let ended = words::outcome(ToolStatus::Cancelled, "stopped");
    let batch = rig.batch(vec![words::to(&child(1), Input::ToolFinished { call, outcome: ended })]);
    assert_eq!(of(&batch, &session()).last(), Some(&"RunFinished"));
    assert!(rig.is_idle());
}

#[test]
fn a_tool_of_a_sub_agent_that_does_not_stop_is_given_up_and_then_the_run_ends() {
    let (mut rig, _) = calling(&[LOOK]);
    runs_its_tool(&mut rig, &child(1));
    rig.cancel();
    rig.wait(3_000);
    assert_eq!(rig.end("p").status, RunStatus::Cancelled);
    let kinds: Vec<_> = rig.log.iter().rev().take(3).map(|entry| entry.record.kind()).collect();
    assert!(kinds.contains(&"RunFinished"));
    let sub = rig.log.iter().filter(|entry| matches!(entry.record, Record::SubAgentFinished { .. }));
    assert_eq!(sub.count(), 1, "it ended before the run that it was part of");
    assert!(rig.is_idle());
}

#[test]
fn one_sub_agent_can_be_stopped_and_the_run_goes_on() {
    let (mut rig, _) = calling(&[LOOK]);
    rig.asks_for(cancel(&child(1), CancelScope::Session));
    assert_eq!(rig.outcome(call_id(1, 1, 1)).0, ToolStatus::Cancelled);
    rig.answer("Then not.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn a_sub_agents_session_takes_no_prompts() {
    let (mut rig, _) = calling(&[LOOK]);
    let (id, _) = rig.asks_for(words::submit(&child(1), prompt("q", "You too.")));
    assert!(matches!(rig.reply(id), Reply::Refused(refusal) if refusal.kind == RefusalKind::Invalid));
}

#[test]
fn after_a_crash_sub_agents_end_first_and_what_they_used_counts() {
    let (mut rig, _) = calling(&[LOOK, LOOK]);
    let (child, attempt) = (child(1), rig.attempt_in(&child(1)));
    rig.batch(vec![words::to(&child, Input::Model { attempt, event: used(9, 9) })]);
    calls(&mut rig, &child, "ls", "{}");
    rig.crash();
    let (_, open) = rig.request(words::submit(&session(), prompt("q", "Go on.")));
    rig.batch(vec![open]);
    let batch = rig.open(&session());
    let sessions: Vec<_> = batch.entries.iter().map(|entry| entry.session.is_child()).collect();
    let first_own = sessions.iter().position(|child| !child).unwrap();
    assert!(first_own > 0 && sessions[..first_own].iter().all(|child| *child));
    assert_eq!(rig.turns().last(), Some(&&TurnOutcome::Interrupted));
    let end = rig.end("p");
    assert_eq!((end.reason, end.totals.usage.output), (Reason::Interrupted, 9));
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Interrupted);
}

#[test]
fn a_sub_agent_may_cost_what_is_left_of_what_its_run_may() {
    let mut rig = Rig::new();
    let prices = Some(Box::new(Prices { input: 1_000_000, ..Prices::default() }));
    let mut asked = prompt("p", "Do it.");
    asked.terms.max_cost = Some(100);
    rig.submit(asked);
    rig.prepared_with("p", Ok(Preparation { prices, ..words::preparation() }));
    let [call, input] = words::called(0, LOOK.0, LOOK.1);
    rig.stream(vec![call, input, used(70, 0), stop()]);
    let open = rig.durable(&child(1)).open.values().next().unwrap();
    assert_eq!(open.prompt.terms.max_cost, Some(30));
    answers(&mut rig, &child(1), "All is well.");
    assert_eq!((rig.end("p").reason, rig.end("p").totals.cost), (Reason::MaxCost, Some(100)));
}

#[test]
fn nobody_goes_on_with_a_sub_agents_conversation_so_that_it_is_not_summed_up_for_later() {
    let mut rig = Rig::serving();
    rig.submit(prompt("p", "Do it."));
    rig.prepared_with("p", Ok(Preparation { context_window: Some(1_000), ..words::preparation() }));
    rig.call(&[LOOK]);
    let (child, attempt) = (child(1), rig.attempt_in(&child(1)));
    let events = [text(0, "All is well."), used(950, 7), stop()];
    rig.batch(events.map(|event| words::to(&child, Input::Model { attempt, event })).to_vec());
    assert_eq!(rig.outcome(call_id(1, 1, 1)).1, "All is well.");
    assert!(!rig.is_open(&child));
}
