//! Scenario files, read strictly: a misspelt key is an error that names the step, not a step that does less.
//!
//! What the keys mean is described in `docs/rehearsal.md`, what they become in `scenario`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scenario::{Attempt, Ending, Refusal, Scenario, ScenarioError, Sentence, Step};
use crate::content::Usage;
use crate::model::FinishReason;

/// The longest wait that a scenario can ask for: an hour.
const LONGEST: u64 = 3_600_000;

/// The most pieces of one text.
const PIECES: RangeInclusive<u64> = 1..=100_000;

const NO_OBJECT: &str = "it is not an object";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWire<'a> {
    #[serde(borrow)]
    steps: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepWire<'a> {
    #[serde(borrow, default)]
    say: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    finish: Option<FinishWire>,
    #[serde(borrow, default)]
    refuse: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    expect: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attempts: Option<Vec<&'a RawValue>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishWire {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefuseWire {
    status: u16,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    #[serde(default)]
    should_retry: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UsageWire {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    reasoning: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectWire {
    last_result_contains: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ItemWire<'a> {
    text: Option<String>,
    reasoning: Option<String>,
    pieces: Option<u64>,
    #[serde(borrow)]
    call: Option<&'a RawValue>,
    delay_ms: Option<u64>,
    #[serde(borrow)]
    repeat: Option<&'a RawValue>,
    cut: Option<bool>,
    stall: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallWire<'a> {
    tool: String,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepeatWire {
    text: String,
    times: u64,
}

/// An item of `say`: something that is said, or the end of it all.
enum Item {
    Say(Sentence),
    End(Ending),
}

/// A problem, before it is known where.
type Checked<T> = Result<T, String>;

/// Reads a scenario file.
pub(super) fn scenario(text: &str) -> Result<Scenario, ScenarioError> {
    let whole = |problem: String| ScenarioError { place: "The scenario".into(), problem };
    let file: FileWire<'_> = serde_json::from_str(text).map_err(|problem| whole(problem.to_string()))?;
    if !text.trim_start().starts_with('{') {
        return Err(whole(NO_OBJECT.into()));
    }
    if file.steps.is_empty() {
        return Err(whole("it has no steps".into()));
    }
    let step = |(at, raw): (usize, &&RawValue)| step(raw, &format!("Step {}", at + 1));
    Ok(Scenario { steps: file.steps.iter().enumerate().map(step).collect::<Result<_, _>>()? })
}

fn step(raw: &RawValue, place: &str) -> Result<Step, ScenarioError> {
    let error = |problem: &str| ScenarioError { place: place.into(), problem: problem.into() };
    let mut wire: StepWire<'_> = part(raw).map_err(|problem| error(&problem))?;
    let Some(list) = wire.attempts.take() else {
        return Ok(Step { attempts: Vec::from([attempt(wire, place)?]) });
    };
    let StepWire { say, finish, refuse, usage, expect, attempts: _ } = wire;
    if say.is_some() || finish.is_some() || refuse.is_some() || usage.is_some() || expect.is_some() {
        return Err(error("it has attempts, so nothing else may stand beside them"));
    }
    if list.is_empty() {
        return Err(error("its attempts are empty"));
    }
    let nth = |(at, raw): (usize, &&RawValue)| nested(raw, &format!("{place}, attempt {}", at + 1));
    Ok(Step { attempts: list.iter().enumerate().map(nth).collect::<Result<_, _>>()? })
}

fn nested(raw: &RawValue, place: &str) -> Result<Attempt, ScenarioError> {
    let error = |problem: String| ScenarioError { place: place.into(), problem };
    let wire: StepWire<'_> = part(raw).map_err(error)?;
    if wire.attempts.is_some() {
        return Err(error("an attempt has no attempts of its own".into()));
    }
    attempt(wire, place)
}

fn attempt(wire: StepWire<'_>, place: &str) -> Result<Attempt, ScenarioError> {
    let error = |problem: String| ScenarioError { place: place.into(), problem };
    let expect = wire.expect.map(expect).transpose().map_err(error)?;
    let usage = wire.usage.map(usage).transpose().map_err(error)?.unwrap_or_default();
    if let Some(refusal) = wire.refuse {
        if wire.say.is_some() || wire.finish.is_some() {
            return Err(error("it is refused, so it has neither say nor finish".into()));
        }
        let ending = Ending::Refuse(refuse(refusal).map_err(error)?);
        return Ok(Attempt { expect, say: Vec::new(), ending, usage });
    }
    let list = wire.say.ok_or_else(|| error("it needs say, refuse or attempts".into()))?;
    let (say, end) = items(&list, place)?;
    let ending = match (end, wire.finish.map(finish)) {
        (Some(_), Some(_)) => return Err(error("it is cut or stalls, so it has no finish".into())),
        (Some(end), None) => end,
        (None, reason) => Ending::Finish(reason),
    };
    Ok(Attempt { expect, say, ending, usage })
}

fn items(list: &[&RawValue], place: &str) -> Result<(Vec<Sentence>, Option<Ending>), ScenarioError> {
    let (mut say, mut end) = (Vec::new(), None);
    for (at, raw) in list.iter().enumerate() {
        let error = |problem: String| ScenarioError {
            place: format!("{place}, item {} of its say,", at + 1),
            problem,
        };
        if end.is_some() {
            return Err(error("nothing can follow a cut or a stall".into()));
        }
        match part(raw).and_then(item).map_err(error)? {
            Item::Say(sentence) => say.push(sentence),
            Item::End(ending) => end = Some(ending),
        }
    }
    Ok((say, end))
}

fn item(wire: ItemWire<'_>) -> Checked<Item> {
    let voiced = wire.text.is_some() || wire.reasoning.is_some();
    if wire.pieces.is_some() && !voiced {
        return Err("pieces go with text or reasoning".into());
    }
    let pieces = within("pieces", wire.pieces.unwrap_or(1), PIECES)?;
    let delay = wire.delay_ms.map(|millis| within("delay_ms", millis, 0..=LONGEST)).transpose()?;
    let choices = [
        wire.text.map(|text| Item::Say(Sentence::Text { text, pieces: size(pieces) })),
        wire.reasoning.map(|text| Item::Say(Sentence::Reasoning { text, pieces: size(pieces) })),
        wire.call.map(call).transpose()?.map(Item::Say),
        delay.map(|millis| Item::Say(Sentence::Delay(millis))),
        wire.repeat.map(repeat).transpose()?.map(Item::Say),
        wire.cut.map(|on| flag("cut", on, Ending::Cut)).transpose()?,
        wire.stall.map(|on| flag("stall", on, Ending::Stall)).transpose()?,
    ];
    let mut found = choices.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(item), None) => Ok(item),
        _ => Err("it must have exactly one of text, reasoning, call, delay_ms, repeat, cut and stall".into()),
    }
}

