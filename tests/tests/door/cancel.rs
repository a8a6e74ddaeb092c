//! Cancels through the door: what they cover ends at once, and nothing else does.

use std::fs::File;
use std::io::Write;
use std::process::Command;

use hostler_core::ids::RunId;
use hostler_core::prompt::{Prompt, Terms};
use hostler_core::record::{CancelScope, Reason, Record, RunStatus};
use hostler_core::session::Settings;
use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::json;

use crate::desk::Desk;
use crate::{looks, prompt, run, session};

#[tokio::test]
async fn a_cancel_of_a_session_covers_all_that_it_has_accepted_and_nothing_later() {
    let gate = Gate::new();
    let answers = [looks(), Answer::say("Half").gate(&gate).stall(), Answer::say("Here.")];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    gate.open();
    assert!(gate.wait_reached(PATIENCE));
    me.sees("it is answered", |record| matches!(record, Record::TextAppended { text, .. } if text == "Half"))
        .await;
    me.queues("s", prompt("q", "Second.")).await;
    me.queues("s", run("r", "Third.")).await;
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p", "q", "r"]);
    me.submits("s", prompt("later", "Still there?")).await;
    for (id, reason) in [("p", Reason::User), ("q", Reason::Returned), ("r", Reason::Returned)] {
        let end = me.end(id).await;
        assert_eq!((end.status, end.reason), (RunStatus::Cancelled, reason), "{id}");
    }
    assert_eq!(me.end("later").await.status, RunStatus::Ok);
    let asked = provider.completions();
    assert!(asked[2].text.contains("Half") && asked[2].text.contains("The user cancelled this turn"));
    assert!(!asked[2].text.contains("Second.") && !asked[2].text.contains("Third."));
    assert!(provider.wait_for_hang_ups(1, PATIENCE), "the request is given up");
    assert_eq!(me.cancels("s", CancelScope::Session).await, [] as [String; 0], "there is nothing to cancel");
    desk.close().await;
}

#[tokio::test]
async fn a_cancel_of_one_run_leaves_the_others() {
    let gate = Gate::new();
    let answers = [looks().gate(&gate), Answer::say("One."), Answer::say("Three.")];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", run("q", "Second.")).await;
    me.queues("s", run("r", "Third.")).await;
    assert_eq!(me.cancels("s", CancelScope::Run(RunId::new("q"))).await, ["q"]);
    assert_eq!(me.cancels("s", CancelScope::Run(RunId::new("q"))).await, [] as [String; 0]);
    assert_eq!(me.end("q").await.reason, Reason::Returned);
    gate.open();
    assert_eq!((me.end("p").await.status, me.end("r").await.status), (RunStatus::Ok, RunStatus::Ok));
    desk.close().await;
}

#[tokio::test]
async fn when_the_run_under_way_is_cancelled_the_next_one_begins() {
    let gate = Gate::new();
    let provider = StrictProvider::start([Answer::say("Half").gate(&gate).stall(), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", run("q", "Second.")).await;
    assert_eq!(me.cancels("s", CancelScope::Run(RunId::new("p"))).await, ["p"]);
    assert_eq!((me.end("p").await.status, me.end("q").await.status), (RunStatus::Cancelled, RunStatus::Ok));
    gate.open();
    desk.close().await;
}

#[tokio::test]
async fn what_joined_a_turn_ends_with_it() {
    let gate = Gate::new();
    let second = Gate::new();
    let answers = [looks().gate(&gate), Answer::say("Half").gate(&second).stall()];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "And this.")).await;
    gate.open();
    assert!(second.wait_reached(PATIENCE));
    assert_eq!(me.cancels("s", CancelScope::Run(RunId::new("p"))).await, ["p", "q"]);
    assert_eq!((me.end("p").await.reason, me.end("q").await.reason), (Reason::User, Reason::User));
    second.open();
    desk.close().await;
}

#[tokio::test]
async fn a_running_tool_is_stopped_and_waited_for() {
    let views = Answer::new().call("c1", "view", json!({"file_path": "huge", "offset": 9}));
    let provider = StrictProvider::start([views, Answer::say("Here.")]);
    let desk = Desk::open(&provider);
    let mut file = File::create(desk.work().join("huge")).unwrap();
    file.write_all("word ".repeat(4_000).as_bytes()).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "Read it.")).await;
    me.sees("it is read", |record| matches!(record, Record::ToolCallStarted { .. })).await;
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p"]);
    let end = me.end("p").await;
    assert_eq!((end.status, end.totals.tools.cancelled), (RunStatus::Cancelled, 1));
    me.submits("s", prompt("q", "Still there?")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok);
    desk.close().await;
}

/// A prompt whose run is prepared until somebody writes to that pipe.
fn unprepared(desk: &Desk<'_>, id: &str) -> Prompt {
    let pipe = desk.work().join(id);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let prompt = run(id, "What is never prepared.");
    Prompt { terms: Terms { model: Some(format!("rehearsal:{}", pipe.display())), ..prompt.terms }, ..prompt }
}

#[tokio::test]
async fn a_run_that_is_being_prepared_is_cancelled_at_once_and_holds_up_nobody_else() {
    let provider = StrictProvider::start([Answer::say("One."), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", unprepared(&desk, "p")).await;
    me.begins("other", prompt("q", "Meanwhile.")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok, "another session goes on");
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p"]);
    let end = me.end("p").await;
    assert_eq!((end.status, end.totals.steps), (RunStatus::Cancelled, 0));
    me.submits("s", prompt("r", "And now?")).await;
    assert_eq!(me.end("r").await.status, RunStatus::Ok);
    assert!(provider.completions()[1].text.contains("What is never prepared."), "it is in the session");
    desk.close().await;
}

#[tokio::test]
async fn a_preparation_that_hangs_holds_back_what_comes_later_only_until_its_time_is_over() {
    let provider = StrictProvider::start([Answer::say("One.")]);
    let desk = Desk::open_with(&provider, Settings { prepare: 300, ..Settings::default() });
    let mut me = desk.client("me").await;
    me.begins("s", unprepared(&desk, "p")).await;
    me.submits("s", run("q", "Behind it.")).await;
    let (first, second) = (me.end("p").await, me.end("q").await);
    assert_eq!((first.status, second.status), (RunStatus::Error, RunStatus::Ok), "{}", first.message);
    let ended = |id: &str| {
        me.seen
            .iter()
            .position(|entry| matches!(&entry.record, Record::RunFinished(end) if end.prompt.as_str() == id))
    };
    assert!(ended("p") < ended("q"), "they keep their order");
    assert_eq!(me.kinds(&session("s"))[1], "PromptAccepted");
    desk.close().await;
}

#[tokio::test]
async fn a_cancel_while_a_run_is_summed_up_ends_it_once() {
    let gate = Gate::new();
    let answers = [
        looks(),
        Answer::context_exceeded(),
        Answer::say("So far").gate(&gate).stall(),
        Answer::say("Here."),
    ];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "And this.")).await;
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p", "q"]);
    assert_eq!((me.end("p").await.reason, me.end("q").await.reason), (Reason::User, Reason::Returned));
    gate.open();
    me.submits("s", prompt("r", "Still there?")).await;
    assert_eq!(me.end("r").await.status, RunStatus::Ok);
    let sent = &provider.completions()[3].text;
    assert!(sent.contains("I look.") && !sent.contains("So far") && !sent.contains("And this."));
    assert_eq!(["p", "q"].map(|id| me.ends(id)), [1; 2]);
    desk.close().await;
}
