//! Prompts that come while a turn is under way: they join it, wait for one of their own, or go back.

use hostler_core::ids::{PromptId, RunId};
use hostler_core::prompt::{Delivery, Prompt};
use hostler_core::protocol::{Command, RefusalKind, Reply};
use hostler_core::record::{Reason, Record, ReturnReason, RunStatus};
use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, Recorded, Script, StrictProvider};

use crate::desk::Desk;
use crate::{delivered, looks, prompt, run, session};

/// How often a request has that text.
fn times(request: &Recorded, text: &str) -> usize {
    request.text.matches(text).count()
}

#[tokio::test]
async fn a_prompt_without_a_run_joins_the_turn_and_is_in_every_later_request() {
    let gate = Gate::new();
    let answers = [looks().gate(&gate), looks(), Answer::say("Both are done."), Answer::say("Yes.")];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "And this.")).await;
    me.queues("s", prompt("r", "That too.")).await;
    gate.open();
    let (first, joined) = (me.end("p").await, me.end("q").await);
    assert_eq!((first.status, joined.status), (RunStatus::Ok, RunStatus::Ok));
    assert_eq!((first.answer, joined.answer), (joined.answer, first.answer));
    assert_eq!((first.totals.steps, joined.totals.steps), (3, 0), "what was used is counted once");
    me.end("r").await;
    assert!(me.kinds(&session("s")).ends_with(&[
        "TurnFinished",
        "RunFinished",
        "RunFinished",
        "RunFinished"
    ]));

    me.submits("s", prompt("later", "Really?")).await;
    me.end("later").await;
    let asked = provider.completions();
    assert_eq!(times(&asked[0], "And this."), 0);
    for request in &asked[1..] {
        assert_eq!((times(request, "And this."), times(request, "That too.")), (1, 1));
        let (this, that) = (request.text.find("And this."), request.text.find("That too."));
        assert!(this < that, "they keep their order");
    }
    desk.close().await;
}

