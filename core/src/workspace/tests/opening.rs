//! A session whose lock is asked for: what waits for it, what is told of it, and how that ends.

use super::super::{Input, Opened, TakenRun};
use crate::ids::{RequestId, RunId, SessionId};
use crate::prompt::Prompt;
use crate::protocol::{Command, Holder, Notice, RefusalKind, Reply, SessionChoice};
use crate::record::CancelScope;
use crate::rig::words::{cancel, prompt, run, session, submit};
use crate::rig::{Batch, Rig};

fn asks(rig: &mut Rig, prompt: Prompt) -> (RequestId, Batch) {
    rig.asks_for(submit(&session(), prompt))
}

fn holder() -> Holder {
    Holder { pid: 42, since: crate::time::Timestamp::from_millis(7) }
}

fn held(rig: &mut Rig) -> Batch {
    rig.batch(vec![Input::SessionHeld { session: session(), holder: holder() }])
}

fn refusal(rig: &Rig, id: RequestId) -> RefusalKind {
    match rig.reply(id) {
        Reply::Refused(refusal) => refusal.kind,
        other => panic!("{other:?}"),
    }
}

fn told(rig: &Rig) -> Vec<&str> {
    let told = rig.notices.iter().map(|notice| match notice {
        Notice::SessionBusy { prompt, holder: by, .. } if *by == holder() => prompt.as_str(),
        other => panic!("{other:?}"),
    });
    told.collect()
}

#[test]
fn nothing_is_accepted_before_the_lock_is_ours() {
    let mut rig = Rig::new();
    let (id, batch) = asks(&mut rig, prompt("p", "Do it."));
    assert_eq!(batch.asks(), ["open s"]);
    assert!(batch.entries.is_empty() && !rig.replies.contains_key(&id));
    let batch = rig.open(&session());
    assert_eq!(batch.kinds(), ["SessionCreated", "PromptAccepted"]);
    assert!(matches!(rig.reply(id), Reply::Accepted { .. }));
}

#[test]
fn the_lock_is_asked_for_once_and_all_who_wait_get_in_in_order() {
    let mut rig = Rig::new();
    asks(&mut rig, run("a", "One."));
    let (_, batch) = asks(&mut rig, run("b", "Two."));
    assert!(batch.effects.is_empty());
    assert_eq!(rig.open(&session()).asks(), ["prepare a", "prepare b"]);
}

#[test]
fn all_who_wait_are_told_who_has_the_session() {
    let mut rig = Rig::new();
    asks(&mut rig, run("a", "One."));
    asks(&mut rig, run("b", "Two."));
    held(&mut rig);
    assert_eq!(told(&rig), ["a", "b"]);
    asks(&mut rig, run("c", "Three."));
    assert_eq!(told(&rig), ["a", "b", "c"], "also who comes later");
}

#[test]
fn what_is_said_of_a_session_that_nobody_waits_for_changes_nothing() {
    let mut rig = Rig::new();
    assert!(held(&mut rig).effects.is_empty());
    rig.submit(prompt("p", "Do it."));
    assert!(held(&mut rig).effects.is_empty());
    assert!(rig.open(&session()).effects.is_empty(), "it is open already");
}

#[test]
fn a_cancel_while_waiting_refuses_what_it_covers_and_stops_the_wait_with_the_last() {
    let mut rig = Rig::new();
    let (a, _) = asks(&mut rig, run("a", "One."));
    let (b, _) = asks(&mut rig, run("b", "Two."));
    let (runs, batch) = rig.cancel_run("run-a");
    assert_eq!((runs.len(), batch.asks().len()), (1, 0));
    assert_eq!(refusal(&rig, a), RefusalKind::Cancelled);
    assert!(!rig.replies.contains_key(&b));
    let batch = rig.cancel();
    assert_eq!(refusal(&rig, b), RefusalKind::Cancelled);
    assert_eq!(batch.asks(), ["stop opening s"]);
    assert!(rig.is_idle() && rig.log.is_empty());
}

#[test]
fn a_lock_that_was_never_asked_for_is_not_waited_for() {
    let mut rig = Rig::new();
    let (_, begin) = rig.request(submit(&session(), prompt("p", "Do it.")));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let batch = rig.batch(vec![begin, stop]);
    assert!(batch.asks().is_empty(), "{:?}", batch.asks());
    assert!(rig.is_idle());
}

#[test]
fn a_lock_that_comes_when_nobody_wants_it_any_more_is_given_back() {
    let mut rig = Rig::new();
    asks(&mut rig, prompt("p", "Do it."));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let opened = rig.opening(&session());
    let batch = rig.batch(vec![stop, opened]);
    assert_eq!(batch.asks(), ["stop opening s", "close s"]);
    assert!(rig.is_idle());
}

#[test]
fn a_lock_that_comes_late_serves_who_has_asked_anew() {
    let mut rig = Rig::new();
    asks(&mut rig, prompt("p", "Do it."));
    let (_, stop) = rig.request(cancel(&session(), CancelScope::Session));
    let (_, again) = rig.request(submit(&session(), prompt("q", "Do that.")));
    let opened = rig.opening(&session());
    let batch = rig.batch(vec![stop, again, opened]);
    assert_eq!(batch.asks(), ["stop opening s", "prepare q"], "it is not asked for while it is ours");
    rig.prepared("q");
    assert_eq!(rig.answer("Done.").asks(), ["close s"]);
}

