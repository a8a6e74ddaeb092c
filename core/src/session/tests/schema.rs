//! Answers that must satisfy a schema.

use crate::content::MessageBody;
use crate::model::{Item, Preparation};
use crate::prompt::{Delivery, PermissionMode, Prompt, Terms};
use crate::protocol::{RefusalKind, Reply};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::{self, prompt, run, session, stop, text};
use crate::rig::{Batch, Rig};
use crate::session::{Input, Verdict};
use crate::time::Deadline;

const SCHEMA: &str = r#"{"type":"object"}"#;

fn demanding(prompt: Prompt) -> Prompt {
    Prompt { terms: Terms { answer_schema: Some(SCHEMA.into()), ..prompt.terms.clone() }, ..prompt }
}

/// A run whose answer must satisfy a schema, with the provider listening.
fn begun() -> Rig {
    let mut rig = Rig::new();
    rig.begin(demanding(run("p", "Do it.")));
    rig
}

fn found(rig: &mut Rig, verdict: Verdict) -> Batch {
    let (_, step) = rig.flights.checks.first().expect("an answer is looked at").clone();
    rig.happens(Input::Checked { step, verdict })
}

fn violated(rig: &mut Rig) -> Batch {
    found(rig, Verdict::Violated("It is a list.".into()))
}

fn end(rig: &Rig) -> (RunStatus, Reason, Option<u64>) {
    let end = rig.end("p");
    (end.status, end.reason, end.answer.map(|answer| answer.0))
}

#[test]
fn an_answer_that_satisfies_it_ends_the_run() {
    let mut rig = begun();
    let batch = rig.answer("{}");
    assert_eq!(batch.asks(), ["check the answer of t1.s1"]);
    assert!(rig.ended("p").is_none());
    let looked_at = rig.answer_to_check();
    assert_eq!(looked_at, Some((SCHEMA.into(), "{}".into())));
    found(&mut rig, Verdict::Satisfied);
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed, Some(2)));
}

#[test]
fn the_model_is_told_of_the_schema_from_the_beginning_and_its_helpers_are_not() {
    let mut rig = begun();
    let system = rig.asked[0].1.system.clone();
    assert!(system.starts_with("You are tested.") && system.contains(SCHEMA), "{system}");
    rig.call(&[("agent", r#"{"prompt":"a task"}"#)]);
    rig.inspected(1);
    let child = rig.asked.last().expect("it is asked too").1.system.clone();
    assert!(!child.contains(SCHEMA), "{child}");
    let accepted = rig.log.iter().filter_map(|entry| match &entry.record {
        Record::PromptAccepted { prompt, .. } => Some(prompt.terms.answer_schema.is_some()),
        _ => None,
    });
    assert_eq!(accepted.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn what_follows_without_one_is_not_told_of_it() {
    let mut rig = begun();
    rig.answer("{}");
    found(&mut rig, Verdict::Satisfied);
    rig.begin(run("q", "And now in words."));
    let system = &rig.asked.last().expect("the model is asked").1.system;
    assert_eq!(system, "You are tested.");
    rig.answer("In words.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn an_answer_that_does_not_is_asked_for_again_and_the_model_is_told_why() {
    let mut rig = begun();
    rig.answer("[]");
    let batch = violated(&mut rig);
    assert_eq!(batch.kinds(), ["AnswerRefused", "StepStarted", "AttemptStarted"]);
    assert_eq!(batch.asks(), ["call t1.s2.a1"]);
    let last = rig.durable(&session()).messages.iter().rev().nth(1).expect("the model is told");
    let MessageBody::User(told) = &last.body else { panic!("{last:?}") };
    assert!(told.text.contains("It is a list."), "{}", told.text);
    rig.answer("{}");
    found(&mut rig, Verdict::Satisfied);
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed, Some(4)));
    assert_eq!((rig.end("p").totals.steps, rig.end("p").totals.attempts), (2, 2));
    assert_eq!(rig.turns().len(), 1);
}

#[test]
fn it_is_asked_for_twice_more_at_the_most() {
    let mut rig = begun();
    for _ in 0..2 {
        rig.answer("[]");
        violated(&mut rig);
        assert!(rig.ended("p").is_none());
    }
    rig.answer("[]");
    violated(&mut rig);
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Schema, None));
    assert!(rig.end("p").message.ends_with("It is a list."), "{}", rig.end("p").message);
    assert_eq!(rig.end("p").totals.steps, 3);
}

#[test]
fn tools_may_be_called_in_between_and_what_is_said_with_them_is_no_answer() {
    let mut rig = begun();
    rig.stream(vec![text(0, "Let me look."), words::called(1, "ls", "{}")[0].clone(), stop()]);
    rig.run_tool(1, "a");
    rig.answer("[]");
    violated(&mut rig);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.answer("{}");
    found(&mut rig, Verdict::Satisfied);
    let (status, _, answer) = end(&rig);
    let answer = rig.durable(&session()).answer(crate::ids::MessageId(answer.unwrap_or_default()));
    assert_eq!((status, answer.map(|answer| answer.text())), (RunStatus::Ok, Some("{}".into())));
}

#[test]
fn denials_before_and_after_an_answer_that_will_not_do_are_not_in_a_row() {
    let mut rig = Rig::new();
    let terms = Terms { permission: PermissionMode::Headless, ..demanding(run("p", "")).terms };
    rig.begin(Prompt { terms, ..run("p", "Do it.") });
    let denied = |rig: &mut Rig| {
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    };
    denied(&mut rig);
    denied(&mut rig);
    rig.answer("[]");
    violated(&mut rig);
    denied(&mut rig);
    denied(&mut rig);
    assert!(rig.ended("p").is_none(), "{:?}", rig.end("p"));
    denied(&mut rig);
    assert_eq!(end(&rig), (RunStatus::Denied, Reason::Denied, None));
}

#[test]
fn an_answer_without_words_is_none() {
    let mut rig = begun();
    let batch = rig.stream(vec![stop()]);
    assert_eq!(batch.kinds().iter().filter(|kind| **kind == "AnswerRefused").count(), 1);
    rig.answer("[]");
    violated(&mut rig);
    // What was said before was refused, and does not count again.
    let batch = rig.stream(vec![stop()]);
    assert!(batch.kinds().contains(&"RunFinished"));
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Schema, None));
}