#[tokio::test]
async fn a_prompt_with_a_run_waits_for_a_turn_of_its_own() {
    let gate = Gate::new();
    let provider = StrictProvider::start([looks().gate(&gate), Answer::say("One."), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", run("q", "Second.")).await;
    gate.open();
    let (first, second) = (me.end("p").await, me.end("q").await);
    assert_ne!(first.answer, second.answer);
    let asked = provider.completions();
    assert_eq!([0, 1, 2].map(|at| times(&asked[at], "Second.")), [0, 0, 1]);
    desk.close().await;
}

#[tokio::test]
async fn a_turn_that_fails_hands_on_too() {
    let gate = Gate::new();
    let provider =
        StrictProvider::start([Answer::error(400, "No.").gate_headers(&gate), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "Second.")).await;
    gate.open();
    assert_eq!((me.end("p").await.status, me.end("q").await.status), (RunStatus::Error, RunStatus::Ok));
    desk.close().await;
}

#[tokio::test]
async fn how_a_prompt_is_delivered_can_be_said() {
    let gate = Gate::new();
    let provider = StrictProvider::start([looks().gate(&gate), Answer::say("One."), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", delivered(prompt("own", "By itself."), Delivery::OwnTurn)).await;
    me.queues("s", delivered(prompt("fold", "With it."), Delivery::Fold)).await;
    let refusal = me.is_refused("s", delivered(run("both", "Neither."), Delivery::Fold)).await;
    assert_eq!(refusal.kind, RefusalKind::Invalid, "{refusal}");
    gate.open();
    me.end("own").await;
    let asked = provider.completions();
    assert_eq!([0, 1, 2].map(|at| times(&asked[at], "With it.")), [0, 1, 1]);
    assert_eq!([0, 1, 2].map(|at| times(&asked[at], "By itself.")), [0, 0, 1]);
    assert!(asked.iter().all(|request| times(request, "Neither.") == 0));
    desk.close().await;
}

#[tokio::test]
async fn when_the_queue_is_cleared_prompts_go_back_with_their_texts() {
    let gate = Gate::new();
    let provider = StrictProvider::start([looks().gate(&gate), Answer::say("One.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", prompt("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "Second.")).await;
    me.queues("s", run("r", "Third.")).await;
    let reply = me.command(Command::ClearQueue { session: session("s") }).await;
    assert_eq!(reply, Reply::Cleared { prompts: ["q", "r"].map(PromptId::new).to_vec() });
    for (id, text) in [("q", "Second."), ("r", "Third.")] {
        let end = me.end(id).await;
        assert_eq!((end.status, end.reason), (RunStatus::Cancelled, Reason::Returned));
        let returned = me.sees("it is returned", |record| {
            matches!(record, Record::PromptReturned { prompt, reason: ReturnReason::Cleared, text: back, client }
                if prompt.as_str() == id && back == text && client.as_str() == "me")
        });
        returned.await;
    }
    gate.open();
    assert_eq!(me.end("p").await.status, RunStatus::Ok);
    assert!(
        provider
            .completions()
            .iter()
            .all(|request| times(request, "Second.") + times(request, "Third.") == 0)
    );
    let again = me.command(Command::ClearQueue { session: session("s") }).await;
    assert_eq!(again, Reply::Cleared { prompts: Vec::new() });
    desk.close().await;
}

#[tokio::test]
async fn a_prompt_is_one_prompt_however_often_it_is_submitted() {
    let provider = StrictProvider::start([Answer::say("One."), Answer::say("Two.")]);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    me.end("p").await;
    let again = me.submits("s", run("p", "First.")).await;
    assert!(matches!(&again, Reply::Accepted { sequence: 1, .. }), "{again:?}");
    assert_eq!(me.is_refused("s", run("p", "Another.")).await.kind, RefusalKind::Conflict);
    let taken = hostler_core::prompt::Prompt { id: PromptId::new("q"), ..run("p", "Mine.") };
    assert_eq!(me.is_refused("s", taken).await.kind, RefusalKind::Conflict, "the log has a run of that name");
    me.submits("s", prompt("r", "Next.")).await;
    me.end("r").await;
    assert_eq!((provider.requests().len(), me.ends("p")), (2, 1));
    desk.close().await;
}

#[tokio::test]
async fn what_comes_while_a_run_is_summed_up_joins_it_or_waits_for_its_end() {
    let gate = Gate::new();
    let answers = [
        looks(),
        Answer::context_exceeded(),
        Answer::say("So far.").gate(&gate),
        Answer::say("Both are done."),
        Answer::say("By itself."),
    ];
    let provider = StrictProvider::start(answers);
    let desk = Desk::open(&provider);
    let mut me = desk.client("me").await;
    me.begins("s", run("p", "First.")).await;
    assert!(gate.wait_reached(PATIENCE));
    me.queues("s", prompt("q", "And this.")).await;
    me.queues("s", run("r", "That later.")).await;
    gate.open();
    let (first, joined, last) = (me.end("p").await, me.end("q").await, me.end("r").await);
    assert_eq!((first.status, joined.status, last.status), (RunStatus::Ok, RunStatus::Ok, RunStatus::Ok));
    assert_eq!((first.answer, joined.totals.steps), (joined.answer, 0));
    let asked = provider.completions();
    assert_eq!([2, 3, 4].map(|at| times(&asked[at], "And this.")), [0, 1, 1]);
    assert_eq!([2, 3, 4].map(|at| times(&asked[at], "That later.")), [0, 0, 1]);
    assert_eq!([3, 4].map(|at| times(&asked[at], "So far.")), [1, 1]);
    assert_eq!(["p", "q", "r"].map(|id| me.ends(id)), [1; 3]);
    desk.close().await;
}

#[tokio::test]
async fn a_run_id_is_not_given_twice_by_two_processes_that_wait_for_their_sessions() {
    let (first, second) = (Gate::new(), Gate::new());
    let held = (first.clone(), second.clone());
    let provider =
        StrictProvider::start(Script::each(move |request| match request.last_user_text().as_str() {
            "Hold one." => Answer::say("Held.").gate(&held.0),
            "Hold two." => Answer::say("Held.").gate(&held.1),
            _ => Answer::say("Done."),
        }));
    let holder = Desk::open(&provider);
    let (one, two) = (holder.another(), holder.another());
    let mut holds = holder.client("holder").await;
    holds.begins("s1", run("h1", "Hold one.")).await;
    holds.begins("s2", run("h2", "Hold two.")).await;
    assert!(first.wait_reached(PATIENCE) && second.wait_reached(PATIENCE));
    let same = |id: &str| Prompt { run: Some(RunId::new("same")), ..prompt(id, "Me too.") };
    let (asks_one, asks_two) = (one.client("one").await, two.client("two").await);
    let (mut sees_one, mut sees_two) = (one.client("one too").await, two.client("two too").await);
    let both_wait = async {
        sees_one.is_told_to_wait().await;
        sees_two.is_told_to_wait().await;
        first.open();
        holds.end("h1").await;
        // The first has the run by now, and the second, which was asked when nobody had it, gets its session.
        sees_one.end("p1").await;
        second.open();
    };
    let (begun, refused, ()) =
        tokio::join!(asks_one.submits("s1", same("p1")), asks_two.submits("s2", same("p2")), both_wait);
    assert!(matches!(begun, Reply::Accepted { .. }), "{begun:?}");
    let Reply::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.kind, RefusalKind::Conflict);
    holder.close().await;
    one.close().await;
    two.close().await;
}