#[test]
fn a_lock_that_cannot_be_had_refuses_all_who_wait_and_can_be_asked_for_again() {
    let mut rig = Rig::new();
    let (a, _) = asks(&mut rig, run("a", "One."));
    let (b, _) = asks(&mut rig, run("b", "Two."));
    let failed = Opened::Failed("the disk is full".into());
    rig.batch(vec![Input::SessionOpened {
        session: session(),
        opened: failed,
        children: Vec::new(),
        taken: Vec::new(),
    }]);
    assert_eq!((refusal(&rig, a), refusal(&rig, b)), (RefusalKind::Storage, RefusalKind::Storage));
    assert!(rig.is_idle());
    rig.submit(run("a", "One."));
    assert!(rig.is_open(&session()));
}

#[test]
fn a_session_that_is_missing_is_refused_and_let_go() {
    let mut rig = Rig::new();
    let choice = SessionChoice::Existing { id: session() };
    let (id, _) = rig.asks_for(Command::Submit { session: choice, prompt: prompt("p", "Do it.") });
    let batch = rig.open(&session());
    assert_eq!(refusal(&rig, id), RefusalKind::NotFound);
    assert_eq!(batch.asks(), ["close s"]);
    assert!(rig.log.is_empty());
}

#[test]
fn a_session_that_is_made_while_one_waits_for_it_is_found() {
    let mut rig = Rig::new();
    let existing = |id: &str| Command::Submit {
        session: SessionChoice::Existing { id: session() },
        prompt: run(id, "Do it."),
    };
    let (early, _) = rig.asks_for(existing("early"));
    asks(&mut rig, run("new", "One."));
    let (late, _) = rig.asks_for(existing("late"));
    rig.open(&session());
    assert_eq!(refusal(&rig, early), RefusalKind::NotFound);
    assert!(matches!(rig.reply(late), Reply::Accepted { .. }));
}

#[test]
fn a_session_of_a_sub_agent_takes_no_prompts() {
    let mut rig = Rig::new();
    let child = SessionId::new("s.2$$t1.s1.c1");
    let (id, batch) = rig.asks_for(submit(&child, prompt("p", "Do it.")));
    assert_eq!(refusal(&rig, id), RefusalKind::Invalid);
    assert!(batch.asks().is_empty() && rig.is_idle());
}

#[test]
fn clearing_a_queue_that_is_not_open_clears_nothing() {
    let mut rig = Rig::new();
    assert!(rig.clear_queue().0.is_empty());
    let (id, _) = asks(&mut rig, prompt("p", "Do it."));
    assert!(rig.clear_queue().0.is_empty());
    rig.open(&session());
    assert!(matches!(rig.reply(id), Reply::Accepted { .. }));
}

#[test]
fn a_run_id_is_not_given_twice_while_both_wait_for_their_sessions() {
    let mut rig = Rig::new();
    let (first, _) = asks(&mut rig, run("one", "Do it."));
    let again = Prompt { id: crate::ids::PromptId::new("two"), ..run("one", "Do it too.") };
    let (here, _) = asks(&mut rig, again.clone());
    let (elsewhere, _) = rig.asks_for(submit(&SessionId::new("another"), again));
    assert_eq!(
        (refusal(&rig, here), refusal(&rig, elsewhere)),
        (RefusalKind::Conflict, RefusalKind::Conflict)
    );
    rig.open(&session());
    assert!(matches!(rig.reply(first), Reply::Accepted { .. }));
}

#[test]
fn a_run_id_that_another_process_gave_meanwhile_is_not_given_again() {
    let mut rig = Rig::new();
    let (used, _) = asks(&mut rig, run("used", "Do it."));
    let (free, _) = asks(&mut rig, run("free", "Do it too."));
    let runs = [RunId::new("run-used"), RunId::new("run-free")];
    let Input::SessionOpened { session, opened, children, .. } = rig.opening(&session()) else { panic!() };
    let of = |run: &RunId, session: &SessionId, prompt: &str| TakenRun {
        run: run.clone(),
        session: session.clone(),
        prompt: crate::ids::PromptId::new(prompt),
    };
    // The second is its own: it was submitted before, and its session recognises it.
    let taken = vec![of(&runs[0], &SessionId::new("another"), "used"), of(&runs[1], &session, "free")];
    rig.batch(vec![Input::SessionOpened { session, opened, children, taken }]);
    assert_eq!(refusal(&rig, used), RefusalKind::Conflict);
    assert!(matches!(rig.reply(free), Reply::Accepted { .. }));
}

#[test]
fn a_prompt_that_waits_or_is_open_is_known_by_its_run_and_nobody_else_gets_that() {
    let mut rig = Rig::new();
    let elsewhere = |rig: &mut Rig| {
        let other = Prompt { id: crate::ids::PromptId::new("two"), ..run("one", "Do it too.") };
        let (id, _) = rig.asks_for(submit(&SessionId::new("another"), other));
        refusal(rig, id)
    };
    let (first, _) = asks(&mut rig, run("one", "Do it."));
    let (again, _) = asks(&mut rig, run("one", "Do it."));
    rig.open(&session());
    assert!(matches!((rig.reply(first), rig.reply(again)), (Reply::Accepted { .. }, Reply::Accepted { .. })));
    let (once_more, _) = asks(&mut rig, run("one", "Do it."));
    assert!(matches!(rig.reply(once_more), Reply::Accepted { .. }));
    assert_eq!(elsewhere(&mut rig), RefusalKind::Conflict);
}
