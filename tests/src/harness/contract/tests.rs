//! The check of the contract notices what it is there for.

use super::*;
use serde_json::json;

/// A line of a run that has one step and one tool call.
fn line(seq: usize, kind: &str, body: Value) -> Value {
    let mut line = json!({"v": 1, "seq": seq, "ts": "2026-01-02T03:04:05.678Z", "run": "r", "session": "s", "type": kind});
    if kind != "run.started" {
        line["cursor"] = json!(format!("log-{}", seq - 1));
    }
    for (name, value) in body.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn good() -> Vec<Value> {
    let finished = json!({
        "status": "ok", "exit_code": 0, "reason": "completed", "message": "", "answer": "ab", "message_id": 2,
        "usage": {}, "context_tokens": 1, "cost_usd": null, "steps": 1, "attempts": 2, "duration_ms": 1,
        "tools": {"ok": 1, "failed": 0, "denied": 0, "cancelled": 0}, "last_cursor": "log-10",
    });
    vec![
        line(1, "run.started", json!({"session": null})),
        line(2, "step.started", json!({"step": "1.1"})),
        line(3, "text.delta", json!({"message_id": 2, "text": "void"})),
        line(4, "retry", json!({"attempt": 1})),
        line(5, "attempt.reset", json!({"message_id": 2})),
        line(6, "text.delta", json!({"message_id": 2, "text": "a"})),
        line(7, "text.delta", json!({"message_id": 2, "text": "b"})),
        line(8, "tool.started", json!({"call": "1.1.1"})),
        line(9, "tool.finished", json!({"call": "1.1.1", "status": "ok"})),
        line(10, "step.finished", json!({"step": "1.1"})),
        line(11, "run.finished", finished),
    ]
}

fn print(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Vec<Value>), why: &str) {
    let mut lines = good();
    change(&mut lines);
    let verdict = whole(&print(&lines), 0, false);
    assert!(verdict.as_ref().is_err_and(|message| message.contains(why)), "{why}: {verdict:?}");
}

#[test]
fn what_keeps_to_it_passes() {
    assert_eq!(whole(&print(&good()), 0, false), Ok(()));
    assert_eq!(cut(&print(&good()[..8])), Ok(()));
    assert_eq!(cut("{\"v\":1,"), Ok(()));
}

#[test]
fn the_frame_of_every_line_is_checked() {
    refused(|lines| lines[3]["v"] = json!(2), "line 4");
    refused(|lines| lines[3]["seq"] = json!(5), "line 4");
    refused(|lines| lines[3]["run"] = json!("other"), "another run");
    refused(|lines| lines[3]["session"] = json!("other"), "several sessions");
    refused(|lines| lines[3]["ts"] = json!("yesterday"), "no time");
    refused(|lines| lines[1]["cursor"] = json!("log-10"), "after");
    refused(|lines| drop(lines[2].as_object_mut().unwrap().remove("cursor")), "no cursor");
    refused(|lines| lines[0]["cursor"] = json!("log-1"), "a cursor");
    refused(|lines| lines[9]["cursor"] = json!("other-9"), "after");
    refused(|lines| lines[1]["type"] = json!("run.started"), "line 2");
    refused(|lines| lines[0]["type"] = json!("warning"), "line 1");
}

#[test]
fn the_end_is_checked() {
    refused(|lines| lines.truncate(10), "the last line");
    refused(|lines| lines[9]["type"] = json!("run.finished"), "twice");
    refused(|lines| lines[10]["exit_code"] = json!(1), "the exit code");
    refused(|lines| lines[10]["status"] = json!("limit"), "do not fit");
    refused(|lines| lines[10]["message"] = json!("Oops."), "explained");
    refused(|lines| drop(lines[10].as_object_mut().unwrap().remove("usage")), "missing");
    assert!(whole(print(&good()).trim_end(), 0, false).is_err_and(|why| why.contains("cut short")));
}

#[test]
fn what_the_lines_tell_fits_together() {
    refused(|lines| lines[8]["call"] = json!("other"), "did not end");
    refused(|lines| lines[9]["step"] = json!("other"), "did not end");
    refused(|lines| lines[6]["text"] = json!("c"), "was streamed as");
    refused(|lines| lines[10]["answer"] = json!(null), "do not fit");
    refused(|lines| lines[10]["steps"] = json!(2), "1 steps");
    refused(|lines| lines[10]["attempts"] = json!(1), "1 retries");
    refused(|lines| lines[10]["tools"]["ok"] = json!(2), "ended ok");
    refused(|lines| lines[7]["type"] = json!("tool.finished"), "comes twice");
}
