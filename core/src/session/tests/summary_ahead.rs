//! A conversation that is too long when its run is over: the run ends first, and whether the conversation is summed up
//! then depends on whether somebody stays who will go on with it.

use crate::content::MessageBody;
use crate::model::{CallErrorKind, Item, Preparation, Prices};
use crate::prompt::{Prompt, Terms};
use crate::record::{Reason, Record, RunStatus, TurnOutcome};
use crate::rig::words::{broken, preparation, prompt, run, session, stop, text, used};
use crate::rig::{Batch, Rig};

fn small() -> Preparation {
    let prices = Prices { input: 1_000_000, ..Prices::default() };
    Preparation { context_window: Some(1_000), prices: Some(Box::new(prices)), ..preparation() }
}

fn staying(id: &str, text: &str) -> Prompt {
    let terms = Terms { stays: true, ..prompt(id, text).terms };
    Prompt { terms, ..prompt(id, text) }
}

/// A run fills the window and is complete.
fn fill(rig: &mut Rig, prompt: Prompt) -> Batch {
    let id = prompt.id.clone();
    rig.submit(prompt);
    rig.prepared_with(id.as_str(), Ok(small()));
    rig.stream(vec![text(0, "All is tidy."), used(900, 10), stop()])
}

/// The same, and the summary is under way.
fn summing_up() -> Rig {
    let mut rig = Rig::new();
    fill(&mut rig, staying("p", "Tidy the house."));
    assert!(rig.durable(&session()).turn.is_some());
    rig
}

fn said(rig: &Rig) -> String {
    let items = rig.asked.last().map(|(_, request)| request.items.clone()).unwrap_or_default();
    format!("{items:?}")
}

