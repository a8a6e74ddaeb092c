//! Permission: people are asked, answer once, and what they grant holds as long as they said.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hostler_core::prompt::{Prompt, Terms};
use hostler_core::protocol::{Answer as Say, AskId, Breadth};
use hostler_core::record::{CancelScope, Record, RunStatus};
use hostler_shell::rules::kept;
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::json;

use crate::desk::Desk;
use crate::{call_id, prompt, session, watched};

fn views(answer: Answer, id: &str, path: &Path) -> Answer {
    answer.call(id, "view", json!({"file_path": path}))
}

/// What the last request brings as the results of calls.
fn results(provider: &StrictProvider) -> Vec<String> {
    provider.completions().pop().unwrap().tool_results().into_iter().map(|(_, text)| text).collect()
}

#[tokio::test]
async fn what_needs_permission_waits_for_it_and_then_runs_once() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let outside = desk.outside("a.txt");
    for answer in
        [views(Answer::new(), "c1", &outside), views(Answer::new(), "c2", &outside), Answer::say("Seen.")]
    {
        provider.push(answer);
    }
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    for nth in 1..=2 {
        let ask = me.is_asked("s", nth).await;
        let waiting = me.asks("s").await;
        assert_eq!(waiting.iter().map(|asked| &asked.id).collect::<Vec<_>>(), [&ask]);
        assert!(waiting[0].what.what().contains("a.txt"), "{}", waiting[0].what.what());
        assert!(me.answers("s", &ask, Say::Once).await, "once is once, and asked again");
    }
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    assert!(results(&provider).iter().all(|text| text.contains("a secret")));
    assert!(me.asks("s").await.is_empty());
    assert_eq!(kept(desk.state()).unwrap(), []);
    desk.close().await;
}

#[tokio::test]
async fn what_is_granted_for_the_session_holds_in_it_and_nowhere_else() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let (one, two) = (desk.outside("one.txt"), desk.outside("two.txt"));
    let answers = [
        views(views(Answer::new(), "c1", &one), "c2", &two),
        Answer::say("Seen."),
        views(Answer::new(), "c3", &two),
        Answer::say("Seen again."),
        views(Answer::new(), "c4", &two),
        Answer::say("Then not."),
    ];
    answers.into_iter().for_each(|answer| provider.push(answer));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read them.")).await;
    me.is_asked("s", 2).await;
    let first = me.asks("s").await[0].id.clone();
    assert!(me.answers("s", &first, Say::Session(Breadth::Directory)).await);
    assert_eq!(me.end("p").await.status, RunStatus::Ok, "what else waited is answered by that");
    me.submits("s", watched("q", "Once more.")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok);
    me.begins("t", watched("r", "Read it.")).await;
    let ask = me.is_asked("t", 1).await;
    me.cancels("t", CancelScope::Session).await;
    assert!(!me.answers("t", &ask, Say::Once).await);
    assert_eq!(kept(desk.state()).unwrap(), []);
    desk.close().await;
}

