//! Every tool call ends, whatever the tool and whoever looks at it do.

use crate::content::ToolStatus;
use crate::record::RunStatus;
use crate::rig::Rig;
use crate::rig::words::{call_id, outcome, prompt, reading};
use crate::session::{Input, Settings};
use crate::time::Deadline;

/// A run is under way whose model has just made these calls.
fn calling(calls: &[(&str, &str)]) -> Rig {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Work."));
    rig.call(calls);
    rig
}

#[test]
fn a_look_that_hangs_is_called_off_in_time_and_the_turn_goes_on() {
    let mut rig = calling(&[("bash", r#"{"command":"a"}"#), ("bash", r#"{"command":"b"}"#)]);
    assert_eq!(rig.deadline(), Some((rig.now.plus(30_000), Deadline::Inspect)));
    let batch = rig.tick();
    assert_eq!(batch.kinds(), ["ToolCallFinished"]);
    assert_eq!(batch.asks(), ["stop running t1.s1.c1", "inspect t1.s1.c2"]);
    let (status, text) = rig.outcome(call_id(1, 1, 1));
    assert!(status == ToolStatus::Error && text.contains("within 30 s; nothing was done"), "{text}");
    let late = rig.happens(Input::Inspected { call: call_id(1, 1, 1), intent: reading(true) });
    assert!(late.entries.is_empty() && late.asks().is_empty(), "{late:?}");
    rig.run_tool(2, "b");
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn looks_that_overlap_are_called_off_together() {
    let mut rig = calling(&[("ls", "{}"), ("ls", "{}")]);
    assert_eq!(rig.tick().kinds()[..2], ["ToolCallFinished", "ToolCallFinished"]);
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn a_tool_that_does_not_keep_its_own_limit_is_stopped_and_then_given_up() {
    let mut rig = calling(&[("bash", r#"{"command":"a","timeout":7}"#)]);
    rig.inspected(1);
    assert_eq!(rig.deadline(), Some((rig.now.plus(37_000), Deadline::Tool)));
    let batch = rig.tick();
    assert_eq!(batch.asks(), ["stop running t1.s1.c1"]);
    assert!(batch.entries.is_empty(), "{batch:?}");
    assert_eq!(rig.deadline(), Some((rig.now.plus(3_000), Deadline::Tool)));
    rig.tick();
    let (status, text) = rig.outcome(call_id(1, 1, 1));
    assert!(
        status == ToolStatus::Error && text.contains("after 40 s") && text.contains("some effect"),
        "{text}"
    );
    rig.answer("Done.");
    assert_eq!((rig.end("p").status, rig.end("p").totals.tools.failed), (RunStatus::Ok, 1));
}

#[test]
fn what_a_stopped_tool_says_in_time_is_its_outcome_and_nothing_after_that() {
    let mut rig = calling(&[("bash", r#"{"command":"a"}"#)]);
    rig.inspected(1);
    assert_eq!(rig.deadline(), Some((rig.now.plus(150_000), Deadline::Tool)));
    rig.tick();
    rig.done_with(call_id(1, 1, 1), ToolStatus::Error, "stopped");
    assert_eq!(rig.outcome(call_id(1, 1, 1)).1, "stopped");
    let outcome = outcome(ToolStatus::Ok, "late");
    let late = rig.happens(Input::ToolFinished { call: call_id(1, 1, 1), outcome });
    assert!(late.entries.is_empty(), "{late:?}");
}

#[test]
fn the_time_to_settle_is_all_that_a_cancelled_turn_waits_for() {
    let mut rig = calling(&[("bash", r#"{"command":"a","timeout":1}"#)]);
    rig.inspected(1);
    rig.wait(30_500);
    rig.cancel();
    assert_eq!(rig.deadline(), Some((rig.now.plus(3_000), Deadline::Settle)));
    rig.tick();
    assert_eq!(rig.end("p").status, RunStatus::Cancelled);
}

#[test]
fn how_long_may_be_waited_is_a_setting() {
    let mut rig = Rig::with(Settings { inspect: 5, overtime: 7, ..Settings::default() });
    rig.begin(prompt("p", "Work."));
    rig.call(&[("ls", "{}")]);
    assert_eq!(rig.deadline(), Some((rig.now.plus(5), Deadline::Inspect)));
    rig.inspected(1);
    assert_eq!(rig.deadline(), Some((rig.now.plus(60_007), Deadline::Tool)));
}

#[test]
fn a_call_that_does_not_run_yet_has_no_outcome_to_await() {
    let mut rig = calling(&[("ls", "{}")]);
    let outcome = outcome(ToolStatus::Ok, "too early");
    let batch = rig.happens(Input::ToolFinished { call: call_id(1, 1, 1), outcome });
    assert!(batch.entries.is_empty(), "{batch:?}");
    rig.run_tool(1, "a");
    assert_eq!(rig.outcome(call_id(1, 1, 1)).1, "a");
}
