//! Forking a session and forgetting it.

use crate::ids::{RequestId, SessionId};
use crate::protocol::{Command, Holder, RefusalKind, Reply};
use crate::record::Record;
use crate::rig::Rig;
use crate::rig::words::{self, prompt, session};
use crate::time::Timestamp;
use crate::workspace::Input;

fn other() -> SessionId {
    SessionId::new("other")
}

fn fork(rig: &mut Rig) -> RequestId {
    let (id, _) = rig.asks_for(Command::Fork { from: session(), session: other() });
    if rig.flights.opens.contains(&other()) {
        rig.open(&other());
    }
    id
}

fn delete(rig: &mut Rig) -> RequestId {
    let (id, _) = rig.asks_for(Command::Delete { session: session() });
    if rig.flights.opens.contains(&session()) {
        rig.open(&session());
        rig.batch(Vec::new());
    }
    id
}

fn refusal(rig: &Rig, id: RequestId) -> RefusalKind {
    match rig.reply(id) {
        Reply::Refused(refusal) => refusal.kind,
        other => panic!("{other:?}"),
    }
}

/// A session in which two things were asked and answered.
fn spoken() -> Rig {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.answer("Done.");
    rig
}

#[test]
fn a_fork_has_all_that_was_said_and_goes_its_own_way() {
    let mut rig = spoken();
    let before = rig.folded(&session()).unwrap();
    let id = fork(&mut rig);
    assert_eq!(*rig.reply(id), Reply::Forked { session: other() });
    let forked = rig.folded(&other()).unwrap();
    assert_eq!((&forked.messages, &forked.title), (&before.messages, &before.title));
    assert_eq!((forked.last_turn, forked.last_message), (before.last_turn, before.last_message));
    assert!(forked.closed.is_empty() && forked.totals == Default::default());
    assert!(rig.is_idle(), "a fork holds no lock");

    rig.asks_for(words::submit(&other(), prompt("q", "Two.")));
    rig.open(&other());
    rig.batch(vec![words::to(
        &other(),
        crate::session::Input::Prepared {
            prompt: crate::ids::PromptId::new("q"),
            result: Box::new(Ok(words::preparation())),
        },
    )]);
    let request = &rig.asked.last().unwrap().1;
    assert_eq!(request.items.len(), 5, "all of it is said again");
    assert_eq!(rig.folded(&session()).unwrap(), before);
}

#[test]
fn a_fork_leaves_out_what_is_under_way_and_what_was_granted() {
    let mut rig = spoken();
    rig.begin(prompt("q", "Two."));
    fork(&mut rig);
    let forked = rig.folded(&other()).unwrap();
    assert_eq!(forked.messages.len(), 3);
    assert_eq!(forked.last_turn, rig.durable(&session()).last_turn, "its number is not given twice");
    assert!(forked.grants.is_empty() && forked.is_idle());
}

#[test]
fn a_fork_needs_a_session_and_an_id_of_its_own() {
    let mut rig = Rig::new();
    let id = fork(&mut rig);
    assert_eq!(refusal(&rig, id), RefusalKind::NotFound);
    let mut rig = spoken();
    fork(&mut rig);
    let records = rig.log.len();
    let id = fork(&mut rig);
    assert_eq!((refusal(&rig, id), rig.log.len()), (RefusalKind::Conflict, records));
    let Reply::Refused(refusal) = rig.reply(id) else { panic!("it was refused") };
    assert!(refusal.message.contains(other().as_str()), "{}", refusal.message);
    assert!(rig.is_idle());
}

#[test]
fn a_session_that_is_deleted_is_gone() {
    let mut rig = spoken();
    let id = delete(&mut rig);
    assert_eq!(*rig.reply(id), Reply::Deleted);
    assert!(rig.log.is_empty() && rig.is_idle());
    let id = delete(&mut rig);
    assert_eq!(refusal(&rig, id), RefusalKind::NotFound);
}

#[test]
fn a_session_in_which_something_is_under_way_is_not_deleted() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    let id = delete(&mut rig);
    assert_eq!(refusal(&rig, id), RefusalKind::Conflict);
    rig.answer("Done.");
    assert!(rig.folded(&session()).is_some());
}

#[test]
fn a_session_that_another_process_has_is_not_deleted() {
    let mut rig = spoken();
    let (id, _) = rig.asks_for(Command::Delete { session: session() });
    let holder = Holder { pid: 7, since: Timestamp::default() };
    rig.flights.opens.remove(&session());
    rig.batch(vec![Input::SessionHeld { session: session(), holder }]);
    assert_eq!(refusal(&rig, id), RefusalKind::Conflict);
    assert!(rig.is_idle());
}

#[test]
fn what_is_interrupted_has_its_end_before_it_is_deleted() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    rig.crash();
    let (id, _) = rig.asks_for(Command::Delete { session: session() });
    let batch = rig.open(&session());
    assert!(batch.records().any(|record| matches!(record, Record::RunFinished(_))));
    rig.batch(Vec::new());
    assert_eq!(*rig.reply(id), Reply::Deleted);
}

#[test]
fn nothing_gets_into_a_session_that_is_being_deleted() {
    let mut rig = spoken();
    let (first, _) = rig.asks_for(Command::Delete { session: session() });
    rig.open(&session());
    let (submitted, prompt) = rig.request(words::submit(&session(), prompt("q", "Two.")));
    let (second, delete) = rig.request(Command::Delete { session: session() });
    let (renamed, rename) = rig.request(Command::Rename { session: session(), title: "Mine".into() });
    // The shell's own word that it is deleted comes first; these come with it.
    let own = rig.flights.own_words.pop_front().unwrap();
    rig.batch(vec![prompt, delete, rename, own]);
    assert_eq!(
        (refusal(&rig, submitted), refusal(&rig, renamed)),
        (RefusalKind::Conflict, RefusalKind::Conflict)
    );
    assert_eq!((rig.reply(first), rig.reply(second)), (&Reply::Deleted, &Reply::Deleted));
}

#[test]
fn a_fork_is_as_long_as_all_that_it_takes_over() {
    let mut rig = spoken();
    fork(&mut rig);
    let length = rig.folded(&other()).unwrap().length;
    // "One.", the call of ls with {}, its result "a", and "Done."
    assert_eq!((length.measured, length.since), (0, 4 + 4 + 1 + 5));
}

#[test]
fn a_run_id_that_is_taken_is_named() {
    let mut rig = Rig::new();
    rig.begin(words::run("p", "One."));
    let taken = crate::prompt::Prompt { run: words::run("p", "One.").run, ..prompt("q", "Two.") };
    let (id, _) = rig.asks_for(words::submit(&other(), taken));
    let Reply::Refused(refusal) = rig.reply(id) else { panic!("it is refused") };
    assert_eq!(refusal.message, "There is a run run-p already; use a new run id.");
}

#[test]
fn a_sub_agents_session_is_neither_forked_nor_made_from_another_one() {
    let child = SessionId::new("s.2$$t1.s1.c1");
    assert!(child.is_child());
    for (from, to) in [(child.clone(), other()), (session(), child)] {
        let mut rig = Rig::new();
        rig.begin(prompt("p", "Do it."));
        rig.answer("Done.");
        let (id, _) = rig.asks_for(Command::Fork { from, session: to });
        let Reply::Refused(refusal) = rig.reply(id) else { panic!("{:?}", rig.reply(id)) };
        assert_eq!(refusal.kind, RefusalKind::Invalid);
    }
}
