//! The built-in script: a tour of the current directory through the real tools.
//!
//! It looks around, searches, reads one file and sums up; where there is nothing to go on with, it sums up sooner, so a
//! tour is never longer than four answers. It only ever calls tools that read, and only those on offer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::answered;
use super::cue::{Cue, Teller, Voice};
use super::play::made_up;
use super::report::report;
use super::survey::{ENTRIES, LEFT, MANIFESTS, Survey, survey};
use crate::content::Usage;
use crate::model::ModelRequest;

/// How many lines of a file are read.
const LINES: u32 = 60;

/// A part of the tour: what is said before, and the calls that are made.
struct Part {
    thought: &'static str,
    text: String,
    calls: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Listing {
    depth: u32,
}

#[derive(Serialize)]
struct Search<'a> {
    pattern: &'a str,
}

#[derive(Serialize)]
struct Reading<'a> {
    file_path: &'a str,
    limit: u32,
}

/// The answer to a request, made from the request alone.
pub fn tour(request: &ModelRequest) -> Vec<Cue> {
    let (survey, step) = (survey(request), answered(request));
    let candidates = match step {
        0 => Vec::from([looking()]),
        1 if !survey.is_empty() => {
            [Some(searching(&survey)), reading(&survey)].into_iter().flatten().collect()
        }
        2 => reading(&survey).into_iter().collect(),
        _ => Vec::new(),
    };
    match candidates.into_iter().find_map(|part| offered(part, request)) {
        Some(part) => act(&part, step + 1),
        None => sum_up(&survey, step),
    }
}

fn looking() -> Part {
    let pattern = format!("**/{{README*,readme*,{}}}", MANIFESTS.join(","));
    Part {
        thought: "Nothing is thought here, this text is part of the script: look around, search, read one file, sum up.",
        text: "I am the rehearsal model: a script inside hostler, not a language model. I'll look around in this \
            directory with the real tools and tell you what they find."
            .into(),
        calls: Vec::from([("ls", json(&Listing { depth: 2 })), ("glob", json(&Search { pattern: &pattern }))]),
    }
}

fn searching(survey: &Survey<'_>) -> Part {
    let found = survey.tree.files.len() + survey.tree.directories;
    let entries = if found == 1 { "entry" } else { "entries" };
    Part {
        thought: "",
        text: format!(
            "That lists {found} {entries}. Next, I'll search for entry points and for work left to do."
        ),
        calls: [ENTRIES, LEFT].map(|pattern| ("grep", json(&Search { pattern }))).into(),
    }
}

fn reading(survey: &Survey<'_>) -> Option<Part> {
    let path = survey.best_file().filter(|_| !survey.tried)?;
    let text = format!("Now I'll read {path}, which should say what this is.");
    Some(Part {
        thought: "",
        text,
        calls: Vec::from([("view", json(&Reading { file_path: path, limit: LINES }))]),
    })
}

/// The part with those of its calls that can be made; none if that leaves no call.
fn offered(mut part: Part, request: &ModelRequest) -> Option<Part> {
    part.calls.retain(|(tool, _)| request.tools.iter().any(|spec| spec.name == *tool));
    (!part.calls.is_empty()).then_some(part)
}

fn act(part: &Part, step: usize) -> Vec<Cue> {
    let mut teller = Teller::new();
    teller.words(Voice::Reasoning, part.thought);
    teller.words(Voice::Text, &part.text);
    for (tool, input) in &part.calls {
        teller.call(made_up(step, teller.calls() + 1), tool, input);
    }
    teller.finish(Usage::default(), None)
}

fn sum_up(survey: &Survey<'_>, step: usize) -> Vec<Cue> {
    let mut teller = Teller::new();
    if step == 0 {
        let text = "I am the rehearsal model: a script inside hostler, not a language model. None of the tools that I \
            look around with is on offer here.\n\n";
        teller.words(Voice::Text, text);
    }
    teller.words(Voice::Text, &report(survey));
    teller.finish(Usage::default(), None)
}

fn json(arguments: &impl Serialize) -> String {
    // Structs of strings and numbers always have a JSON text; there is nothing here that could fail.
    serde_json::to_string(arguments).unwrap_or_default()
}

#[cfg(test)]
#[path = "tour_tests.rs"]
mod tests;
