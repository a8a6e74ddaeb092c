//! Sub-agents through the door: whoever watches the session sees them, is asked for them, and can stop them.

use std::path::{Path, PathBuf};

use hostler_core::ids::{MessageId, SessionId};
use hostler_core::protocol::{Answer as Say, Breadth, Query, RefusalKind, Reply};
use hostler_core::record::{CancelScope, Reason, Record, RunStatus};
use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::json;
use tempfile::TempDir;

use crate::desk::Desk;
use crate::{call_id, prompt, session, split, watched};

fn delegates() -> Answer {
    Answer::new().call("c1", "agent", json!({"prompt": "Look around."}))
}

fn views(path: &Path) -> Answer {
    Answer::new().call("c1", "view", json!({"file_path": path}))
}

/// The session that the first call of the first step of session `s` opens.
fn child() -> SessionId {
    SessionId::child(&session("s"), MessageId(2), call_id(1, 1, 1))
}

/// A file that is outside of whatever directory a test works in.
fn secret() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&path, "a secret\n").unwrap();
    (temp, path)
}

/// A session whose sub-agent wants to read a file outside, with what the sub-agent says after that.
fn curious(path: &Path, then: Answer) -> StrictProvider {
    split([delegates(), Answer::say("Done.")], [views(path), then])
}

#[tokio::test]
async fn all_that_it_does_is_seen() {
    let provider = split(
        [delegates(), Answer::say("Done.")],
        [Answer::new().call("c1", "ls", json!({})), Answer::say("Empty.")],
    );
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "Go.")).await;
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    let kinds = me.kinds(&child());
    assert_eq!((kinds[0], kinds.last()), ("SessionCreated", Some(&"RunFinished")));
    assert!(kinds.contains(&"ToolCallFinished"), "{kinds:?}");
    let crossed = |kind: &str| me.seen.iter().position(|entry| entry.record.kind() == kind).unwrap();
    assert!(crossed("RunFinished") < crossed("SubAgentFinished"), "its end comes first");
    let Reply::Sessions(sessions) = me.query(Query::Sessions { limit: 9 }).await else { panic!() };
    assert_eq!(sessions.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["s"]);
    assert_eq!(me.info(child().as_str()).await.parent.map(|parent| parent.session), Some(session("s")));
    desk.close().await;
}

#[tokio::test]
async fn what_it_needs_permission_for_is_asked_in_the_session_that_it_works_for() {
    let (_temp, path) = secret();
    let provider = curious(&path, Answer::say("It is a secret."));
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Go.")).await;
    let ask = me.is_asked("s", 1).await;
    assert_eq!(ask.session, child());
    assert_eq!(me.asks("s").await.len(), 1);
    assert!(me.asks(child().as_str()).await.is_empty());
    assert!(!me.answers(child().as_str(), &ask, Say::Once).await, "its own session asks nothing");
    assert!(me.answers("s", &ask, Say::Session(Breadth::Exact)).await);
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    assert!(me.asks("s").await.is_empty());
    let told = &provider.completions()[2];
    assert!(told.tool_results()[0].1.contains("a secret"));
    desk.close().await;
}

#[tokio::test]
async fn a_no_to_it_ends_it_and_the_turn_that_it_works_for() {
    let (_temp, path) = secret();
    let provider = curious(&path, Answer::say("never"));
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Go.")).await;
    let ask = me.is_asked("s", 1).await;
    assert!(me.answers("s", &ask, Say::Deny).await);
    assert_eq!(me.end("p").await.status, RunStatus::Denied);
    assert_eq!(me.end(child().as_str()).await.status, RunStatus::Denied);
    assert_eq!(provider.requests().len(), 2);
    me.submits("s", watched("q", "Go on.")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok);
    desk.close().await;
}

#[tokio::test]
async fn it_can_be_stopped_by_itself_and_the_run_goes_on() {
    let gate = Gate::new();
    let provider = split([delegates(), Answer::say("Then not.")], [Answer::say("Half").gate(&gate).stall()]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "Go.")).await;
    assert!(gate.wait_reached(PATIENCE));
    let runs = me.cancels(child().as_str(), CancelScope::Session).await;
    assert_eq!(runs, [child().to_string()]);
    let end = me.end("p").await;
    assert_eq!((end.status, end.totals.tools.cancelled), (RunStatus::Ok, 1));
    gate.open();
    assert!(provider.completions()[2].tool_results()[0].1.contains("sub-agent was cancelled"));
    let refusal = me.is_refused(child().as_str(), prompt("q", "You too.")).await;
    assert_eq!(refusal.kind, RefusalKind::Invalid);
    desk.close().await;
}

#[tokio::test]
async fn a_cancel_of_the_session_ends_it_and_withdraws_what_it_asks() {
    let (_temp, path) = secret();
    let provider = curious(&path, Answer::say("never"));
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Go.")).await;
    let ask = me.is_asked("s", 1).await;
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p"]);
    for id in ["p", child().as_str()] {
        let end = me.end(id).await;
        assert_eq!((end.status, end.reason), (RunStatus::Cancelled, Reason::User), "{id}");
    }
    assert!(me.asks("s").await.is_empty() && !me.answers("s", &ask, Say::Once).await);
    desk.close().await;
}

#[tokio::test]
async fn after_a_crash_it_ends_before_the_run_that_it_works_for() {
    let gate = Gate::new();
    let looks = Answer::new().call("c1", "ls", json!({})).usage(50, 5);
    let provider =
        split([delegates(), Answer::say("Here again.")], [looks, Answer::say("Half").gate(&gate).stall()]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "Go.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.catches_up().await;
    let next = desk.killed();
    let mut later = next.historian().await;
    later.submits("s", prompt("q", "And now?")).await;
    assert_eq!(later.end("q").await.status, RunStatus::Ok);
    let end = later.end("p").await;
    assert_eq!(
        (end.reason, end.totals.usage.input),
        (Reason::Interrupted, 150),
        "what it had used is counted"
    );
    assert_eq!(later.end(child().as_str()).await.reason, Reason::Interrupted);
    let ended = |id: &str| {
        later
            .seen
            .iter()
            .position(|entry| matches!(&entry.record, Record::RunFinished(end) if end.prompt.as_str() == id))
    };
    assert!(ended(child().as_str()) < ended("p"));
    assert_eq!((later.ends("p"), later.ends(child().as_str())), (1, 1));
    next.close().await;
    gate.open();
    desk.close().await;
}
