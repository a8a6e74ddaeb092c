//! The flight record of a rig's run, replayed.

use super::*;
use crate::rig::Rig;
use crate::rig::words::{overloaded, prompt, run, text};

/// A run with most of what can happen in it.
fn flight() -> String {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    rig.stream(vec![text(0, "I will.")]);
    rig.fail(overloaded(None));
    rig.tick();
    rig.enter(run("q", "Then this."));
    rig.call(&[("ls", "{}"), ("bash", r#"{"command":"make"}"#)]);
    rig.run_tool(1, "a.rs");
    rig.inspected(2);
    rig.cancel_run("p");
    rig.wait(3_000);
    rig.answer("Done.");
    assert!(rig.is_idle());
    rig.flight()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(String::from).collect()
}

#[test]
fn a_flight_is_decided_again_as_it_was() {
    let text = flight();
    let report = replay(&text).expect("it is a flight record");
    assert_eq!(report.differs, None);
    assert_eq!(report.batches as usize, text.lines().count() - 1);
    assert!(report.inputs >= report.batches && !report.cut);
}

#[test]
fn the_first_batch_that_differs_is_named() {
    let mut lines = lines(&flight());
    let at = lines.iter().position(|line| line.contains("Look around.")).expect("the prompt is there");
    lines[at] = lines[at].replace("Look around.", "Look away.");
    // The request for the lock comes first; the prompt is decided when the session is open.
    let report = replay(&lines.join("\n")).expect("it is a flight record");
    let differs = report.differs.expect("it differs");
    assert_eq!((differs.batch, report.batches), (2, 2));
    assert!(differs.decided.contains("Look away.") && differs.recorded != differs.replayed);
}

#[test]
fn a_changed_time_is_found_too() {
    let mut lines = lines(&flight());
    let mut batch: Batch = serde_json::from_str(&lines[3]).expect("it is a batch");
    batch.at = batch.at.plus(1);
    lines[3] = serde_json::to_string(&batch).expect("it is plain data");
    let report = replay(&lines.join("\n")).expect("it is a flight record");
    assert_eq!(report.differs.map(|differs| differs.batch), Some(3));
}

#[test]
fn a_last_line_that_was_cut_short_is_ignored() {
    let text = flight();
    let whole = replay(&text).expect("it is a flight record");
    let cut = replay(&text[..text.len() - 30]).expect("it is a flight record");
    assert!(cut.cut && cut.differs.is_none());
    assert_eq!(cut.batches, whole.batches - 1);
}

#[test]
fn a_broken_line_in_the_middle_is_an_error() {
    let mut lines = lines(&flight());
    lines[2].truncate(20);
    let error = replay(&lines.join("\n")).expect_err("a batch is missing");
    assert!(matches!(error, FlightError::Line { line: 3, .. }), "{error}");
}

#[test]
fn what_is_no_flight_record_is_refused() {
    assert!(matches!(replay(""), Err(FlightError::Header(_))));
    assert!(matches!(replay("{}"), Err(FlightError::Header(_))));
    assert_eq!(replay(r#"{"format":99}"#), Err(FlightError::Format(99)));
}
