//! The process is gone in the middle: whoever opens the session next settles what it had, once, and goes on.

use hostler_core::machine::Entry;
use hostler_core::protocol::{Activity, Answer as Say, Query, Reply};
use hostler_core::record::{Reason, Record, ReturnReason, RunStatus};
use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::json;

use crate::desk::Desk;
use crate::{looks, prompt, run, session, watched};

fn whole(entries: &[Entry]) -> Vec<&Entry> {
    entries.iter().filter(|entry| !entry.record.is_chunk()).collect()
}

#[tokio::test]
async fn every_prompt_has_one_fate_and_the_session_goes_on() {
    let (first, second) = (Gate::new(), Gate::new());
    let answers =
        [looks().gate(&first), Answer::say("Half").gate(&second).stall(), Answer::say("Here again.")];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(first.wait_reached(PATIENCE));
    me.queues("s", prompt("joins", "And this.")).await;
    first.open();
    assert!(second.wait_reached(PATIENCE));
    me.queues("s", run("waits", "By itself.")).await;
    me.queues("s", prompt("folds", "Not yet.")).await;
    me.sees("it is answered", |record| matches!(record, Record::TextAppended { text, .. } if text == "Half"))
        .await;

    let next = desk.killed();
    let mut later = next.historian().await;
    assert_eq!(later.info("s").await.activity, Activity::Interrupted);
    let Reply::Accepted { .. } = later.submits("s", run("p", "First.")).await else { panic!() };
    for (id, reason) in [
        ("p", Reason::Interrupted),
        ("joins", Reason::Interrupted),
        ("waits", Reason::Interrupted),
        ("folds", Reason::Interrupted),
    ] {
        assert_eq!(later.end(id).await.reason, reason, "{id}");
    }
    assert_eq!(provider.requests().len(), 2, "what was interrupted is not run again");
    for (id, text) in [("waits", "By itself."), ("folds", "Not yet.")] {
        let returned = |record: &Record| {
            matches!(record, Record::PromptReturned { prompt, text: back, reason: ReturnReason::Interrupted, .. }
                if prompt.as_str() == id && back == text)
        };
        later.sees("it is given back", returned).await;
    }
    later.submits("s", prompt("q", "And now?")).await;
    assert_eq!(later.end("q").await.status, RunStatus::Ok);
    later.catches_up().await;
    assert_eq!(["p", "joins", "waits", "folds", "q"].map(|id| later.ends(id)), [1; 5]);
    let asked = &provider.completions()[2].text;
    for part in ["First.", "And this.", "Half", "And now?"] {
        assert_eq!(asked.matches(part).count(), 1, "{part}");
    }
    assert!(!asked.contains("By itself.") && !asked.contains("Not yet."));
    let (before, after) = (whole(&me.seen), whole(&later.seen));
    assert_eq!(after[..before.len()], before, "what was told before is what is there after");
    assert_eq!(later.info("s").await.activity, Activity::Idle);
    next.close().await;
    second.open();
    desk.close().await;
}

#[tokio::test]
async fn what_was_asked_is_not_asked_any_more() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let outside = desk.outside("a.txt");
    provider.push(Answer::new().call("c1", "view", json!({"file_path": outside})));
    provider.push(Answer::say("Here again."));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;

    let next = desk.killed();
    let mut later = next.historian().await;
    assert!(!later.answers("s", &ask, Say::Once).await, "nobody waits for it");
    later.submits("s", watched("q", "And now?")).await;
    assert_eq!(later.end("q").await.status, RunStatus::Ok);
    assert_eq!(later.end("p").await.reason, Reason::Interrupted);
    assert!(later.asks("s").await.is_empty());
    let told = provider.completions().pop().unwrap().tool_results();
    assert!(!told[0].1.contains("a secret"), "it was never read: {told:?}");
    next.close().await;
    desk.close().await;
}

#[tokio::test]
async fn what_was_granted_to_the_session_is_still_granted() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let outside = desk.outside("a.txt");
    let gate = Gate::new();
    let views = |id: &str| Answer::new().call(id, "view", json!({"file_path": outside}));
    for answer in [views("c1"), Answer::say("Half").gate(&gate).stall(), views("c2"), Answer::say("Seen.")] {
        provider.push(answer);
    }
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;
    let exact = hostler_core::protocol::Breadth::Exact;
    assert!(me.answers("s", &ask, Say::Session(exact)).await);
    assert!(gate.wait_reached(PATIENCE));

    let next = desk.killed();
    let mut later = next.client("later").await;
    later.submits("s", watched("q", "Once more.")).await;
    assert_eq!(later.end("q").await.totals.tools.ok, 1);
    next.close().await;
    gate.open();
    desk.close().await;
}

#[tokio::test]
async fn whoever_follows_later_sees_what_was_seen_live() {
    let provider = StrictProvider::start([looks(), Answer::say("Done."), Answer::say("Again.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "First.")).await;
    me.end("p").await;
    me.submits("s", prompt("q", "Second.")).await;
    me.end("q").await;
    me.catches_up().await;
    let mut later = desk.historian().await;
    later.end("q").await;
    later.catches_up().await;
    assert_eq!(whole(&later.seen), whole(&me.seen));
    let Reply::Runs(runs) = later.query(Query::Runs { session: session("s") }).await else { panic!() };
    assert_eq!(runs.iter().map(|run| run.run.as_str()).collect::<Vec<_>>(), ["p", "q"]);
    desk.close().await;
}
