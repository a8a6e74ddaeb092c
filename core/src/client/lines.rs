//! The lines of `--format jsonl`: one JSON object each. Fields are only ever added; readers ignore types they do not
//! know.

use alloc::string::String;
use core::fmt::Write;

use serde::Serialize;

use super::exit_code;
use super::rfc3339;
use super::text::is_obeyed;
use crate::content::{ToolStatus, Usage};
use crate::ids::{CallId, MessageId, PromptId, RunId, SessionId, StepId};
use crate::protocol::{Activity, EventId, Holder, RunInfo};
use crate::record::{Reason, ReturnReason, RunStatus, ToolCounts};
use crate::time::Timestamp;

/// What stands in every line.
#[derive(Serialize)]
struct Line<'a, T> {
    v: u32,
    seq: u64,
    ts: String,
    run: &'a RunId,
    session: Option<&'a SessionId>,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a EventId>,
    #[serde(flatten)]
    body: &'a T,
}

/// The same JSON without the characters beyond ASCII that a terminal obeys; JSON itself escapes the others.
pub fn quiet_json(json: &str) -> String {
    let obeyed = |char: char| !char.is_ascii_control() && is_obeyed(char) || char == '\u{7f}';
    if !json.contains(obeyed) {
        return json.into();
    }
    let mut quiet = String::with_capacity(json.len() + 8);
    for char in json.chars() {
        if obeyed(char) {
            // Writing to a string cannot fail.
            let _ = write!(quiet, "\\u{:04x}", u32::from(char));
        } else {
            quiet.push(char);
        }
    }
    quiet
}

/// Where a line stands.
pub(super) struct Place<'a> {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) run: &'a RunId,
    pub(super) session: Option<&'a SessionId>,
    pub(super) cursor: Option<&'a EventId>,
}

/// The line with that type and body, its line break included.
pub(super) fn line<T: Serialize>(place: &Place<'_>, kind: &'static str, body: &T) -> String {
    let Place { seq, at, run, session, cursor } = *place;
    let line = Line { v: 1, seq, ts: rfc3339(at), run, session, kind, cursor, body };
    let mut text = quiet_json(&serde_json::to_string(&line).unwrap_or_default());
    text.push('\n');
    text
}

#[derive(Serialize)]
pub(super) struct RunStarted<'a> {
    pub(super) version: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) cwd: &'a str,
    pub(super) permission_mode: &'static str,
}

#[derive(Serialize)]
pub(super) struct Queued {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) holder: Option<HolderLine>,
}

#[derive(Serialize)]
pub(super) struct HolderLine {
    pid: u32,
    since: String,
}

impl From<&Holder> for HolderLine {
    fn from(holder: &Holder) -> Self {
        Self { pid: holder.pid, since: rfc3339(holder.since) }
    }
}

/// A line that says nothing but what it is.
#[derive(Serialize)]
pub(super) struct Empty {}

#[derive(Serialize)]
pub(super) struct Message {
    pub(super) message_id: MessageId,
}

#[derive(Serialize)]
pub(super) struct Returned<'a> {
    pub(super) reason: ReturnReason,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
pub(super) struct StepStarted<'a> {
    pub(super) step: StepId,
    pub(super) message_id: MessageId,
    pub(super) model: &'a str,
}

#[derive(Serialize)]
pub(super) struct StepFinished<'a> {
    pub(super) step: StepId,
    pub(super) usage: &'a Usage,
    pub(super) context_tokens: u64,
    pub(super) context_estimated: bool,
    pub(super) cost_usd: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct AnswerRefused<'a> {
    pub(super) message_id: Option<MessageId>,
    pub(super) problem: &'a str,
}

#[derive(Serialize)]
pub(super) struct Delta<'a> {
    pub(super) message_id: MessageId,
    pub(super) block: u32,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
pub(super) struct ToolStarted<'a> {
    pub(super) call: CallId,
    pub(super) name: &'a str,
    pub(super) input: &'a str,
}

#[derive(Serialize)]
pub(super) struct ToolOutput<'a> {
    pub(super) call: CallId,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
pub(super) struct ToolFinished<'a> {
    pub(super) call: CallId,
    pub(super) name: &'a str,
    pub(super) input: &'a str,
    pub(super) status: &'static str,
    pub(super) output: &'a str,
    pub(super) metadata: Option<&'a str>,
    pub(super) duration_ms: u64,
}

