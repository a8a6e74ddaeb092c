//! Actions as lines of text: `3 at 120 aim committed ToolCallStarted do kill process=0 down=100`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{AIMS, Action, Aim, Submit, What};

/// The line of an action.
pub fn write_action(action: &Action) -> String {
    let mut line = format!("{} at {}", action.id, action.at);
    match action.aim {
        Aim::None => {}
        Aim::Deadline(delta) => line.push_str(&format!(" aim deadline {delta}")),
        Aim::Decided(kind) => line.push_str(&format!(" aim decided {kind}")),
        Aim::Committed(kind) => line.push_str(&format!(" aim committed {kind}")),
    }
    let (verb, fields) = parts(&action.what);
    line.push_str(&format!(" do {verb}"));
    for (name, value) in fields {
        // Writing to a string cannot fail.
        let _ = write!(line, " {name}={value}");
    }
    line
}

fn parts(what: &What) -> (&'static str, Vec<(&'static str, u64)>) {
    match *what {
        What::Submit(submit) => ("submit", submit_parts(&submit)),
        What::Cancel { process, session, prompt: None } => {
            ("cancel", vec![("process", process), ("session", session)])
        }
        What::Cancel { process, session, prompt: Some(prompt) } => {
            ("cancel", vec![("process", process), ("session", session), ("prompt", prompt)])
        }
        What::Stop { process, session } => ("stop", vec![("process", process), ("session", session)]),
        What::Clear { process, session } => ("clear", vec![("process", process), ("session", session)]),
        What::Rename { process, session, name } => {
            ("rename", vec![("process", process), ("session", session), ("name", name)])
        }
        What::Fork { process, from, session } => {
            ("fork", vec![("process", process), ("from", from), ("session", session)])
        }
        What::Delete { process, session } => ("delete", vec![("process", process), ("session", session)]),
        What::Signal { prompt, how } => ("signal", vec![("prompt", prompt), ("how", how)]),
        What::Kill { process, down } => ("kill", vec![("process", process), ("down", down)]),
        What::Suspend { process, time } => ("suspend", vec![("process", process), ("time", time)]),
        What::Power { down, lost } => ("power", vec![("down", down), ("lost", lost)]),
        What::Outage { how, time } => ("outage", vec![("how", how), ("time", time)]),
    }
}

fn submit_parts(submit: &Submit) -> Vec<(&'static str, u64)> {
    vec![
        ("process", submit.process),
        ("session", submit.session),
        ("new", u64::from(submit.new)),
        ("prompt", submit.prompt),
        ("run", u64::from(submit.run)),
        ("delivery", submit.delivery),
        ("permission", submit.permission),
        ("steps", submit.steps),
        ("wait", submit.wait),
        ("headless", u64::from(submit.headless)),
        ("schema", u64::from(submit.schema)),
        ("flaw", submit.flaw),
    ]
}

/// Reads the line of an action; says what is wrong with it.
pub fn read_action(line: &str) -> Result<Action, String> {
    let bad = || format!("this is not an action: {line}");
    let (head, what) = line.split_once(" do ").ok_or_else(bad)?;
    let words: Vec<_> = head.split_whitespace().collect();
    let [id, "at", at, aim @ ..] = words.as_slice() else { return Err(bad()) };
    let (Ok(id), Ok(at)) = (id.parse(), at.parse()) else { return Err(bad()) };
    let aim = read_aim(aim).ok_or_else(bad)?;
    let what = read_what(what).ok_or_else(bad)?;
    Ok(Action { id, at, aim, what })
}

fn read_aim(words: &[&str]) -> Option<Aim> {
    let kind = |kind: &str| AIMS.iter().find(|known| **known == kind).copied();
    match words {
        [] => Some(Aim::None),
        ["aim", "deadline", delta] => delta.parse().ok().map(Aim::Deadline),
        ["aim", "decided", record] => kind(record).map(Aim::Decided),
        ["aim", "committed", record] => kind(record).map(Aim::Committed),
        _ => None,
    }
}

fn read_what(text: &str) -> Option<What> {
    let mut words = text.split_whitespace();
    let verb = words.next()?;
    let field = |word: &str| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let fields: BTreeMap<String, u64> = words.map(field).collect::<Option<_>>()?;
    let get = |name: &str| fields.get(name).copied();
    let process = get("process");
    Some(match verb {
        "submit" => What::Submit(read_submit(&get)?),
        "cancel" => What::Cancel { process: process?, session: get("session")?, prompt: get("prompt") },
        "stop" => What::Stop { process: process?, session: get("session")? },
        "clear" => What::Clear { process: process?, session: get("session")? },
        "rename" => What::Rename { process: process?, session: get("session")?, name: get("name")? },
        "fork" => What::Fork { process: process?, from: get("from")?, session: get("session")? },
        "delete" => What::Delete { process: process?, session: get("session")? },
        "signal" => What::Signal { prompt: get("prompt")?, how: get("how")? },
        "kill" => What::Kill { process: process?, down: get("down")? },
        "suspend" => What::Suspend { process: process?, time: get("time")? },
        "power" => What::Power { down: get("down")?, lost: get("lost")? },
        "outage" => What::Outage { how: get("how")?, time: get("time")? },
        _ => return None,
    })
}

fn read_submit(get: &impl Fn(&str) -> Option<u64>) -> Option<Submit> {
    Some(Submit {
        process: get("process")?,
        session: get("session")?,
        new: get("new")? > 0,
        prompt: get("prompt")?,
        run: get("run")? > 0,
        delivery: get("delivery")?,
        permission: get("permission")?,
        steps: get("steps")?,
        wait: get("wait")?,
        headless: get("headless")? > 0,
        // Older files say nothing of it.
        schema: get("schema").is_some_and(|schema| schema > 0),
        flaw: get("flaw")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::*;
    use crate::options::Options;

    #[test]
    fn actions_read_back_as_they_are_written() {
        for seed in 0..100 {
            for action in generate(seed, &Options::of_seed(seed, 1)).actions {
                assert_eq!(read_action(&write_action(&action)), Ok(action));
            }
        }
    }

    #[test]
    fn what_is_no_action_is_refused() {
        for line in [
            "",
            "1 at 2",
            "1 at x do clear process=0 session=0",
            "1 at 2 do kill process=0",
            "1 at 2 aim x do power down=1 lost=1",
        ] {
            assert!(read_action(line).is_err(), "{line}");
        }
    }
}