#[test]
fn what_joins_beside_a_refusal_stands_where_it_came() {
    let mut rig = begun();
    rig.enter(prompt("q", "And this."));
    rig.answer("[]");
    violated(&mut rig);
    let items = &rig.asked.last().expect("it is asked again").1.items;
    let [Item::User { .. }, Item::Assistant { .. }, Item::User { text, .. }] = items.as_slice() else {
        panic!("{items:?}")
    };
    assert!(text.contains("It is a list.") && text.ends_with("And this."), "{text}");
}

#[test]
fn what_cannot_be_told_ends_the_run_at_once() {
    let mut rig = begun();
    rig.answer("{}");
    found(&mut rig, Verdict::Undecided("The schema is broken.".into()));
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Schema, None));
    assert_eq!(rig.end("p").message, "The schema is broken.");
}

#[test]
fn looking_at_an_answer_has_a_bound() {
    let mut rig = begun();
    rig.answer("{}");
    assert_eq!(rig.deadline().map(|(_, what)| what), Some(Deadline::Check));
    let batch = rig.tick();
    assert!(batch.asks().contains(&"stop checking the answer of t1.s1".into()), "{:?}", batch.asks());
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Schema, None));
}

#[test]
fn repairs_are_steps_like_others() {
    let mut rig = Rig::new();
    let mut asked = demanding(run("p", "Do it."));
    asked.terms.max_steps = 1;
    rig.begin(asked);
    rig.answer("[]");
    let batch = violated(&mut rig);
    assert_eq!(batch.kinds(), ["AnswerRefused", "TurnFinished", "RunFinished"]);
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::MaxSteps, None));
    rig.begin(run("q", "Go on."));
    rig.answer("All right.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_cancel_ends_it_whether_the_answer_is_looked_at_or_asked_for_again() {
    let mut rig = begun();
    rig.answer("{}");
    let batch = rig.cancel();
    assert!(batch.asks().contains(&"stop checking the answer of t1.s1".into()), "{:?}", batch.asks());
    assert_eq!(end(&rig), (RunStatus::Cancelled, Reason::User, None));
    let step = crate::ids::StepId { turn: crate::ids::TurnId(1), step: 1 };
    assert!(rig.happens(Input::Checked { step, verdict: Verdict::Satisfied }).entries.is_empty());

    let mut rig = begun();
    rig.answer("[]");
    violated(&mut rig);
    rig.stream(vec![text(0, "{")]);
    rig.cancel();
    assert_eq!(end(&rig), (RunStatus::Cancelled, Reason::User, None));
}

#[test]
fn a_cancel_in_the_same_batch_takes_the_look_back() {
    let mut rig = begun();
    let attempt = rig.attempt();
    let said = [text(0, "{}"), stop()];
    let said = said.map(|event| words::to(&session(), Input::Model { attempt, event }));
    let (_, cancel) = rig.request(words::cancel(&session(), crate::record::CancelScope::Session));
    let batch = rig.batch(said.into_iter().chain([cancel]).collect());
    let asks = batch.asks();
    assert!(asks.iter().all(|ask| !ask.contains("check")), "{asks:?}");
    assert_eq!(end(&rig), (RunStatus::Cancelled, Reason::User, None));
}

#[test]
fn a_process_that_ends_meanwhile_leaves_no_answer() {
    let mut rig = begun();
    rig.answer("[]");
    violated(&mut rig);
    rig.answer("{}");
    rig.crash();
    rig.begin(run("q", "Go on."));
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Interrupted, None));
    rig.answer("All right.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_summary_in_between_makes_no_difference_to_how_often() {
    let mut rig = Rig::new();
    rig.submit(demanding(run("p", "Do it.")));
    rig.prepared_with("p", Ok(Preparation { context_window: Some(1_000), ..words::preparation() }));
    rig.answer("[]");
    violated(&mut rig);
    rig.stream(vec![words::used(900, 1), text(0, "[]"), stop()]);
    violated(&mut rig);
    rig.answer("A summary.");
    let system = rig.asked.last().expect("it goes on").1.system.clone();
    assert!(system.contains(SCHEMA), "{system}");
    rig.answer("[]");
    violated(&mut rig);
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Schema, None));
}

#[test]
fn such_a_prompt_has_a_turn_of_its_own() {
    let mut rig = Rig::new();
    rig.begin(prompt("a", "First."));
    rig.enter(demanding(prompt("p", "Do it.")));
    rig.answer("Done.");
    assert_eq!(rig.begun(), ["a", "p"]);
    let mut joining = demanding(prompt("q", "More."));
    joining.terms.delivery = Delivery::Fold;
    let (id, _) = rig.submit(joining);
    assert!(matches!(rig.reply(id), Reply::Refused(refusal) if refusal.kind == RefusalKind::Invalid));
}
