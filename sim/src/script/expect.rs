//! What a script expects to be so, and whether it is.

use std::fmt::Debug;

use hostler_core::ids::{ClientId, PromptId, SessionId};

use super::line::Line;
use super::words;
use crate::world::World;
use crate::world::people::Heard;
use crate::world::seen::{About, Whom};

/// Something that must be so.
#[derive(Clone, Debug)]
pub(super) enum Expect {
    /// The run of a prompt or of a sub-agent has ended so, `open` if it has not, `unknown` if there is no such prompt.
    End(Whom, String),
    /// It has ended for that reason.
    Reason(Whom, String),
    /// Whoever submitted a prompt was told that: `accepted`, the kind of a refusal, or `nothing`.
    Told(Whom, String),
    /// The answer of a run is that text.
    Says(Whom, String),
    /// A run has used so many tokens of input.
    Used(Whom, u64),
    /// The `hostler run` of a prompt has ended with that code, or not.
    Exit(Whom, Option<u8>),
    /// Somebody who answered a question was told that.
    Heard(ClientId, Heard),
    /// So many questions wait for people.
    Questions(usize),
    /// So many rules were kept for always.
    Kept(usize),
    /// The log has so many such records.
    Times(About, usize),
    /// The first such record comes before the first of the others.
    Before(About, About),
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
    if let Some(whom) = line.maybe_whom() {
        return of_run(whom, line);
    }
    Ok(match line.word()? {
        "person" => Expect::Heard(ClientId::new(line.word()?), heard(line)?),
        "questions" => Expect::Questions(line.number()? as usize),
        "kept" => Expect::Kept(line.number()? as usize),
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

fn of_run(whom: Whom, line: &mut Line<'_>) -> Result<Expect, String> {
    Ok(match line.word()? {
        "because" => Expect::Reason(whom, line.word()?.to_owned()),
        "told" => Expect::Told(whom, line.word()?.to_owned()),
        "says" => Expect::Says(whom, line.word()?.to_owned()),
        "used" => Expect::Used(whom, line.number()?),
        "exits" => Expect::Exit(whom, Some(line.number()? as u8)),
        "runs" => Expect::Exit(whom, None),
        end @ ("ok" | "error" | "cancelled" | "limit" | "denied" | "open" | "unknown") => {
            Expect::End(whom, end.to_owned())
        }
        word => return Err(format!("{word:?} cannot be expected of a prompt")),
    })
}

fn heard(line: &mut Line<'_>) -> Result<Heard, String> {
    let words = ["heeded", "too-late", "refused", "unanswered"];
    let known = [Heard::Heeded, Heard::TooLate, Heard::Refused, Heard::Nothing];
    Ok(known[line.one_of(&words)? as usize])
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
            Expect::End(whom, end) => same(end, &end_of(world, whom)),
            Expect::Reason(whom, reason) => {
                let found = world.end_of(&prompt(world, whom)?).map(|end| word_of(&end.reason));
                same(reason, &found.unwrap_or_else(|| "it has not ended".to_owned()))
            }
            Expect::Told(whom, told) => same(told, &told_of(world, &prompt(world, whom)?)),
            Expect::Says(whom, text) => same(text, &answer_of(world, &prompt(world, whom)?)),
            Expect::Used(whom, tokens) => {
                let found = world.end_of(&prompt(world, whom)?).map(|end| end.totals.usage.input);
                same(&Some(*tokens), &found)
            }
            Expect::Exit(whom, code) => same(code, &world.code_of(&prompt(world, whom)?)),
            Expect::Heard(person, heard) => {
                same(heard, world.staged().heard.get(person).unwrap_or(&Heard::Nothing))
            }
            Expect::Questions(number) => same(number, &world.questions()),
            Expect::Kept(number) => same(number, &world.staged().kept),
            Expect::Times(about, times) => same(times, &world.count(about)),
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

fn prompt(world: &World, whom: &Whom) -> Result<PromptId, String> {
    world.prompt_of(whom).ok_or_else(|| "there is no such sub-agent".to_owned())
}

fn end_of(world: &World, whom: &Whom) -> String {
    if let Some(end) = world.prompt_of(whom).as_ref().and_then(|prompt| world.end_of(prompt)) {
        return word_of(&end.status);
    }
    let accepted = world.count(&("PromptAccepted".to_owned(), Some(whom.clone()))) > 0;
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
    let session = world.session_of(prompt);
    let said = answer.and_then(|answer| world.log_of(&session?)?.answer(answer));
    said.map(|said| said.text()).unwrap_or_default()
}

fn before(world: &World, first: &About, second: &About) -> Result<(), String> {
    let find = |about: &About| {
        world.place_of(about, 0).ok_or_else(|| format!("there is no {} {:?}", about.0, about.1))
    };
    let (first, second) = (find(first)?, find(second)?);
    if first < second { Ok(()) } else { Err(format!("it stands at {first}, and the other at {second}")) }
}

/// What a plain value is called, in lower case.
fn word_of(value: &impl Debug) -> String {
    format!("{value:?}").to_lowercase()
}
