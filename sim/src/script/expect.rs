//! What a script expects to be so, and whether it is.

use std::fmt::Debug;

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::record::Record;

use super::line::Line;
use super::words;
use crate::world::World;
use crate::world::staged::is;

/// A record of some kind about some prompt, or about any.
type Named = (String, Option<PromptId>);

/// Something that must be so.
#[derive(Clone, Debug)]
pub(super) enum Expect {
    /// A prompt's run has ended so, `open` if it has not, `unknown` if there is no such prompt.
    End(PromptId, String),
    /// A prompt's run has ended for that reason.
    Reason(PromptId, String),
    /// Whoever submitted a prompt was told that: `accepted`, the kind of a refusal, or `nothing`.
    Told(PromptId, String),
    /// The answer of a prompt's run is that text.
    Says(PromptId, String),
    /// The `hostler run` of a prompt has ended with that code, or not.
    Exit(PromptId, Option<u8>),
    /// The log has so many such records.
    Times(Named, usize),
    /// The first such record comes before the first of the others.
    Before(Named, Named),
    /// The last cancel is said to cover these runs.
    Covers(Vec<String>),
    /// So many model calls, tools or preparations were begun.
    Asked(usize),
    Ran(usize),
    Prepared(usize),
    /// The last request to a model has that text, or does not.
    Request(String, bool),
    /// The session is open in a process, or it is not.
    Busy(bool),
    /// Nothing is under way.
    Quiet,
}

/// Reads what stands behind `expect`.
pub(super) fn read(line: &mut Line<'_>) -> Result<Expect, String> {
    if let Some(prompt) = line.maybe_prompt() {
        return of_prompt(prompt, line);
    }
    Ok(match line.word()? {
        "covers" => Expect::Covers(line.rest().split_whitespace().map(str::to_owned).collect()),
        "asked" => Expect::Asked(line.number()? as usize),
        "ran" => Expect::Ran(line.number()? as usize),
        "prepared" => Expect::Prepared(line.number()? as usize),
        "request-has" => Expect::Request(line.word()?.to_owned(), true),
        "request-lacks" => Expect::Request(line.word()?.to_owned(), false),
        "busy" => Expect::Busy(true),
        "idle" => Expect::Busy(false),
        "quiet" => Expect::Quiet,
        "record" => of_record(line)?,
        word => return Err(format!("{word:?} cannot be expected")),
    })
}

fn of_prompt(prompt: PromptId, line: &mut Line<'_>) -> Result<Expect, String> {
    Ok(match line.word()? {
        "because" => Expect::Reason(prompt, line.word()?.to_owned()),
        "told" => Expect::Told(prompt, line.word()?.to_owned()),
        "says" => Expect::Says(prompt, line.word()?.to_owned()),
        "exits" => Expect::Exit(prompt, Some(line.number()? as u8)),
        "runs" => Expect::Exit(prompt, None),
        end @ ("ok" | "error" | "cancelled" | "limit" | "denied" | "open" | "unknown") => {
            Expect::End(prompt, end.to_owned())
        }
        word => return Err(format!("{word:?} cannot be expected of a prompt")),
    })
}

fn of_record(line: &mut Line<'_>) -> Result<Expect, String> {
    let first = words::record(line)?;
    if line.skip("before") {
        return Ok(Expect::Before(first, words::record(line)?));
    }
    if line.skip("never") {
        return Ok(Expect::Times(first, 0));
    }
    if line.skip("once") {
        return Ok(Expect::Times(first, 1));
    }
    Ok(Expect::Times(first, line.number()? as usize))
}

impl Expect {
    /// Fails with how it is instead.
    pub(super) fn check(&self, world: &mut World) -> Result<(), String> {
        match self {
            Expect::End(prompt, end) => same(end, &end_of(world, prompt)),
            Expect::Reason(prompt, reason) => {
                let found = world.end_of(prompt).map(|end| word_of(&end.reason));
                same(reason, &found.unwrap_or_else(|| "it has not ended".to_owned()))
            }
            Expect::Told(prompt, told) => same(told, &told_of(world, prompt)),
            Expect::Says(prompt, text) => same(text, &answer_of(world, prompt)),
            Expect::Exit(prompt, code) => same(code, &world.code_of(prompt)),
            Expect::Times((kind, prompt), times) => {
                let found = world.records().filter(|record| is(record, kind, prompt.as_ref())).count();
                same(times, &found)
            }
            Expect::Before(first, second) => before(world, first, second),
            Expect::Covers(runs) => {
                let covered = world.staged().covered.clone().unwrap_or_default();
                same(runs, &covered.iter().map(ToString::to_string).collect::<Vec<_>>())
            }
            Expect::Asked(times) => same(times, &world.staged().requests.len()),
            Expect::Ran(times) => same(times, &world.staged().ran),
            Expect::Prepared(times) => same(times, &world.staged().prepared),
            Expect::Request(text, has) => {
                let last = format!("{:?}", world.staged().requests.last());
                if last.contains(text) == *has { Ok(()) } else { Err(last) }
            }
            Expect::Busy(busy) => same(busy, &world.is_open(&SessionId::new("s0"))),
            Expect::Quiet => same(&true, &world.is_quiet()),
        }
    }
}

fn same<T: PartialEq + Debug>(expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

fn end_of(world: &World, prompt: &PromptId) -> String {
    if let Some(end) = world.end_of(prompt) {
        return word_of(&end.status);
    }
    let accepted = world.records().any(|record| is(record, "PromptAccepted", Some(prompt)));
    if accepted { "open" } else { "unknown" }.to_owned()
}

fn told_of(world: &World, prompt: &PromptId) -> String {
    match world.told(prompt) {
        None => "nothing".to_owned(),
        Some(None) => "accepted".to_owned(),
        Some(Some(kind)) => word_of(&kind),
    }
}

fn answer_of(world: &World, prompt: &PromptId) -> String {
    let answer = world.end_of(prompt).and_then(|end| end.answer);
    let said = answer.and_then(|answer| world.log_of(&SessionId::new("s0"))?.answer(answer));
    said.map(|said| said.text()).unwrap_or_default()
}

fn before(world: &World, first: &Named, second: &Named) -> Result<(), String> {
    let find = |(kind, prompt): &Named| {
        let place = world.records().position(|record: &Record| is(record, kind, prompt.as_ref()));
        place.ok_or_else(|| format!("there is no {kind} {prompt:?}"))
    };
    let (first, second) = (find(first)?, find(second)?);
    if first < second { Ok(()) } else { Err(format!("it stands at {first}, and the other at {second}")) }
}

/// What a plain value is called, in lower case.
fn word_of(value: &impl Debug) -> String {
    format!("{value:?}").to_lowercase()
}