#[test]
fn the_run_ends_first_and_then_the_conversation_is_summed_up() {
    let mut rig = Rig::new();
    let batch = fill(&mut rig, staying("p", "Tidy the house."));
    let kinds = batch.kinds();
    let at = |kind| kinds.iter().position(|found| *found == kind);
    assert!(at("RunFinished") < at("SummaryStarted") && at("RunFinished").is_some(), "{kinds:?}");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    rig.stream(vec![text(0, "The house is tidy."), used(300, 7)]);
    let batch = rig.stream(vec![stop()]);
    assert!(batch.kinds().ends_with(&["SummaryFinished", "TurnFinished"]), "{:?}", batch.kinds());
    assert!(rig.is_idle(), "nothing else is done");
    rig.enter(prompt("q", "And now?"));
    assert!(
        said(&rig).contains("The house is tidy.") && !said(&rig).contains("Tidy the house."),
        "{}",
        said(&rig)
    );
    rig.answer("Rest.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn what_it_used_is_counted_with_the_session_and_with_no_run() {
    let mut rig = summing_up();
    rig.stream(vec![text(0, "The house is tidy."), used(300, 7), stop()]);
    let (run, all) = (rig.end("p").totals, rig.durable(&session()).totals);
    assert_eq!((run.usage.input, run.steps, run.cost), (900, 1, Some(900)));
    assert_eq!((all.usage.input, all.steps, all.cost), (1_200, 2, Some(1_200)));
    assert!(all.context < 100 && all.estimated, "{all:?}");
}

#[test]
fn how_long_the_conversation_is_that_was_not_summed_up_is_an_estimate() {
    let mut rig = summing_up();
    assert!(!rig.durable(&session()).totals.estimated);
    rig.cancel();
    assert!(rig.durable(&session()).totals.estimated);
}

#[test]
fn a_run_whose_client_goes_leaves_that_to_whoever_comes() {
    let mut rig = Rig::new();
    fill(&mut rig, prompt("p", "Tidy the house."));
    assert!(rig.is_idle() && rig.asked.len() == 1);
    let mut rig = Rig::serving();
    fill(&mut rig, prompt("p", "Tidy the house."));
    assert!(!rig.is_idle(), "a server stays");
}

#[test]
fn it_is_done_only_if_the_window_is_nearly_full_and_the_run_is_complete() {
    let mut rig = Rig::serving();
    rig.submit(staying("p", "Tidy the house."));
    rig.prepared_with("p", Ok(small()));
    rig.stream(vec![text(0, "All is tidy."), used(700, 10), stop()]);
    assert!(rig.is_idle());
    rig.submit(staying("q", "Once more."));
    rig.prepared_with("q", Ok(small()));
    rig.stream(vec![used(900, 10)]);
    rig.fail(broken(CallErrorKind::Protocol));
    assert!(rig.is_idle());
}

#[test]
fn what_waits_has_its_turn_instead() {
    let mut rig = Rig::new();
    rig.submit(staying("p", "Tidy the house."));
    rig.prepared_with("p", Ok(small()));
    rig.submit(run("q", "Then the cellar."));
    rig.prepared_with("q", Ok(small()));
    rig.stream(vec![text(0, "All is tidy."), used(900, 10), stop()]);
    assert_eq!(rig.begun(), ["p", "q"]);
    rig.answer("Summary.");
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_prompt_that_comes_meanwhile_waits_for_it_and_does_not_join_it() {
    let mut rig = summing_up();
    rig.submit(prompt("q", "The cellar too."));
    assert_eq!(rig.prepared_with("q", Ok(small())).kinds(), ["PromptQueued"]);
    rig.stream(vec![text(0, "The house is tidy."), stop()]);
    assert_eq!(rig.begun(), ["p", "q"]);
    assert!(said(&rig).contains("The cellar too.") && said(&rig).contains("The house is tidy."));
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_cancel_of_the_session_stops_it_at_once_and_keeps_the_conversation() {
    let mut rig = summing_up();
    rig.stream(vec![text(0, "The house")]);
    let batch = rig.cancel();
    assert!(batch.records().any(|record| matches!(record, Record::CancelAccepted { watermark: 1, .. })));
    assert_eq!(rig.turns().last(), Some(&&TurnOutcome::Cancelled(Reason::User)));
    assert!(rig.is_idle());
    let messages = &rig.durable(&session()).messages;
    assert_eq!(messages.len(), 2, "what was said of a summary that is none is left out: {messages:?}");
}

#[test]
fn a_cancel_of_the_run_that_is_over_does_not_concern_it() {
    let mut rig = summing_up();
    assert!(rig.cancel_run("p").0.is_empty() && rig.cancel_run("").0.is_empty());
    assert!(!rig.is_idle());
}

#[test]
fn a_cancel_covers_what_waits_behind_it() {
    let mut rig = summing_up();
    rig.enter(run("q", "The cellar."));
    assert_eq!(rig.cancel_run("run-q").0.len(), 1);
    assert!(!rig.is_idle(), "the summary is no part of that run");
    rig.enter(run("r", "The roof."));
    rig.cancel();
    assert_eq!((rig.end("q").reason, rig.end("r").reason), (Reason::Returned, Reason::Returned));
    assert!(rig.is_idle());
}

#[test]
fn a_summary_that_fails_leaves_a_session_that_goes_on() {
    let mut rig = summing_up();
    rig.fail(broken(CallErrorKind::Protocol));
    assert!(rig.is_idle());
    rig.submit(prompt("q", "And now?"));
    rig.prepared_with("q", Ok(small()));
    rig.answer("Summary.");
    rig.answer("Rest.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_crash_in_the_middle_of_it_costs_the_summary_and_nothing_else() {
    let mut rig = summing_up();
    rig.stream(vec![text(0, "The house")]);
    rig.submit(prompt("q", "The cellar too."));
    rig.crash();
    rig.enter(prompt("r", "And now?"));
    assert_eq!(rig.end("q").reason, Reason::Interrupted);
    let answers = rig.durable(&session()).messages.iter();
    let answers = answers.filter(|message| matches!(message.body, MessageBody::Assistant(_)));
    assert_eq!(answers.count(), 2, "the run's answer, and the one that is being asked for");
    let items = &rig.asked.last().expect("a model is asked").1.items;
    assert!(matches!(items.first(), Some(Item::User { text, .. }) if text.contains("Tidy the house.")));
}
