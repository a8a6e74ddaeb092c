//! The contract of the lines that a run prints: what holds for every run, whatever it did and however it ended.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lines::Lines;

type Verdict = Result<(), String>;

/// Checks what a run printed that ended with that code. An `abandoned` one was ended before it could settle.
pub(super) fn whole(text: &str, code: i32, abandoned: bool) -> Verdict {
    ensure(text.ends_with('\n'), || "the last line is cut short".to_owned())?;
    let lines = Lines::whole(text);
    framed(&lines)?;
    let last = lines.all().last().unwrap_or(&Value::Null);
    ensure(last["type"] == "run.finished", || format!("the last line is {last}"))?;
    ensure(lines.of("run.finished").len() == 1, || "run.finished comes twice".to_owned())?;
    terminal(last, code)?;
    paired(&lines, !abandoned)?;
    answered(&lines, last)?;
    if abandoned { Ok(()) } else { counted(&lines, last) }
}

/// Checks what a run printed that was killed.
pub(super) fn cut(text: &str) -> Verdict {
    let lines = Lines::whole(text);
    framed(&lines)?;
    paired(&lines, false)
}

fn ensure(is_so: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if is_so { Ok(()) } else { Err(otherwise()) }
}

/// What stands in every line, and what begins them.
fn framed(lines: &Lines) -> Verdict {
    for (at, line) in lines.all().iter().enumerate() {
        ensure(line["v"] == 1 && line["seq"] == at + 1, || format!("line {} says {line}", at + 1))?;
        ensure(line["run"] == lines.all()[0]["run"] && line["run"].is_string(), || {
            format!("another run: {line}")
        })?;
        ensure(is_time(&line["ts"]), || format!("no time: {line}"))?;
        ensure((line["type"] == "run.started") == (at == 0), || format!("line {} is {line}", at + 1))?;
    }
    let sessions: BTreeSet<_> = lines.all().iter().filter_map(|line| line["session"].as_str()).collect();
    ensure(sessions.len() <= 1, || format!("several sessions: {sessions:?}"))?;
    cursors(lines)
}

fn is_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let shape: String = text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

/// Lines behind which there may be no record: nothing is recorded of somebody who waits for another process, nor of the end
/// of a run that never was or whose log is lost.
const WITHOUT: [&str; 4] = ["run.started", "warning", "prompt.queued", "run.finished"];

/// Cursors stand where a record is told of, name one log and never go back.
fn cursors(lines: &Lines) -> Verdict {
    for line in lines.all() {
        let may_lack = WITHOUT.iter().any(|kind| line["type"] == *kind);
        ensure(may_lack || line["cursor"].is_string(), || format!("no cursor: {line}"))?;
        ensure(
            line["cursor"].is_null() || !matches!(line["type"].as_str(), Some("run.started" | "warning")),
            || format!("a cursor: {line}"),
        )?;
    }
    let mut last: Option<(String, u64)> = None;
    for line in lines.all().iter().filter(|line| !line["cursor"].is_null()) {
        let cursor = line["cursor"].as_str().and_then(|text| text.rsplit_once('-'));
        let read = cursor.and_then(|(log, seq)| Some((log.to_owned(), seq.parse::<u64>().ok()?)));
        let Some((log, seq)) = read else { return Err(format!("no cursor: {line}")) };
        let follows = last.as_ref().is_none_or(|(before, place)| *before == log && *place <= seq);
        ensure(follows, || format!("after {last:?} comes {line}"))?;
        last = Some((log, seq));
    }
    Ok(())
}

/// The last line fits the exit code, and its parts fit each other.
fn terminal(last: &Value, code: i32) -> Verdict {
    ensure(last["exit_code"] == code, || format!("the exit code is {code} after {last}"))?;
    let fits = match last["status"].as_str() {
        Some("ok") => code == 0,
        Some("error") => matches!(code, 1 | 2 | 3 | 6),
        Some("limit") => code == 4,
        Some("denied") => code == 5,
        Some("cancelled") => matches!(code, 7 | 129 | 130 | 141 | 143),
        _ => false,
    };
    ensure(fits, || format!("status and code do not fit: {last}"))?;
    let explained = last["message"].as_str().is_some_and(|message| message.is_empty() == (code == 0));
    ensure(explained, || format!("only a failure is explained, and every one: {last}"))?;
    let fields =
        ["answer", "message_id", "usage", "context_tokens", "cost_usd", "steps", "attempts", "tools"];
    let missing =
        fields.iter().chain(&["reason", "duration_ms", "last_cursor"]).find(|name| last.get(name).is_none());
    ensure(missing.is_none(), || format!("{missing:?} is missing: {last}"))
}

/// What begins ends, once and in order, if the run `settled`.
fn paired(lines: &Lines, settled: bool) -> Verdict {
    for (kind, id) in [("step", "step"), ("tool", "call")] {
        let started = ids(lines, &format!("{kind}.started"), id)?;
        let finished = ids(lines, &format!("{kind}.finished"), id)?;
        let open: Vec<_> = started.difference(&finished).collect();
        ensure(!settled || open.is_empty(), || format!("{open:?} began and did not end"))?;
        let unknown: Vec<_> = finished.difference(&started).collect();
        ensure(kind == "tool" || unknown.is_empty(), || format!("{unknown:?} ended and did not begin"))?;
    }
    Ok(())
}

fn ids(lines: &Lines, kind: &str, id: &str) -> Result<BTreeSet<String>, String> {
    let mut ids = BTreeSet::new();
    for line in lines.of(kind) {
        ensure(ids.insert(line[id].to_string()), || format!("{kind} comes twice: {line}"))?;
    }
    Ok(ids)
}

/// The answer is what was streamed of its message.
fn answered(lines: &Lines, last: &Value) -> Verdict {
    let (answer, message) = (&last["answer"], &last["message_id"]);
    ensure(answer.is_null() == message.is_null(), || format!("answer and message do not fit: {last}"))?;
    let streamed = lines.streamed(message);
    ensure(answer.is_null() || *answer == streamed, || format!("{answer} was streamed as {streamed:?}"))
}

/// The last line counts what the others tell.
fn counted(lines: &Lines, last: &Value) -> Verdict {
    let (steps, retries) = (lines.of("step.started").len(), lines.of("retry").len());
    ensure(last["steps"] == steps, || format!("{steps} steps, but {last}"))?;
    // A run that ends while it waits for another attempt has announced one that it did not make.
    let made = last["attempts"] == steps + retries
        || last["status"] != "ok" && last["attempts"] == (steps + retries).saturating_sub(1);
    ensure(made, || format!("{retries} retries, but {last}"))?;
    for (status, count) in
        [("ok", "ok"), ("error", "failed"), ("denied", "denied"), ("cancelled", "cancelled")]
    {
        let ended = lines.of("tool.finished").iter().filter(|line| line["status"] == status).count();
        ensure(last["tools"][count] == ended, || format!("{ended} tool calls ended {status}, but {last}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