fn call(raw: &RawValue) -> Checked<Sentence> {
    let wire: CallWire<'_> = part(raw)?;
    let input = match (wire.input, wire.raw) {
        (Some(_), Some(_)) => return Err("a call has input or raw, not both".into()),
        (Some(input), None) if !input.get().starts_with('{') => {
            return Err("the input of a call is an object; raw takes anything, as a string".into());
        }
        (Some(input), None) => input.get().into(),
        (None, Some(raw)) => raw,
        (None, None) => "{}".into(),
    };
    Ok(Sentence::Call { tool: wire.tool, input, id: wire.id })
}

fn repeat(raw: &RawValue) -> Checked<Sentence> {
    let wire: RepeatWire = part(raw)?;
    let times = size(within("times", wire.times, PIECES)?);
    Ok(Sentence::Repeat { text: wire.text, times })
}

fn flag(name: &str, on: bool, ending: Ending) -> Checked<Item> {
    if on { Ok(Item::End(ending)) } else { Err(format!("{name} is true or not there")) }
}

fn refuse(raw: &RawValue) -> Checked<Refusal> {
    let RefuseWire { status, code, message, retry_after_ms: retry_after, should_retry } = part(raw)?;
    within("status", u64::from(status), 400..=599)?;
    Ok(Refusal { status, code, message, retry_after, should_retry })
}

fn usage(raw: &RawValue) -> Checked<Usage> {
    let UsageWire { input, output, cache_read, cache_write, reasoning } = part(raw)?;
    Ok(Usage { input, output, cache_read, cache_write, reasoning })
}

fn expect(raw: &RawValue) -> Checked<String> {
    let ExpectWire { last_result_contains } = part(raw)?;
    Ok(last_result_contains)
}

fn finish(wire: FinishWire) -> FinishReason {
    match wire {
        FinishWire::Stop => FinishReason::Stop,
        FinishWire::ToolCalls => FinishReason::ToolCalls,
        FinishWire::Length => FinishReason::Length,
        FinishWire::ContentFilter => FinishReason::ContentFilter,
    }
}

fn within(name: &str, number: u64, range: RangeInclusive<u64>) -> Checked<u64> {
    let (least, most) = (*range.start(), *range.end());
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(format!("{name} must be from {least} to {most}, not {number}"))
    }
}

/// A number that has been checked to be small.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Reads a part of the file, which must be an object: a list of the values alone would be taken for one otherwise.
///
/// The line that an error names is counted in the part and would mislead, so it is left out.
fn part<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Checked<T> {
    if !raw.get().starts_with('{') {
        return Err(NO_OBJECT.into());
    }
    serde_json::from_str(raw.get()).map_err(|problem| {
        let text = problem.to_string();
        text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_string()
    })
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
