//! Forks, files for the answer, and what is said of a run that is given up.

use super::stand::{Stand, TURN, options};
use crate::client::{Format, Gathered, Input, Options, Signal, Which};
use crate::content::{Attachment, ToolStatus, Usage};
use crate::ids::SessionId;
use crate::protocol::{Command, Refusal, RefusalKind, Reply, Request};
use crate::record::{Reason, RunStatus};
use crate::rig::words::{self, call_id};

fn keeping() -> Options {
    Options { keeps: true, ..options(Format::Jsonl) }
}

#[test]
fn an_answer_is_in_its_file_before_the_run_says_that_it_is_over() {
    let mut stand = Stand::begun(keeping());
    stand.answered(1, "Done.", &[]);
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!((stand.keep.clone(), stand.exit), (vec!["Done.\n".to_string()], None));
    assert_ne!(stand.last()["type"], "run.finished");
    stand.feed(Input::Kept(Ok(())));
    assert_eq!((stand.exit, &stand.last()["answer"]), (Some(0), &"Done.".into()));
}

#[test]
fn an_answer_that_cannot_be_kept_is_a_failure() {
    let mut stand = Stand::begun(keeping());
    stand.answered(1, "Done.", &[]);
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand.feed(Input::Kept(Err("The disk is full.".into())));
    assert_eq!((stand.exit, &stand.last()["reason"]), (Some(1), &"storage".into()));
    assert_eq!(stand.last()["message"], "The disk is full.");
}

#[test]
fn a_run_without_an_answer_leaves_the_file_alone() {
    let mut stand = Stand::begun(keeping());
    stand.finish(RunStatus::Error, Reason::Provider);
    assert!(stand.keep.is_empty() && stand.exit == Some(1));
}

#[test]
fn a_disk_that_does_not_answer_holds_nobody_who_is_impatient() {
    let mut stand = Stand::begun(keeping());
    stand.answered(1, "Done.", &[]);
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand.signal(Signal::Interrupt);
    assert_eq!((stand.exit, &stand.last()["status"]), (Some(130), &"cancelled".into()));
    stand.feed(Input::Kept(Ok(())));
}

fn found(stand: &mut Stand, id: &str) {
    let info = super::start::info(id);
    stand.feed(Input::Reply(Box::new(Reply::Session(info))));
}

#[test]
fn a_fork_is_made_before_the_prompt_is_submitted_to_it() {
    let fork = Some(SessionId::new("new"));
    let mut stand =
        Stand::new(Options { session: Which::Prefix("o".into()), fork, ..options(Format::Jsonl) });
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    found(&mut stand, "old");
    let (from, session) = (SessionId::new("old"), SessionId::new("new"));
    assert_eq!(
        stand.requests.last(),
        Some(&Request::Command(Command::Fork { from, session: session.clone() }))
    );
    stand.feed(Input::Reply(Box::new(Reply::Forked { session: session.clone() })));
    let Some(Request::Command(Command::Submit { session: chosen, .. })) = stand.requests.last() else {
        panic!()
    };
    assert_eq!(chosen.id(), &session);
}

#[test]
fn without_a_session_there_is_nothing_to_fork() {
    let fork = Some(SessionId::new("new"));
    let session = Which::Latest(SessionId::new("s"));
    let mut stand = Stand::new(Options { session, fork, ..options(Format::Jsonl) });
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    let refusal = Refusal::new(RefusalKind::NotFound, "There is no session.");
    stand.feed(Input::Reply(Box::new(Reply::Refused(refusal))));
    assert_eq!((stand.exit, stand.requests.len()), (Some(2), 1));
}

#[test]
fn files_go_with_the_prompt() {
    let mut stand = Stand::new(options(Format::Text));
    stand.feed(Input::Begin);
    let file = Attachment { name: "a".into(), media_type: "text/plain".into(), data: "x".into() };
    let gathered = Gathered {
        text: "Read.".into(),
        attachments: vec![file.clone()],
        system: Some("Be terse.".into()),
        ..Gathered::default()
    };
    stand.feed(Input::Ready(Box::new(gathered)));
    let Some(Request::Command(Command::Submit { prompt, .. })) = stand.requests.last() else { panic!() };
    assert_eq!((&prompt.attachments, prompt.terms.system.as_deref()), (&vec![file], Some("Be terse.")));
}

#[test]
fn a_run_that_is_given_up_says_what_it_has_used() {
    let mut stand = Stand::begun(options(Format::Jsonl));
    stand.record(crate::record::Record::AttemptStarted {
        attempt: crate::ids::AttemptId { step: call_id(TURN.0, 1, 1).step, attempt: 1 },
    });
    let call = call_id(TURN.0, 1, 1);
    stand.answered(1, "", &[call]);
    stand.tool(call, ToolStatus::Ok, "a");
    stand.step_finished(1);
    stand.step(2);
    stand.signal(Signal::Interrupt);
    stand.signal(Signal::Interrupt);
    let last = stand.last();
    assert_eq!((&last["steps"], &last["attempts"], &last["tools"]["ok"]), (&2.into(), &1.into(), &1.into()));
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    assert_eq!(last["usage"], serde_json::to_value(usage).unwrap());
    assert_eq!((&last["cost_usd"], stand.exit), (&1.5.into(), Some(130)));
    assert_eq!(last["session"], words::session().as_str());
}
