//! What a session is called, and who says so.

use crate::ids::{RequestId, SessionId};
use crate::model::{CallErrorKind, FinishReason, ModelEvent, Preparation, Prices};
use crate::prompt::{Prompt, Terms};
use crate::protocol::{Command, Holder, RefusalKind, Reply};
use crate::rig::words::{self, broken, prompt, session, stop, text, used};
use crate::rig::{Batch, Rig};
use crate::session::Input;
use crate::time::Timestamp;
use crate::workspace;

fn titled(id: &str) -> Prompt {
    let asked = prompt(id, "Tidy the house.");
    Prompt { terms: Terms { title: true, ..asked.terms.clone() }, ..asked }
}

fn said(rig: &mut Rig, events: Vec<ModelEvent>) -> Batch {
    let input = |event| words::to(&session(), Input::Title { event });
    rig.batch(events.into_iter().map(input).collect())
}

fn title(rig: &Rig) -> &str {
    &rig.durable(&session()).title
}

fn rename(rig: &mut Rig, title: &str) -> (RequestId, Batch) {
    rig.asks_for(Command::Rename { session: session(), title: title.into() })
}

#[test]
fn a_model_names_a_new_session_beside_its_first_turn() {
    let mut rig = Rig::new();
    let batch = rig.enter(titled("p"));
    assert_eq!(batch.asks()[..2], ["make a title", "call t1.s1.a1"]);
    assert_eq!(title(&rig), "Tidy the house.");
    said(&mut rig, vec![ModelEvent::Connected, text(0, "\n**House "), text(0, "tidying.**\nMore"), stop()]);
    assert_eq!(title(&rig), "House tidying");
    rig.answer("Tidy.");
    let batch = rig.enter(titled("q"));
    assert!(!batch.asks().contains(&"make a title".to_string()), "only the first prompt is a name");
}

#[test]
fn the_request_for_a_title_quotes_the_first_prompt_as_long_as_one_is_waited_for() {
    let mut rig = Rig::new();
    let request = |rig: &Rig| rig.workspace().title_request(&session());
    assert_eq!(request(&rig), None);
    rig.enter(titled("p"));
    let asked = serde_json::to_string(&request(&rig)).unwrap_or_default();
    assert!(asked.contains("Tidy the house."), "{asked}");
    let until = rig.workspace().deadline_of(&session());
    assert!(until.is_some() && until == rig.deadline(), "{until:?}");
    said(&mut rig, vec![text(0, "House"), stop()]);
    assert_eq!(request(&rig), None);
}

#[test]
fn nobody_who_does_not_want_one_pays_for_one() {
    let mut rig = Rig::new();
    assert_eq!(rig.enter(prompt("p", "Tidy.")).asks()[0], "call t1.s1.a1");
}

#[test]
fn a_title_that_comes_after_the_turn_is_waited_for_and_then_the_session_is_let_go() {
    let mut rig = Rig::new();
    rig.enter(titled("p"));
    rig.answer("Tidy.");
    assert!(rig.is_open(&session()));
    let batch = said(&mut rig, vec![text(0, "<think>hm</think>House"), stop()]);
    assert_eq!((title(&rig), batch.asks().last().map(String::as_str)), ("House", Some("close s")));
}

#[test]
fn what_comes_to_nothing_changes_nothing_and_is_not_waited_for_forever() {
    let nothing = [
        vec![stop()],
        vec![text(0, " \"\" "), stop()],
        vec![text(0, "Cut"), ModelEvent::Finished(FinishReason::Length)],
        vec![ModelEvent::Failed(broken(CallErrorKind::Transport))],
    ];
    for events in nothing {
        let mut rig = Rig::new();
        rig.enter(titled("p"));
        assert!(said(&mut rig, events.clone()).entries.is_empty(), "{events:?}");
        assert_eq!(title(&rig), "Tidy the house.");
    }
    let mut rig = Rig::new();
    rig.enter(titled("p"));
    rig.answer("Tidy.");
    let batch = rig.tick();
    assert_eq!(batch.asks(), ["stop making a title", "close s"]);
}

#[test]
fn a_persons_title_is_never_replaced_and_what_the_models_cost_counts() {
    let mut rig = Rig::new();
    rig.submit(titled("p"));
    let prices = Some(Box::new(Prices { input: 1_000_000, ..Prices::default() }));
    rig.prepared_with("p", Ok(Preparation { prices, ..words::preparation() }));
    let (id, _) = rename(&mut rig, "  Mine\u{7}  ");
    assert_eq!(rig.reply(id), &Reply::Renamed);
    said(&mut rig, vec![text(0, "House"), used(7, 1), stop()]);
    assert_eq!(title(&rig), "Mine");
    let totals = rig.durable(&session()).totals;
    assert_eq!((totals.usage.input, totals.cost), (7, Some(7)));
}

#[test]
fn a_session_that_is_not_in_use_is_opened_to_be_renamed() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Tidy."));
    rig.answer("Tidy.");
    let (id, batch) = rename(&mut rig, "Mine");
    assert_eq!(batch.asks(), ["open s"]);
    let batch = rig.open(&session());
    assert_eq!((rig.reply(id), title(&rig)), (&Reply::Renamed, "Mine"));
    assert_eq!(batch.asks().last().map(String::as_str), Some("close s"));
}

#[test]
fn a_title_waits_for_no_other_process_and_for_no_session_that_is_not_there() {
    let mut rig = Rig::new();
    let (id, _) = rename(&mut rig, "Mine");
    let holder = Holder { pid: 7, since: Timestamp::from_millis(0) };
    let batch = rig.batch(vec![workspace::Input::SessionHeld { session: session(), holder }]);
    assert!(matches!(rig.reply(id), Reply::Refused(refusal) if refusal.kind == RefusalKind::Conflict));
    assert!(batch.asks().contains(&"stop opening s".to_string()) && rig.is_idle());
    let (id, _) = rig.asks_for(Command::Rename { session: SessionId::new("none"), title: "Mine".into() });
    rig.open(&SessionId::new("none"));
    assert!(matches!(rig.reply(id), Reply::Refused(refusal) if refusal.kind == RefusalKind::NotFound));
    assert!(rig.is_idle());
}

#[test]
fn a_title_without_letters_or_too_long_is_refused() {
    let mut rig = Rig::new();
    rig.enter(prompt("p", "Tidy."));
    for bad in ["", " \n ", &"x".repeat(201)] {
        let (id, batch) = rename(&mut rig, bad);
        assert!(matches!(rig.reply(id), Reply::Refused(refusal) if refusal.kind == RefusalKind::Invalid));
        assert!(batch.entries.is_empty());
    }
}

#[test]
fn a_model_that_goes_on_for_too_long_is_not_listened_to() {
    let mut rig = Rig::new();
    rig.enter(titled("p"));
    let thinks = format!("<think>{}", "x".repeat(4_000));
    said(&mut rig, vec![text(0, &thinks), text(0, "</think>House"), stop()]);
    assert_eq!(title(&rig), "Tidy the house.");
}