#[tokio::test]
async fn what_is_granted_for_always_is_kept_for_its_user_alone() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let outside = desk.outside("a.txt");
    let answers = [
        views(Answer::new(), "c1", &outside),
        Answer::say("Seen."),
        views(Answer::new(), "c2", &outside),
        Answer::say("Seen."),
    ];
    answers.into_iter().for_each(|answer| provider.push(answer));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;
    let offered = me.asks("s").await.remove(0).what.grants;
    assert!(me.answers("s", &ask, Say::Always(Breadth::Exact)).await);
    me.end("p").await;
    let rules = kept(desk.state()).unwrap();
    assert_eq!(rules, offered, "what was shown is what is kept");
    let mode = fs::metadata(desk.state().join("rules.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Whoever runs with these rules is not asked, nor refused where nobody can be asked.
    let alone = prompt("q", "Read it.");
    let alone = Prompt { terms: Terms { rules, ..alone.terms }, ..alone };
    me.begins("t", alone).await;
    assert_eq!(me.end("q").await.totals.tools.ok, 1);
    desk.close().await;
}

#[tokio::test]
async fn a_no_ends_the_turn_and_what_was_not_reached_is_not_done() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    let outside = desk.outside("a.txt");
    let calls = views(Answer::new(), "c1", &outside)
        .call("c2", "write", json!({"file_path": "made", "content": "x"}))
        .call("c3", "ls", json!({}));
    provider.push(calls);
    provider.push(Answer::say("What else?"));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;
    assert!(me.answers("s", &ask, Say::Deny).await);
    let end = me.end("p").await;
    assert_eq!((end.status, end.totals.tools.denied), (RunStatus::Denied, 1));
    assert!(!desk.work().join("made").exists());
    assert_eq!(provider.requests().len(), 1, "the model is not asked again");
    me.submits("s", watched("q", "Go on.")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok);
    let results = results(&provider);
    assert!(
        results[0].contains("denied this call") && results[1].contains("denied another call"),
        "{results:?}"
    );
    desk.close().await;
}

#[tokio::test]
async fn whoever_comes_later_finds_what_waits_and_the_first_answer_counts() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    provider.push(views(Answer::new(), "c1", &desk.outside("a.txt")));
    provider.push(Answer::say("Seen."));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    me.is_asked("s", 1).await;
    let mut other = desk.client("other").await;
    let ask = other.asks("s").await.remove(0).id;
    assert!(other.answers("s", &ask, Say::Once).await);
    assert!(!me.answers("s", &ask, Say::Deny).await, "it has been answered");
    for client in [&mut me, &mut other] {
        let decided = client.sees("it is decided", |record| {
            matches!(record, Record::PermissionDecided { person: true, allowed: true, by, .. } if by == "other")
        });
        decided.await;
        assert_eq!(client.end("p").await.status, RunStatus::Ok);
    }
    desk.close().await;
}

#[tokio::test]
async fn a_cancel_withdraws_what_is_asked() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    provider.push(views(Answer::new(), "c1", &desk.outside("a.txt")));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;
    assert_eq!(me.cancels("s", CancelScope::Session).await, ["p"]);
    assert_eq!(me.end("p").await.status, RunStatus::Cancelled);
    me.sees("it is withdrawn", |record| matches!(record, Record::PermissionWithdrawn { .. })).await;
    assert!(me.asks("s").await.is_empty() && !me.answers("s", &ask, Say::Once).await);
    desk.close().await;
}

#[tokio::test]
async fn who_waits_for_an_answer_holds_up_no_other_session() {
    let provider = StrictProvider::start([]);
    let desk = Desk::open(&provider);
    provider.push(views(Answer::new(), "c1", &desk.outside("a.txt")));
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Read it.")).await;
    let ask = me.is_asked("s", 1).await;
    provider.push(Answer::say("Done."));
    me.begins("t", watched("q", "Meanwhile.")).await;
    assert_eq!(me.end("q").await.status, RunStatus::Ok);
    let unknown = AskId { session: session("s"), call: call_id(1, 1, 9) };
    assert!(!me.answers("s", &unknown, Say::Once).await && !me.answers("t", &ask, Say::Once).await);
    provider.push(Answer::say("Seen."));
    assert!(me.answers("s", &ask, Say::Once).await);
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    desk.close().await;
}

#[tokio::test]
async fn what_is_written_is_asked_about_and_then_written() {
    let provider = StrictProvider::start([
        Answer::new().call("c1", "write", json!({"file_path": "made", "content": "x"})),
        Answer::say("Written."),
    ]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", watched("p", "Write it.")).await;
    let ask = me.is_asked("s", 1).await;
    assert!(!desk.work().join("made").exists());
    assert!(me.answers("s", &ask, Say::Session(Breadth::Exact)).await);
    me.end("p").await;
    assert_eq!(fs::read_to_string(desk.work().join("made")).unwrap(), "x");
    desk.close().await;
}
