//! What a line of a script says.

use hostler_core::content::Usage;
use hostler_core::ids::ClientId;
use hostler_core::model::{CallError, CallErrorKind, FinishReason, ModelEvent};
use hostler_core::protocol::{Answer, Breadth};
use hostler_core::record::Record;

use super::line::{Line, Step, Until};
use crate::plan::{Submit, What};
use crate::world::seen::About;
use crate::world::staged::{Says, StagedAnswer, StagedPreparation, StagedTool};

/// The words of a line: what stands in quotation marks, of either kind, is one.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, more) = match first {
            '"' | '\'' => rest[1..].split_once(first).unwrap_or((&rest[1..], "")),
            _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = more.trim_start();
    }
    words
}

/// Reads a line.
pub(super) fn read(text: &str) -> Result<Step, String> {
    let words = split(text);
    let mut line = Line::new(&words);
    let verb = line.word()?;
    let step = match verb {
        "set" => Step::Set(line.word()?.to_owned(), line.number()?),
        "answer" => Step::Answer(answer(&mut line)?),
        "tool" => Step::Tool(tool(&mut line)?),
        "prepare" => Step::Prepare(prepare(&mut line)?),
        "submit" => Step::Do(What::Submit(submit(&mut line, false)?)),
        "run" => Step::Do(What::Submit(submit(&mut line, true)?)),
        "look" => Step::Look(look(&mut line)?),
        "person" => Step::Say(person(&mut line)?),
        "cancel" => cancel(&mut line)?,
        "clear" => Step::Do(What::Clear { process: process(&mut line)?, session: 0 }),
        "signal" => Step::Do(What::Signal { prompt: line.prompt()?, how: line.one_of(&SIGNALS)? }),
        "kill" => Step::Do(What::Kill { process: line.number()?, down: 0 }),
        "power" => Step::Do(What::Power { down: 0, lost: 1000 }),
        "disk" => Step::Do(What::Outage { how: line.one_of(&DISKS)?, time: line.number()? }),
        "hold" => Step::Hold(line.number()? as usize),
        "release" => Step::Release(line.number()? as usize),
        "until" => Step::Until(until(&mut line)?),
        "wait" => Step::Wait(line.number()?),
        "drain" => Step::Drain,
        "expect" => Step::Expect(super::expect::read(&mut line)?),
        _ => return Err(format!("{verb:?} is not known")),
    };
    line.end()?;
    Ok(step)
}

const SIGNALS: [&str; 4] = ["hangup", "interrupt", "terminate", "reader-leaves"];
const DISKS: [&str; 4] = ["slow", "busy", "fails", "lies"];

fn process(line: &mut Line<'_>) -> Result<u64, String> {
    if line.skip("in") { line.number() } else { Ok(0) }
}

fn submit(line: &mut Line<'_>, headless: bool) -> Result<Submit, String> {
    let (prompt, new) = (line.prompt()?, true);
    let (steps, wait) = (8, 60_000);
    let mut submit = Submit {
        process: 0,
        session: 0,
        new,
        prompt,
        run: headless,
        delivery: 0,
        permission: 1,
        steps,
        wait,
        headless,
        schema: false,
        flaw: 0,
    };
    while let Some(word) = line.next() {
        match word {
            "in" => submit.process = line.number()?,
            "existing" => submit.new = false,
            "session" => submit.session = line.number()?,
            "named" => submit.run = true,
            "joins" => submit.delivery = 1,
            "waits" => submit.delivery = 2,
            "exact" => submit.schema = true,
            "guarded" => submit.permission = 0,
            "asks" => submit.permission = 2,
            "steps" => submit.steps = line.number()?,
            "patience" => submit.wait = line.number()?,
            "empty" => submit.flaw = 1,
            "differently" => submit.flaw = 2,
            "borrowed" => submit.flaw = 3,
            _ => return Err(format!("{word:?} is not known of a prompt")),
        }
    }
    Ok(submit)
}

fn cancel(line: &mut Line<'_>) -> Result<Step, String> {
    if let Some(agent) = line.maybe_agent() {
        return Ok(Step::CancelAgent(agent, process(line)?));
    }
    let prompt = if line.skip("all") { None } else { Some(line.prompt()?) };
    let session = if line.skip("session") { line.number()? } else { 0 };
    Ok(Step::Do(What::Cancel { process: process(line)?, session, prompt }))
}

/// What a person answers: `person NAME says ANSWER to N [session S] [in PROCESS]`.
fn person(line: &mut Line<'_>) -> Result<Says, String> {
    let person = ClientId::new(line.word()?);
    if !line.skip("says") {
        return Err("a person says something".to_owned());
    }
    let answer = ANSWERS[line.one_of(&ANSWERS.map(|(word, _)| word))? as usize].1;
    if !line.skip("to") {
        return Err("it is not said to which question".to_owned());
    }
    let question = line.number()?;
    let session = if line.skip("session") { Some(line.number()?) } else { None };
    Ok(Says { person, answer, question, session, process: process(line)? })
}

const ANSWERS: [(&str, Answer); 6] = [
    ("once", Answer::Once),
    ("for-session", Answer::Session(Breadth::Exact)),
    ("for-directory", Answer::Session(Breadth::Directory)),
    ("always", Answer::Always(Breadth::Exact)),
    ("always-for-directory", Answer::Always(Breadth::Directory)),
    ("no", Answer::Deny),
];