#[derive(Serialize)]
pub(super) struct Permission<'a> {
    pub(super) call: CallId,
    pub(super) name: &'a str,
    pub(super) by: &'a str,
}

#[derive(Serialize)]
pub(super) struct Retry<'a> {
    pub(super) attempt: u32,
    pub(super) delay_ms: u64,
    pub(super) cause: &'a str,
}

#[derive(Serialize)]
pub(super) struct Warning<'a> {
    pub(super) message: &'a str,
}

/// The last line: how the run ended.
#[derive(Serialize)]
pub(super) struct RunFinished<'a> {
    pub(super) status: RunStatus,
    pub(super) exit_code: u8,
    pub(super) reason: Reason,
    pub(super) message: &'a str,
    pub(super) answer: Option<&'a str>,
    pub(super) message_id: Option<MessageId>,
    pub(super) usage: &'a Usage,
    pub(super) context_tokens: u64,
    pub(super) context_estimated: bool,
    pub(super) cost_usd: Option<f64>,
    pub(super) steps: u32,
    pub(super) attempts: u32,
    pub(super) tools: &'a ToolCounts,
    pub(super) duration_ms: u64,
    pub(super) last_cursor: Option<&'a EventId>,
}

/// A run as lists print it: what became of it is in the words of the last line that it printed itself.
#[derive(Serialize)]
struct ListedRun<'a> {
    run: &'a RunId,
    session: &'a SessionId,
    prompt: &'a PromptId,
    text: &'a str,
    accepted: String,
    message_id: Option<MessageId>,
    activity: &'static str,
    holder: Option<HolderLine>,
    finished: Option<Ended<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flight_records: Option<&'a [String]>,
}

/// How a listed run ended.
#[derive(Serialize)]
struct Ended<'a> {
    status: RunStatus,
    exit_code: u8,
    reason: Reason,
    message: &'a str,
    message_id: Option<MessageId>,
    usage: &'a Usage,
    context_tokens: u64,
    context_estimated: bool,
    cost_usd: Option<f64>,
    steps: u32,
    attempts: u32,
    tools: &'a ToolCounts,
    duration_ms: u64,
}

/// A run as one JSON object, without a line break.
pub fn run_json(info: &RunInfo) -> String {
    whole_run_json(info, None)
}

/// The same with the flight records, by their paths, in which it occurs, if they were looked for.
pub fn whole_run_json(info: &RunInfo, flight_records: Option<&[String]>) -> String {
    let (activity, holder) = match &info.activity {
        Activity::Idle => ("idle", None),
        Activity::Running(holder) => ("running", Some(holder.into())),
        Activity::Interrupted => ("interrupted", None),
    };
    let finished = info.finished.as_ref().map(|finished| Ended {
        status: finished.status,
        exit_code: exit_code(finished.status, finished.reason),
        reason: finished.reason,
        message: &finished.message,
        message_id: finished.answer,
        usage: &finished.totals.usage,
        context_tokens: finished.totals.context,
        context_estimated: finished.totals.estimated,
        cost_usd: dollars(finished.totals.cost),
        steps: finished.totals.steps,
        attempts: finished.totals.attempts,
        tools: &finished.totals.tools,
        duration_ms: finished.duration,
    });
    let run = ListedRun {
        run: &info.run,
        session: &info.session,
        prompt: &info.prompt,
        text: &info.text,
        accepted: rfc3339(info.accepted),
        message_id: info.message,
        activity,
        holder,
        finished,
        flight_records,
    };
    quiet_json(&serde_json::to_string(&run).unwrap_or_default())
}

/// Micro-dollars as dollars, at the edge of the program where fractions are allowed.
pub(super) fn dollars(micro: Option<u64>) -> Option<f64> {
    micro.map(|micro| micro as f64 / 1_000_000.0)
}

/// The status of a tool call as the contract words it: what was not run because its turn ended counts as cancelled.
pub(super) fn status_word(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Error => "error",
        ToolStatus::Denied => "denied",
        ToolStatus::Cancelled | ToolStatus::Interrupted | ToolStatus::NotReached => "cancelled",
    }
}
