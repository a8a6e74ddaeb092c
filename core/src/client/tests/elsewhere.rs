//! A run that another process has: what its client makes of a server that goes, of other people there, and that the way
//! by which events come changes nothing of what it prints.

use serde_json::Value;

use super::stand::{Stand, TURN, finished, options};
use crate::client::{Format, Input, Signal};
use crate::content::ToolStatus;
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words;

fn lost(stand: &mut Stand) {
    stand.feed(Input::ServerLost("The server does not answer any more.".into()));
}

fn ended(stand: &Stand) -> (String, String, u64, Option<u8>) {
    let last = stand.last();
    assert_eq!(stand.kinds().iter().filter(|kind| *kind == "run.finished").count(), 1);
    let word = |field: &str| last[field].as_str().unwrap_or_default().to_string();
    (word("status"), word("reason"), last["exit_code"].as_u64().unwrap_or_default(), stand.exit)
}

fn as_lost() -> (String, String, u64, Option<u8>) {
    ("error".into(), "server_lost".into(), 6, Some(6))
}

#[test]
fn a_run_whose_server_is_lost_ends_as_one_whose_end_nobody_knows() {
    let mut begun = Stand::begun(options(Format::Jsonl));
    begun.answered(1, "So far.", &[]);
    lost(&mut begun);
    assert_eq!(ended(&begun), as_lost());
    assert_eq!(begun.last()["answer"], "So far.");
    let message = begun.last()["message"].as_str().unwrap_or_default().to_string();
    assert!(message.contains("does not answer") && message.contains("hostler runs show run-p"), "{message}");
}

#[test]
fn a_prompt_whose_acceptance_nobody_knows_may_have_begun() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    lost(&mut stand);
    assert_eq!(ended(&stand), as_lost());
    assert!(stand.last()["message"].as_str().unwrap_or_default().contains("runs show"), "{}", stand.last());
}

#[test]
fn what_was_not_submitted_was_not_begun_and_that_is_said() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    lost(&mut stand);
    assert_eq!(ended(&stand), as_lost());
    assert!(stand.last()["message"].as_str().unwrap_or_default().contains("Nothing was begun"));
}

#[test]
fn a_copy_that_was_being_made_may_be_there_and_that_is_said() {
    let options = crate::client::Options {
        session: crate::client::Which::Prefix("o".into()),
        fork: Some(crate::ids::SessionId::new("new")),
        ..options(Format::Jsonl)
    };
    let mut stand = Stand::new(options);
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    stand.feed(super::start::found("old"));
    lost(&mut stand);
    assert_eq!(ended(&stand), as_lost());
    let message = stand.last()["message"].as_str().unwrap_or_default().to_string();
    assert!(message.contains("The prompt was not run") && message.contains("sessions list"), "{message}");
    assert!(!message.contains("Nothing was begun"), "{message}");
}

#[test]
fn whoever_has_interrupted_a_run_ends_with_that_signal_also_without_the_server() {
    let mut stand = Stand::begun(options(Format::Jsonl));
    stand.signal(Signal::Interrupt);
    lost(&mut stand);
    assert_eq!(ended(&stand), ("cancelled".into(), "sigint".into(), 130, Some(130)));
}

#[test]
fn a_server_that_goes_after_the_end_changes_nothing() {
    let mut keeping = Stand::begun(crate::client::Options { keeps: true, ..options(Format::Jsonl) });
    keeping.answered(1, "It is built.", &[]);
    keeping.finish(RunStatus::Ok, Reason::Completed);
    lost(&mut keeping);
    assert_eq!((keeping.keep.len(), keeping.exit), (1, None), "the answer is being kept");
    keeping.feed(Input::Kept(Ok(())));
    lost(&mut keeping);
    assert_eq!(ended(&keeping), ("ok".into(), "completed".into(), 0, Some(0)));
}

#[test]
fn a_run_that_others_end_is_cancelled_by_them() {
    for (reason, word) in [(Reason::Client, "client"), (Reason::Shutdown, "shutdown"), (Reason::User, "user")]
    {
        let mut stand = Stand::begun(options(Format::Jsonl));
        stand.finish(RunStatus::Cancelled, reason);
        assert_eq!(ended(&stand), ("cancelled".into(), word.into(), 7, Some(7)));
    }
}

#[test]
fn the_no_of_a_person_is_told_by_name_and_ends_the_run_as_denied() {
    let mut stand = Stand::begun(options(Format::Jsonl));
    let call = words::call_id(TURN.0, 1, 1);
    stand.answered(1, "", &[call]);
    stand.record(Record::PermissionDecided {
        call,
        allowed: false,
        by: "alice".into(),
        session: None,
        person: true,
        grants: Vec::new(),
    });
    stand.step_finished(1);
    stand.record(Record::RunFinished(finished(RunStatus::Denied, Reason::Denied)));
    let denied: Vec<Value> =
        stand.lines().into_iter().filter(|line| line["type"] == "permission.denied").collect();
    assert_eq!((denied.len(), &denied[0]["by"], &denied[0]["name"]), (1, &"alice".into(), &"bash".into()));
    assert_eq!(ended(&stand), ("denied".into(), "denied".into(), 5, Some(5)));
}

/// One run as it is heard over some way: with that many letters of text at once, that long after it happened, and each
/// event so many times, as after a connection that was lost and made again.
fn heard(format: Format, at_once: usize, late: u64, times: usize) -> Stand {
    let mut stand = Stand::begun(options(format));
    stand.times = times;
    let text = "Building all of it takes a while.";
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(at_once) {
        stand.now = stand.now.plus(late);
        stand.text(&piece.iter().collect::<String>());
    }
    let call = words::call_id(TURN.0, 1, 1);
    stand.answered(1, text, &[call]);
    stand.tool(call, ToolStatus::Ok, "built");
    stand.step_finished(1);
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand
}

/// Lines without what may differ: numbers, times, cursors; and what streams in pieces as one piece.
fn masked(stand: &Stand) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    for mut line in stand.lines() {
        for field in ["seq", "ts", "cursor", "last_cursor"] {
            if let Some(line) = line.as_object_mut() {
                line.remove(field);
            }
        }
        let joins = |last: &Value| last["type"] == "text.delta" && line["type"] == "text.delta";
        match lines.last_mut().filter(|last| joins(last)) {
            Some(last) => {
                let text = [&last["text"], &line["text"]].map(|text| text.as_str().unwrap_or_default());
                last["text"] = text.concat().into();
            }
            None => lines.push(line),
        }
    }
    lines
}

#[test]
fn the_same_run_is_told_in_the_same_way_however_its_events_come() {
    for format in [Format::Jsonl, Format::Json] {
        let here = heard(format, 1, 0, 1);
        for (at_once, late, times) in [(1, 40, 1), (7, 3, 2), (100, 0, 3)] {
            let there = heard(format, at_once, late, times);
            assert_eq!(masked(&here), masked(&there), "{format:?}, {at_once} at once, {times} times");
        }
    }
    let texts = [1, 7].map(|at_once| heard(Format::Text, at_once, 5, 2).out);
    assert_eq!(texts, ["Building all of it takes a while.\n"; 2]);
}
