//! What sessions are called: by their first prompt, by a model, by people.

use hostler_core::prompt::{Prompt, Terms};
use hostler_core::protocol::{Command, Refusal, RefusalKind, Reply};
use hostler_core::record::{Record, RunStatus, TitleSource};
use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, StrictProvider};

use crate::client::Client;
use crate::desk::Desk;
use crate::{prompt, session, split};

fn titled(id: &str, text: &str) -> Prompt {
    let prompt = prompt(id, text);
    Prompt { terms: Terms { title: true, ..prompt.terms }, ..prompt }
}

async fn renames(client: &Client, id: &str, title: &str) -> Result<(), Refusal> {
    match client.command(Command::Rename { session: session(id), title: title.to_owned() }).await {
        Reply::Renamed => Ok(()),
        Reply::Refused(refusal) => Err(refusal),
        other => panic!("{other:?}"),
    }
}

/// Waits until the session is called so, and says who said so.
async fn is_called(client: &mut Client, title: &str) -> TitleSource {
    let called =
        |record: &Record| matches!(record, Record::TitleChanged { title: said, .. } if said == title);
    match client.sees(&format!("it is called {title}"), called).await.record {
        Record::TitleChanged { by, .. } => by,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_model_names_a_session_beside_its_first_turn() {
    let gate = Gate::new();
    let name = Answer::say("**Tidy").text(" house**\n").usage(7, 3);
    let provider = split([Answer::say("Tidy.").gate(&gate), Answer::say("Still tidy.")], [name]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", titled("p", "Tidy the house.")).await;
    assert_eq!(is_called(&mut me, "Tidy house").await, TitleSource::Model, "the turn is still under way");
    assert!(gate.wait_reached(PATIENCE));
    gate.open();
    assert_eq!(me.end("p").await.totals.usage.input, 100, "it is not part of the run");
    let info = me.info("s").await;
    assert_eq!((info.title.as_str(), info.totals.usage.input), ("Tidy house", 107));
    me.submits("s", titled("q", "Again.")).await;
    me.end("q").await;
    assert_eq!(provider.requests().len(), 3, "a session is named once");
    desk.close().await;
}

#[tokio::test]
async fn a_title_that_comes_to_nothing_or_late_harms_nothing() {
    let provider = split([Answer::say("Tidy.")], [Answer::error(400, "No.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", titled("p", "Tidy the house.")).await;
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    assert_eq!(me.info("s").await.title, "Tidy the house.");
    desk.close().await;

    let gate = Gate::new();
    let provider =
        split([Answer::say("Tidy."), Answer::say("Yes.")], [Answer::say("Tidy house").gate(&gate)]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", titled("p", "Tidy the house.")).await;
    assert_eq!(me.end("p").await.status, RunStatus::Ok, "the turn does not wait for it");
    assert!(gate.wait_reached(PATIENCE));
    me.submits("s", prompt("q", "Really?")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok, "nor does the next one");
    gate.open();
    is_called(&mut me, "Tidy house").await;
    desk.close().await;
}

#[tokio::test]
async fn what_a_person_says_is_said_for_good() {
    let (gate, late) = (Gate::new(), Gate::new());
    let provider =
        split([Answer::say("Tidy.").gate(&gate)], [Answer::say("Tidy house").usage(7, 3).gate(&late)]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", titled("p", "Tidy the house.")).await;
    assert!(gate.wait_reached(PATIENCE) && late.wait_reached(PATIENCE));
    assert_eq!(renames(&me, "s", " Mine\u{1b}[2J ").await, Ok(()));
    assert_eq!(is_called(&mut me, "Mine[2J").await, TitleSource::Person);
    late.open();
    gate.open();
    me.end("p").await;
    let counted = |record: &Record| matches!(record, Record::TitleChanged { usage, .. } if usage.input == 7);
    me.sees("what the model used is counted", counted).await;
    assert_eq!(me.info("s").await.title, "Mine[2J");
    assert_eq!(renames(&me, "s", "Another").await, Ok(()), "also while nothing is under way");
    assert_eq!(me.info("s").await.title, "Another");
    for bad in ["", " \n", &"x".repeat(201)] {
        assert_eq!(renames(&me, "s", bad).await.unwrap_err().kind, RefusalKind::Invalid);
    }
    assert_eq!(renames(&me, "none", "Mine").await.unwrap_err().kind, RefusalKind::NotFound);
    desk.close().await;
}

#[tokio::test]
async fn a_session_that_another_process_has_is_renamed_there_or_later() {
    let gate = Gate::new();
    let provider = StrictProvider::start([Answer::say("Tidy.").gate(&gate), Answer::say("Yes.")]);
    let desk = Desk::open(&provider);
    let other = desk.another();
    let (mut me, mut you) = (desk.client("me").await, other.client("you").await);
    me.begins("s", prompt("p", "Tidy the house.")).await;
    assert!(gate.wait_reached(PATIENCE));
    let refusal = renames(&you, "s", "Yours").await.unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Conflict);
    assert!(refusal.message.contains(&std::process::id().to_string()), "{refusal}");
    assert_eq!(renames(&me, "s", "Mine").await, Ok(()));
    gate.open();
    me.end("p").await;
    // The lock is given back after the end is told.
    while renames(&you, "s", "Yours").await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(is_called(&mut you, "Yours").await, TitleSource::Person);
    assert_eq!(me.info("s").await.title, "Yours");
    me.submits("s", prompt("q", "Is it?")).await;
    me.end("q").await;
    assert_eq!(me.info("s").await.title, "Yours", "whoever has it next knows");
    other.close().await;
    desk.close().await;
}
