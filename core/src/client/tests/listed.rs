//! Runs as lists print them.

use alloc::collections::BTreeSet;

use serde_json::Value;

use super::stand::{Stand, finished, options};
use crate::client::{Format, run_json};
use crate::ids::{MessageId, PromptId, RunId};
use crate::protocol::{Activity, Holder, RunInfo};
use crate::record::{Reason, RunFinished, RunStatus, Totals};
use crate::rig::words;
use crate::time::Timestamp;

fn listed(finished: Option<RunFinished>, activity: Activity) -> Value {
    let info = RunInfo {
        run: RunId::new("run-p"),
        session: words::session(),
        prompt: PromptId::new("p"),
        text: "Do it.".into(),
        accepted: Timestamp::from_millis(1_000),
        message: Some(MessageId(1)),
        finished,
        activity,
    };
    serde_json::from_str(&run_json(&info)).expect("it is JSON")
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn how_a_run_ended_is_said_in_the_words_of_its_last_line() {
    let mut stand = Stand::begun(options(Format::Jsonl));
    stand.finish(RunStatus::Limit, Reason::MaxCost);
    let (line, listed) =
        (stand.last(), listed(Some(finished(RunStatus::Limit, Reason::MaxCost)), Activity::Idle));
    let ended = &listed["finished"];
    // A list has no texts of answers, and no place in the lines of a run.
    let mut said = keys(&line);
    for own in ["v", "seq", "ts", "run", "session", "type", "cursor", "answer", "last_cursor"] {
        assert!(said.remove(own), "{own}");
    }
    assert_eq!(keys(ended), said);
    for key in said {
        assert_eq!(ended[key], line[key], "{key}");
    }
    assert_eq!((&listed["run"], &listed["session"]), (&line["run"], &line["session"]));
    assert_eq!(
        (&listed["accepted"], &listed["text"]),
        (&"1970-01-01T00:00:01.000Z".into(), &"Do it.".into())
    );
}

#[test]
fn what_is_known_of_a_run_is_said_with_units() {
    let totals = Totals { cost: Some(1_250_000), context: 7, estimated: true, ..Totals::default() };
    let ended =
        RunFinished { totals, answer: Some(MessageId(2)), ..finished(RunStatus::Ok, Reason::Completed) };
    let listed = listed(Some(ended), Activity::Idle);
    let ended = &listed["finished"];
    assert_eq!(
        (&ended["cost_usd"], &ended["duration_ms"], &ended["exit_code"]),
        (&1.25.into(), &77.into(), &0.into())
    );
    assert_eq!((&ended["message_id"], &listed["message_id"]), (&2.into(), &1.into()));
    assert_eq!((&ended["context_tokens"], &ended["context_estimated"]), (&7.into(), &true.into()));
}

#[test]
fn a_run_without_an_end_says_who_has_it() {
    let holder = Holder { pid: 7, since: Timestamp::from_millis(2_000) };
    let running = listed(None, Activity::Running(holder));
    assert_eq!((&running["activity"], &running["finished"]), (&"running".into(), &Value::Null));
    assert_eq!(running["holder"], serde_json::json!({"pid": 7, "since": "1970-01-01T00:00:02.000Z"}));
    assert_eq!(listed(None, Activity::Interrupted)["activity"], "interrupted");
    assert_eq!(listed(None, Activity::Idle)["holder"], Value::Null);
}
