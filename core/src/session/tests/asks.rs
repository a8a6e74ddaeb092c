//! Permission: who is asked, what an answer does, and what becomes of what is not answered.

use crate::content::ToolStatus;
use crate::ids::{ClientId, MessageId, SessionId};
use crate::prompt::{PermissionMode, Prompt, Terms};
use crate::protocol::{Answer, AskId, Breadth, Command, Reply};
use crate::record::{CancelScope, Record, RunStatus, TurnOutcome};
use crate::rig::words::{self, call_id, called, cancel, prompt, reading, session, stop};
use crate::rig::{Batch, Rig};
use crate::session::Input;
use crate::tools::Intent;

const VIEW: (&str, &str) = ("view", r#"{"file_path":"/etc/a"}"#);
const BASH: (&str, &str) = ("bash", r#"{"command":"git status"}"#);

fn watched(id: &str) -> Prompt {
    let asked = prompt(id, "Do it.");
    Prompt { terms: Terms { permission: PermissionMode::Interactive, ..asked.terms.clone() }, ..asked }
}

fn calling(calls: &[(&str, &str)]) -> Rig {
    let mut rig = Rig::new();
    rig.begin(watched("p"));
    rig.call(calls);
    rig
}

fn command(words: &[&str]) -> Intent {
    let words = words.iter().map(|word| (*word).into()).collect();
    Intent { commands: vec![words], complete: true, root: "/w".into(), ..Intent::default() }
}

fn ask(call: u32) -> AskId {
    AskId { session: session(), call: call_id(1, 1, call) }
}

/// Answers, and says whether that counted.
fn answer_as(rig: &mut Rig, client: &str, ask: AskId, answer: Answer) -> (bool, Batch) {
    let client = ClientId::new(client);
    let (id, batch) = rig.asks_for(Command::Answer { session: session(), ask, answer, client });
    match rig.reply(id) {
        Reply::Answered { resolved } => (*resolved, batch),
        other => panic!("{other:?}"),
    }
}

fn answer(rig: &mut Rig, ask: AskId, answer: Answer) -> Batch {
    let (resolved, batch) = answer_as(rig, "me", ask, answer);
    assert!(resolved);
    batch
}

fn asked(rig: &Rig) -> Vec<AskId> {
    rig.durable(&session()).asks.iter().map(|asked| asked.id.clone()).collect()
}

#[test]
fn a_call_that_needs_permission_waits_for_it_and_then_runs() {
    let mut rig = calling(&[VIEW]);
    let batch = rig.inspected_as(1, reading(false));
    assert_eq!((batch.kinds(), batch.asks()), (vec!["PermissionAsked"], vec![]));
    assert_eq!(asked(&rig), [ask(1)]);
    rig.wait(86_400_000);
    let batch = answer(&mut rig, ask(1), Answer::Once);
    assert_eq!(batch.kinds(), ["PermissionDecided", "ToolCallStarted"]);
    assert_eq!(batch.asks()[0], "run t1.s1.c1");
    assert!(asked(&rig).is_empty());
    assert_eq!(rig.done(1, "seen").asks(), ["call t1.s2.a1"]);
}

#[test]
fn only_the_first_answer_counts() {
    let mut rig = calling(&[VIEW]);
    rig.inspected_as(1, reading(false));
    let (first, second) = (Answer::Once, Answer::Deny);
    assert!(answer_as(&mut rig, "a", ask(1), first).0);
    let (resolved, batch) = answer_as(&mut rig, "b", ask(1), second);
    assert!(!resolved && batch.entries.is_empty());
    let by = rig.log.iter().find_map(|entry| match &entry.record {
        Record::PermissionDecided { by, person: true, .. } => Some(by.as_str()),
        _ => None,
    });
    assert_eq!(by, Some("a"));
    assert!(!answer_as(&mut rig, "a", ask(9), Answer::Once).0, "there is no such call");
}

#[test]
fn a_persons_no_ends_the_turn_and_nothing_of_it_starts_any_more() {
    let mut rig = calling(&[VIEW, VIEW, BASH]);
    rig.inspected(1);
    rig.inspected_as(2, reading(false));
    let batch = answer(&mut rig, ask(2), Answer::Deny);
    assert!(batch.asks().iter().all(|ask| ask.starts_with("reply")), "{:?}", batch.asks());
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Denied);
    assert_eq!(rig.outcome(call_id(1, 1, 3)).0, ToolStatus::NotReached);
    assert!(rig.ended("p").is_none(), "what runs is waited for");
    rig.done(1, "seen");
    assert_eq!(rig.turns(), [&TurnOutcome::DeniedByPerson]);
    assert_eq!(rig.end("p").status, RunStatus::Denied);
    assert_eq!(rig.outcome(call_id(1, 1, 1)).0, ToolStatus::Ok);
}

#[test]
fn what_was_queued_begins_after_a_no() {
    let mut rig = calling(&[VIEW]);
    rig.enter(words::run("q", "Then this."));
    rig.inspected_as(1, reading(false));
    answer(&mut rig, ask(1), Answer::Deny);
    assert_eq!(rig.begun(), ["p", "q"]);
}

#[test]
fn a_grant_for_the_session_answers_what_else_waits_and_what_comes_later() {
    let mut rig = calling(&[VIEW, VIEW]);
    rig.inspected_as(1, reading(false));
    rig.inspected_as(2, reading(false));
    assert_eq!(asked(&rig), [ask(1), ask(2)]);
    let batch = answer(&mut rig, ask(1), Answer::Session(Breadth::Exact));
    assert_eq!(batch.asks()[..2], ["run t1.s1.c1", "run t1.s1.c2"]);
    assert!(!batch.asks().contains(&"keep rules".to_string()));
    rig.done(1, "a");
    rig.done(2, "b");
    rig.stream(vec![crate::model::ModelEvent::Connected]);
    rig.call(&[VIEW]);
    assert_eq!(rig.inspected_as(1, reading(false)).asks(), ["run t1.s2.c1"]);
}

#[test]
fn once_is_once() {
    let mut rig = calling(&[VIEW, VIEW]);
    rig.inspected_as(1, reading(false));
    answer(&mut rig, ask(1), Answer::Once);
    assert_eq!(rig.inspected_as(2, reading(false)).kinds(), ["PermissionAsked"]);
}

#[test]
fn what_is_granted_for_always_is_kept_outside_and_holds_at_once() {
    let mut rig = calling(&[BASH, BASH]);
    rig.inspected_as(1, command(&["git", "status"]));
    let batch = answer(&mut rig, ask(1), Answer::Always(Breadth::Exact));
    assert!(batch.asks().contains(&"keep rules".to_string()));
    rig.done(1, "clean");
    assert_eq!(rig.inspected_as(2, command(&["git", "status", "-s"])).asks(), ["run t1.s1.c2"]);
}

#[test]
fn grants_outlive_the_process() {
    let mut rig = calling(&[VIEW]);
    rig.inspected_as(1, reading(false));
    answer(&mut rig, ask(1), Answer::Session(Breadth::Directory));
    rig.crash();
    rig.begin(watched("q"));
    rig.call(&[VIEW]);
    let call = rig.nth(1);
    let batch = rig.happens(Input::Inspected { call, intent: reading(false) });
    assert_eq!(batch.kinds(), ["ToolCallStarted"]);
}

#[test]
fn a_cancel_ends_the_wait_at_once() {
    let mut rig = calling(&[VIEW, VIEW]);
    rig.inspected_as(1, reading(false));
    let batch = rig.cancel();
    assert!(batch.kinds().contains(&"PermissionWithdrawn") && batch.kinds().ends_with(&["RunFinished"]));
    assert_eq!(rig.outcome(call_id(1, 1, 1)).0, ToolStatus::Cancelled);
    assert!(!answer_as(&mut rig, "me", ask(1), Answer::Once).0);
    assert!(rig.is_idle());
}

#[test]
fn what_nobody_answered_is_withdrawn_at_recovery() {
    let mut rig = calling(&[VIEW]);
    rig.inspected_as(1, reading(false));
    rig.crash();
    rig.submit(watched("q"));
    assert!(asked(&rig).is_empty());
    assert_eq!(rig.turns(), [&TurnOutcome::Interrupted]);
}

#[test]
fn another_session_is_not_held_up() {
    let mut rig = calling(&[VIEW]);
    rig.inspected_as(1, reading(false));
    let other = SessionId::new("other");
    rig.asks_for(words::submit(&other, watched("o")));
    let batch = rig.open(&other);
    assert_eq!(batch.asks()[0], "prepare o");
}

mod sub_agents {
    use super::*;

    fn child() -> SessionId {
        SessionId::child(&session(), MessageId(2), call_id(1, 1, 1))
    }

    fn theirs() -> AskId {
        AskId { session: child(), call: call_id(1, 1, 1) }
    }

    /// A sub-agent wants to read outside of the workspace.
    fn wanting() -> (Rig, Batch) {
        wanting_beside(&[VIEW])
    }

    /// The same, beside calls of the session that it works for.
    fn wanting_beside(own: &[(&str, &str)]) -> (Rig, Batch) {
        let mut rig = calling(&[&[("agent", r#"{"prompt":"Look."}"#)], own].concat());
        let attempt = rig.attempt_in(&child());
        let said = called(0, VIEW.0, VIEW.1).into_iter().chain([stop()]);
        let said = said.map(|event| words::to(&child(), Input::Model { attempt, event }));
        rig.batch(said.collect());
        let call = call_id(1, 1, 1);
        let batch = rig.batch(vec![words::to(&child(), Input::Inspected { call, intent: reading(false) })]);
        (rig, batch)
    }

    #[test]
    fn what_they_need_is_asked_in_the_session_that_they_work_for() {
        let (mut rig, batch) = wanting();
        assert_eq!(batch.entries.len(), 1);
        assert_eq!((&batch.entries[0].session, batch.kinds()[0]), (&session(), "PermissionAsked"));
        assert_eq!(asked(&rig), [theirs()]);
        let batch = answer(&mut rig, theirs(), Answer::Once);
        let told: Vec<_> =
            batch.entries.iter().map(|entry| (entry.session.is_child(), entry.record.kind())).collect();
        assert_eq!(
            told,
            [(false, "PermissionDecided"), (true, "PermissionDecided"), (true, "ToolCallStarted")]
        );
    }

    #[test]
    fn what_is_granted_for_the_session_is_kept_where_it_was_asked_for() {
        let (mut rig, _) = wanting();
        let batch = answer(&mut rig, theirs(), Answer::Session(Breadth::Exact));
        let granted = batch.entries.iter().filter_map(|entry| match &entry.record {
            crate::record::Record::PermissionDecided { grants, .. } => {
                Some((entry.session.is_child(), grants.is_empty()))
            }
            _ => None,
        });
        assert_eq!(granted.collect::<Vec<_>>(), [(false, false), (true, true)]);
    }

    #[test]
    fn what_was_granted_to_the_session_holds_for_them() {
        let mut rig = calling(&[VIEW]);
        rig.inspected_as(1, reading(false));
        answer(&mut rig, ask(1), Answer::Session(Breadth::Exact));
        rig.done(1, "seen");
        rig.call(&[("agent", r#"{"prompt":"Look."}"#)]);
        let child = SessionId::child(&session(), MessageId(3), call_id(1, 2, 1));
        let attempt = rig.attempt_in(&child);
        let said = called(0, VIEW.0, VIEW.1).into_iter().chain([stop()]);
        rig.batch(said.map(|event| words::to(&child, Input::Model { attempt, event })).collect());
        let input = Input::Inspected { call: call_id(1, 1, 1), intent: reading(false) };
        let batch = rig.batch(vec![words::to(&child, input)]);
        assert_eq!(batch.asks(), ["run t1.s1.c1"]);
    }

    #[test]
    fn a_no_ends_them_and_the_turn_that_they_work_for() {
        let (mut rig, _) = wanting();
        answer(&mut rig, theirs(), Answer::Deny);
        assert!(!rig.is_open(&child()));
        assert_eq!(rig.end("p").status, RunStatus::Denied);
        assert_eq!(rig.turns(), [&TurnOutcome::DeniedByPerson; 2]);
        assert!(rig.is_idle());
    }

    #[test]
    fn a_no_to_another_call_stops_them() {
        let (mut rig, _) = wanting();
        rig.inspected_as(2, reading(false));
        answer(&mut rig, ask(2), Answer::Deny);
        assert_eq!(rig.end("p").status, RunStatus::Denied);
        assert!(rig.is_idle() && asked(&rig).is_empty());
    }

    #[test]
    fn when_one_is_stopped_nobody_is_asked_for_it_any_more() {
        let (mut rig, _) = wanting();
        rig.inspected_as(2, reading(true));
        rig.asks_for(cancel(&child(), CancelScope::Session));
        assert!(asked(&rig).is_empty());
        assert!(!answer_as(&mut rig, "me", theirs(), Answer::Once).0);
    }

    #[test]
    fn a_grant_answers_what_was_asked_beside_one_that_is_stopped() {
        let (mut rig, _) = wanting_beside(&[VIEW, VIEW]);
        rig.inspected_as(2, reading(false));
        rig.inspected_as(3, reading(false));
        rig.asks_for(cancel(&child(), CancelScope::Session));
        assert_eq!(asked(&rig), [ask(2), ask(3)]);
        let batch = answer(&mut rig, ask(2), Answer::Session(Breadth::Exact));
        assert!(asked(&rig).is_empty(), "both are answered");
        assert_eq!(batch.kinds().iter().filter(|kind| **kind == "ToolCallStarted").count(), 2);
    }

    #[test]
    fn a_cancel_of_the_session_ends_their_wait_in_the_same_commit() {
        let (mut rig, _) = wanting();
        let batch = rig.cancel();
        assert!(batch.kinds().contains(&"PermissionWithdrawn"));
        assert!(rig.is_idle());
        rig.everything_has_ended();
    }
}
