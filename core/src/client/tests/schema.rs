//! The schema of a run's lines, held against runs that print a line of every type with each of its fields: it accepts all of
//! them, and names nothing that no run prints.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::stand::{Stand, TURN, finished, options};
use super::start::busy;
use crate::client::{Format, Input, Options, Signal};
use crate::content::{ToolOutcome, ToolStatus, Usage};
use crate::ids::{MessageId, PromptId};
use crate::model::CallErrorKind;
use crate::prompt::PermissionMode;
use crate::record::{Reason, Record, ReturnReason, RunStatus};
use crate::rig::words::{self, broken, call_id};

const SCHEMA: &str = include_str!("../../../../docs/run.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// What was seen of the schema: the values of each field that is one of few, and of each other field whether it was null.
type Seen = BTreeMap<String, BTreeSet<String>>;

fn look(schema: &Value, name: &str, value: &Value, seen: &mut Seen) {
    let is_type = |one: &Value| match one.as_str() {
        Some("null") => value.is_null(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("object") => value.is_object(),
        other => panic!("{name} is {other:?}"),
    };
    let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    assert!(types.iter().any(is_type), "{name} is {value}, which is none of {types:?}");
    if let Some(only) = schema.get("const") {
        assert_eq!(value, only, "{name}");
    }
    if let Some(few) = schema["enum"].as_array() {
        assert!(few.contains(value), "{name} is {value}, which is none of {few:?}");
    }
    let is_one_of_few = schema["enum"].is_array();
    let what = if is_one_of_few { value.to_string() } else { format!("null: {}", value.is_null()) };
    seen.entry(name.to_string()).or_default().insert(what);
    if let Some(object) = value.as_object() {
        look_into(schema, name, object, seen);
    }
}

fn look_into(schema: &Value, name: &str, object: &Map<String, Value>, seen: &mut Seen) {
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(object.contains_key(required), "{name} lacks {required}");
    }
    for (field, value) in object {
        let of_field = &schema["properties"][field];
        assert!(of_field.is_object(), "the schema does not name {name}.{field}");
        look(of_field, &format!("{name}.{field}"), value, seen);
    }
}

/// All that is to be seen: each field, null and not where it may be, and each value of those that are one of few.
fn all(schema: &Value, name: &str, wanted: &mut Seen) {
    let few = schema["enum"].as_array().into_iter().flatten().map(Value::to_string);
    let nullable = schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
    let values = wanted.entry(name.to_string()).or_default();
    if schema["enum"].is_array() {
        values.extend(few);
    } else {
        values.insert("null: false".to_string());
        values.extend(nullable.then(|| "null: true".to_string()));
    }
    for (field, of_field) in schema["properties"].as_object().into_iter().flatten() {
        all(of_field, &format!("{name}.{field}"), wanted);
    }
}

fn prompt() -> PromptId {
    words::run("p", "").id
}

/// A run that does all that a run can do.
fn busy_run() -> Stand {
    let warnings = vec!["mind the gap".into()];
    let mut stand = Stand::new(Options { warnings, ..options(Format::Jsonl) });
    stand.accept();
    stand.feed(busy("p"));
    stand.record(Record::PromptQueued { prompt: prompt() });
    stand.record(Record::PromptFolded { prompt: prompt(), turn: TURN, message: MessageId(1) });
    stand.step(1);
    let message = MessageId(2);
    for answer in [Some(message), None] {
        let (problem, text) = ("It is no number.".into(), "Once more.".into());
        let (prompt, asks) = (prompt(), MessageId(9));
        stand.record(Record::AnswerRefused { turn: TURN, answer, problem, prompt, message: asks, text });
    }
    stand.record(Record::ReasoningAppended { message, block: 0, text: "hm".into() });
    stand.text("I will build.");
    let attempt = crate::ids::AttemptId { step: call_id(TURN.0, 1, 1).step, attempt: 1 };
    stand.record(Record::AttemptFailed {
        attempt,
        message,
        error: broken(CallErrorKind::Transport),
        usage: Usage::default(),
        cost: None,
        too_long: false,
        seals: false,
        retry_after: Some(4_001),
    });
    stand.text("I will build.");
    let calls: Vec<_> = (1..=7).map(|call| call_id(1, 1, call)).collect();
    stand.answered(1, "I will build.", &calls);
    stand.record(Record::ToolOutputAppended { call: calls[0], text: "cc".into() });
    let statuses = [
        ToolStatus::Ok,
        ToolStatus::Error,
        ToolStatus::Denied,
        ToolStatus::Cancelled,
        ToolStatus::Interrupted,
        ToolStatus::NotReached,
    ];
    for (call, status) in calls.iter().zip(statuses) {
        stand.tool(*call, status, "so");
    }
    let outcome = ToolOutcome { metadata: Some("{}".into()), ..ToolOutcome::text(ToolStatus::Ok, "so") };
    stand.record(Record::ToolCallFinished { message, call: calls[6], outcome, duration: 1 });
    for allowed in [false, true] {
        let (by, grants) = ("policy".into(), Vec::new());
        let (call, person, session) = (calls[0], false, None);
        stand.record(Record::PermissionDecided { call, allowed, by, session, person, grants });
    }
    stand.step_finished(1);
    let (step, usage) = (call_id(TURN.0, 2, 1).step, Usage::default());
    stand.record(Record::StepFinished { step, usage, cost: None, context: 1, estimated: true });
    stand.record(Record::SummaryStarted { turn: TURN, budget: 1 });
    stand.record(Record::SummaryFinished { turn: TURN, message: MessageId(3), text: "So far.".into() });
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand
}

fn every_run() -> Vec<Stand> {
    let mut stands = vec![busy_run()];
    for permission in
        [PermissionMode::Headless, PermissionMode::Yolo, PermissionMode::Interactive, PermissionMode::Plan]
    {
        let mut options = options(Format::Jsonl);
        options.prompt.terms.permission = permission;
        options.prompt.terms.model = (permission == PermissionMode::Plan).then(|| "p/m".into());
        let mut stand = Stand::new(options);
        stand.feed(Input::Begin);
        stand.signal(Signal::Interrupt);
        stands.push(stand);
    }
    for reason in [ReturnReason::Cancelled, ReturnReason::Cleared, ReturnReason::Interrupted] {
        let mut stand = Stand::new(options(Format::Jsonl));
        stand.accept();
        let client = words::run("p", "").client;
        stand.record(Record::PromptReturned { prompt: prompt(), client, text: "Do it.".into(), reason });
        stand.finish(RunStatus::Cancelled, Reason::Returned);
        stands.push(stand);
    }
    for status in super::codes::STATUSES {
        for reason in super::codes::REASONS {
            let mut stand = Stand::begun(options(Format::Jsonl));
            let mut end = finished(status, reason);
            end.totals.cost = (status == RunStatus::Ok).then_some(1);
            stand.record(Record::RunFinished(end));
            stands.push(stand);
        }
    }
    stands
}

#[test]
fn it_accepts_every_line_and_names_nothing_that_is_never_printed() {
    let schema = schema();
    let kinds = schema["$defs"].as_object().expect("lines");
    let mut seen = Seen::new();
    for line in every_run().iter().flat_map(Stand::lines) {
        let kind = line["type"].as_str().expect("a type");
        look(&kinds[kind], kind, &line, &mut seen);
    }
    let mut wanted = Seen::new();
    kinds.iter().for_each(|(kind, of_kind)| all(of_kind, kind, &mut wanted));
    // Which lines come before there is a session is no matter of their type.
    wanted.retain(|field, _| !field.ends_with(".session"));
    for (field, values) in &wanted {
        let missing: Vec<_> = values
            .iter()
            .filter(|value| !seen.get(field).is_some_and(|seen| seen.contains(*value)))
            .collect();
        assert!(missing.is_empty(), "no run prints {field} as {missing:?}");
    }
}