fn look(line: &mut Line<'_>) -> Result<Option<u64>, String> {
    if line.skip("never") {
        return Ok(None);
    }
    if line.skip("after") { line.number().map(Some) } else { Ok(Some(0)) }
}

fn tool(line: &mut Line<'_>) -> Result<StagedTool, String> {
    let mut tool = StagedTool::default();
    while let Some(word) = line.next() {
        match word {
            "ok" => {}
            "fails" => tool.fails = true,
            "deaf" => tool.deaf = true,
            "after" => tool.after = line.number()?,
            _ => return Err(format!("{word:?} is not known of a tool")),
        }
    }
    Ok(tool)
}

fn prepare(line: &mut Line<'_>) -> Result<StagedPreparation, String> {
    let mut preparation = StagedPreparation { after: Some(0), fails: false };
    while let Some(word) = line.next() {
        match word {
            "ok" => {}
            "fails" => preparation.fails = true,
            "never" => preparation.after = None,
            "after" => preparation.after = Some(line.number()?),
            _ => return Err(format!("{word:?} is not known of a preparation")),
        }
    }
    Ok(preparation)
}

/// An answer: pieces in order, `after MS` before any of them, and what stands behind `late` comes even if it is cancelled.
fn answer(line: &mut Line<'_>) -> Result<StagedAnswer, String> {
    let (mut answer, mut block, mut after, mut late) = (StagedAnswer::default(), 0, 0, false);
    while let Some(word) = line.next() {
        let mut events = Vec::new();
        match word {
            "after" => after = line.number()?,
            "late" => late = true,
            "connects" => events.push(ModelEvent::Connected),
            "says" => events.push(ModelEvent::Text { block, text: line.word()?.to_owned() }),
            "thinks" => events.push(ModelEvent::Reasoning { block, text: line.word()?.to_owned() }),
            "calls" => {
                let (name, input) = (line.word()?.to_owned(), line.word()?.to_owned());
                events.push(ModelEvent::Call { block, id: format!("call-{block}"), name });
                events.push(ModelEvent::Input { block, text: input });
            }
            "uses" => {
                let usage = Usage { input: line.number()?, ..Usage::default() };
                events.push(ModelEvent::Usage(usage));
            }
            "ends" => events.push(ModelEvent::Finished(FinishReason::Stop)),
            "is-cut" => events.push(ModelEvent::Finished(FinishReason::Length)),
            "is-withheld" => events.push(ModelEvent::Finished(FinishReason::ContentFilter)),
            "breaks" => events.push(failed(CallErrorKind::Truncated, None)),
            "fails" => events.push(status(line)?),
            _ => return Err(format!("{word:?} is not known of an answer")),
        }
        block += u32::from(matches!(word, "says" | "thinks" | "calls"));
        for event in events {
            answer.events.push((std::mem::take(&mut after), event));
            answer.late += usize::from(late);
        }
    }
    Ok(answer)
}

fn status(line: &mut Line<'_>) -> Result<ModelEvent, String> {
    let status = line.number()? as u16;
    let code = if line.skip("too-long") { "context_length_exceeded" } else { "" };
    let wait = if line.skip("wait") { Some(line.number()?) } else { None };
    Ok(failed(CallErrorKind::Status { status, code: code.to_owned() }, wait))
}

fn failed(kind: CallErrorKind, retry_after: Option<u64>) -> ModelEvent {
    ModelEvent::Failed(CallError { kind, message: "refused".to_owned(), retry_after, should_retry: None })
}

fn until(line: &mut Line<'_>) -> Result<Until, String> {
    if line.skip("waiting") {
        return Ok(Until::Waiting(line.rest()));
    }
    let decided = line.skip("decided");
    let committed = !decided && line.skip("committed");
    let about = record(line)?;
    Ok(match (decided, committed) {
        (true, _) => Until::Decided(about),
        (_, true) => Until::Committed(about),
        _ => Until::Logged(about),
    })
}

/// The kind of a record, and whom it is about if that is said.
pub(super) fn record(line: &mut Line<'_>) -> Result<About, String> {
    let kind = line.word()?.to_owned();
    // A reader of the log skips what it does not know, and stumbles over what it knows and cannot read.
    if matches!(Record::read(&format!("{{\"{kind}\":{{}}}}")), Ok(None)) {
        return Err(format!("there is no record {kind:?}"));
    }
    Ok((kind, line.maybe_whom()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_quotation_marks_is_one_word() {
        assert_eq!(split("answer says \"two words\" ends"), ["answer", "says", "two words", "ends"]);
        assert_eq!(split("calls ls '{\"a\": \"b\"}'"), ["calls", "ls", "{\"a\": \"b\"}"]);
        assert_eq!(split("  "), [""; 0]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "",
            "dance",
            "submit x",
            "submit p1 wildly",
            "until Nonsense",
            "expect p1 happy",
            "drain now",
            "tool",
            "person anna",
            "person anna says maybe to 1",
            "person anna says no",
            "cancel a1 session 0",
            "look away",
        ] {
            assert_eq!(read(line).is_err(), line != "tool", "{line}");
        }
    }
}
