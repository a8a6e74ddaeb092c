//! A streamed answer: what of it is recorded when, and how long its pieces may take.

use crate::content::Block;
use crate::model::{FinishReason, ModelEvent};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{call_id, called, prompt, session, stop, text, used};
use crate::session::Settings;
use crate::time::Deadline;

fn streaming() -> Rig {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Talk."));
    rig
}

/// What was recorded of the answer, piece by piece.
fn pieces(rig: &Rig) -> Vec<&str> {
    let pieces = rig.log.iter().filter_map(|entry| match &entry.record {
        Record::TextAppended { text, .. } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[test]
fn the_first_piece_is_recorded_at_once_and_then_one_in_33_milliseconds() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "a")]);
    assert_eq!(pieces(&rig), ["a"]);
    let flush = rig.now.plus(33);
    for piece in ["b", "c", "d"] {
        rig.wait(10);
        rig.stream(vec![text(0, piece)]);
    }
    assert_eq!(pieces(&rig), ["a"]);
    assert_eq!(rig.deadline(), Some((flush, Deadline::Flush)));
    rig.wait(3);
    assert_eq!(pieces(&rig), ["a", "bcd"]);
    rig.stream(vec![text(0, "e")]);
    rig.wait(32);
    assert_eq!(pieces(&rig), ["a", "bcd"]);
    rig.wait(1);
    assert_eq!(pieces(&rig), ["a", "bcd", "e"]);
}

#[test]
fn a_piece_after_a_pause_is_recorded_at_once() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "a")]);
    rig.wait(100);
    rig.stream(vec![text(0, "b")]);
    assert_eq!(pieces(&rig), ["a", "b"]);
}

#[test]
fn a_steady_stream_is_at_most_thirty_records_a_second() {
    let mut rig = streaming();
    for _ in 0..1_000 {
        rig.stream(vec![text(0, "x")]);
        rig.wait(1);
    }
    assert!((29..=32).contains(&pieces(&rig).len()), "{}", pieces(&rig).len());
    rig.stream(vec![stop()]);
    assert_eq!(pieces(&rig).concat().len(), 1_000);
}

#[test]
fn what_is_pending_is_recorded_before_the_answer_is() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "a")]);
    let batch = rig.stream(vec![text(0, "b"), stop()]);
    assert_eq!(batch.kinds()[..2], ["TextAppended", "MessageFinished"]);
    assert_eq!(pieces(&rig), ["a", "b"]);
}

#[test]
fn reasoning_and_text_are_recorded_in_their_order() {
    let mut rig = streaming();
    rig.stream(vec![ModelEvent::Reasoning { block: 0, text: "hm".into() }]);
    let batch =
        rig.stream(vec![ModelEvent::Reasoning { block: 0, text: "m".into() }, text(1, "So."), stop()]);
    assert_eq!(batch.kinds()[..3], ["ReasoningAppended", "TextAppended", "MessageFinished"]);
}

#[test]
fn calls_and_usage_are_not_recorded_before_the_answer_is_complete() {
    let mut rig = streaming();
    let [call, input] = called(0, "ls", "{}");
    let batch = rig.stream(vec![call, input, used(5, 1)]);
    assert!(batch.entries.is_empty() && batch.effects.is_empty());
    assert_eq!(rig.stream(vec![stop()]).kinds(), ["MessageFinished"]);
    assert_eq!(rig.nth(1), call_id(1, 1, 1));
}

#[test]
fn an_answer_that_is_too_long_fails_and_is_not_asked_for_again() {
    let mut rig = Rig::with(Settings { answer_bytes: 10, ..Settings::default() });
    rig.begin(prompt("p", "Talk."));
    rig.stream(vec![text(0, "0123456789")]);
    let batch = rig.stream(vec![text(0, "!")]);
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1", "close s"]);
    let end = rig.end("p");
    assert_eq!((end.status, end.reason), (RunStatus::Error, Reason::Provider));
    let durable = rig.durable(&session());
    assert_eq!(durable.answer(end.answer.expect("it is kept")).map(|a| a.text().len()), Some(11));
}

#[test]
fn long_arguments_count_as_well() {
    let mut rig = Rig::with(Settings { answer_bytes: 30, ..Settings::default() });
    rig.begin(prompt("p", "Talk."));
    rig.stream(called(0, "ls", &" ".repeat(40)).to_vec());
    assert_eq!(rig.end("p").status, RunStatus::Error);
}

#[test]
fn what_an_ended_attempt_still_says_changes_nothing() {
    let mut rig = streaming();
    let attempt = rig.attempt();
    rig.call(&[("ls", "{}")]);
    let late = vec![text(0, "late"), used(1, 1), ModelEvent::Finished(FinishReason::Stop)];
    let batch = rig.stream_to(attempt, late);
    assert!(batch.entries.is_empty() && batch.effects.is_empty(), "{batch:?}");
}

#[test]
fn an_answer_without_a_word_is_an_answer() {
    let mut rig = streaming();
    rig.stream(vec![stop()]);
    assert_eq!((rig.end("p").status, rig.end("p").answer), (RunStatus::Ok, None));
    rig.begin(prompt("q", "And?"));
    rig.answer("Yes.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn an_answer_that_goes_on_behind_its_end_is_heard_to_the_end() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "One "), ModelEvent::Ending(FinishReason::Stop), text(0, "two ")]);
    rig.wait(60_000);
    rig.stream(vec![text(0, "three."), stop()]);
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    let said = rig.log.iter().find_map(|entry| match &entry.record {
        Record::MessageFinished { blocks, .. } => Some(blocks.clone()),
        _ => None,
    });
    assert_eq!(said, Some(vec![Block::Text("One two three.".into())]));
}

#[test]
fn an_answer_whose_stream_does_not_end_is_complete_all_the_same() {
    let mut rig = streaming();
    rig.stream(vec![text(0, "Hello."), ModelEvent::Ending(FinishReason::Stop), used(3, 1)]);
    let batch = rig.tick();
    assert_eq!(batch.asks(), ["stop calling t1.s1.a1", "close s"]);
    let end = rig.end("p");
    assert_eq!((end.status, end.totals.attempts, end.totals.usage.input), (RunStatus::Ok, 1, 3));
    assert_eq!(end.duration, Settings::default().ending);
}
