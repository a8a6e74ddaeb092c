//! JSON Schemas that answers must satisfy: whether a file holds one, and whether an answer satisfies it. What follows from
//! that is decided elsewhere.
//!
//! Nothing is fetched: a schema that refers to something outside of its own file is refused.

mod place;
mod sound;
mod walk;

use std::error::Error;
use std::fmt::Write;
use std::thread;

use boon::{CompileError, Compiler, Draft, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError};
use hostler_core::config::tree::Place;
use hostler_core::quote::quoted;
use hostler_core::session::Verdict;
use serde_json::Value;

use crate::config::jsonc;

/// How many bytes a schema may have. It is sent with every request.
pub const SCHEMA_BYTES: usize = 64 << 10;

/// How many problems with an answer are named at once.
const PROBLEMS: usize = 10;

/// How many bytes what is said of one problem may have.
const PROBLEM_BYTES: usize = 400;

/// References of a schema are followed one inside the other, and there is room for as many as a schema can have.
const STACK: usize = 256 << 20;

/// What a schema is called while it is read. Its references are relative to that.
const NAME: &str = "schema:/";

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line and the column, from 1, if there is a place that is to blame.
    pub at: Option<(u32, u32)>,
    /// What, beginning in lower case and without a full stop.
    pub message: String,
}

/// Why it is not known that a schema can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Something is wrong with it.
    Fault(Fault),
    /// It could not be checked, and why, beginning in lower case and without a full stop.
    Unchecked(String),
}

/// Checks that a text is a JSON Schema by itself.
pub fn check(text: &str) -> Result<(), Unfit> {
    let text = text.to_owned();
    match with_room(STACK, move || compiled(&text).map(drop)) {
        Ok(checked) => checked.map_err(Unfit::Fault),
        Err(error) => Err(Unfit::Unchecked(error)),
    }
}

/// Says whether an answer is JSON and satisfies a schema.
pub(crate) fn judge(schema: &str, answer: &str) -> Verdict {
    let (schema, answer) = (schema.to_owned(), answer.to_owned());
    with_room(STACK, move || judged(&schema, &answer)).unwrap_or_else(|error| {
        let text = format!(
            "It could not be found out whether the answer satisfies the schema, because {error}; try again."
        );
        Verdict::Undecided(text)
    })
}

fn with_room<T: Send + 'static>(
    stack: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let thread = thread::Builder::new().name("schema".to_owned()).stack_size(stack).spawn(work);
    let thread = thread.map_err(|error| {
        format!("there is no room in memory for the {} MiB that it may need ({error})", stack >> 20)
    })?;
    thread.join().map_err(|_| "it broke down inside hostler".to_owned())
}

fn judged(schema: &str, answer: &str) -> Verdict {
    let (schemas, root) = match compiled(schema) {
        Ok(compiled) => compiled,
        Err(Fault { message, .. }) => {
            return Verdict::Undecided(format!("The schema for the answer cannot be used: {message}."));
        }
    };
    let value: Value = match serde_json::from_str(answer) {
        Ok(value) => value,
        Err(error) => return Verdict::Violated(no_json(answer, &error)),
    };
    if let Some(name) = twice(answer) {
        return Verdict::Violated(format!("The name {name} stands twice in the same object."));
    }
    match schemas.validate(&value, root) {
        Ok(()) => Verdict::Satisfied,
        Err(error) if is_circle(&error) => Verdict::Undecided(
            "The schema for the answer cannot be used: it refers to itself without end.".to_owned(),
        ),
        Err(error) => Verdict::Violated(problems(&error)),
    }
}

fn no_json(answer: &str, error: &serde_json::Error) -> String {
    if error.to_string().starts_with("number out of range") {
        return format!(
            "A number in it is too large to be judged (line {}, column {}); numbers go up to about 1.8e308.",
            error.line(),
            error.column()
        );
    }
    let hint = match answer.trim_start().chars().next() {
        Some('`') => "; it begins with a code fence, which must be left out",
        Some('{' | '[' | '"') => "",
        Some(_) | None => "; it must begin with the JSON itself",
    };
    format!("It is not JSON: {error}{hint}.")
}

/// The first name that stands twice in the same object of an answer, which is JSON.
fn twice(answer: &str) -> Option<String> {
    let answer = jsonc::parse(answer).ok()?;
    sound::twice(&answer).map(|(name, _)| quoted(name))
}

/// Whether nothing was decided because the schema led back to where it began.
fn is_circle(error: &ValidationError<'_, '_>) -> bool {
    matches!(error.kind, ErrorKind::RefCycle { .. }) || error.causes.iter().any(is_circle)
}

/// What is wrong with an answer, a line a problem.
fn problems(error: &ValidationError<'_, '_>) -> String {
    let mut found = Vec::new();
    leaves(error, &mut found);
    let more = found.len().saturating_sub(PROBLEMS);
    let mut text = String::new();
    for (nth, leaf) in found.iter().take(PROBLEMS).enumerate() {
        let at = leaf.instance_location.to_string();
        let at = if at.is_empty() { "the whole".to_owned() } else { at };
        let line = cut(format!("at {at}: {}", leaf.kind));
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{line}", if nth == 0 { "" } else { "\n" });
    }
    if more > 0 {
        let _ = write!(text, "\nand {more} more");
    }
    text
}

/// The problems that have no others behind them, in their order.
fn leaves<'e, 's, 'v>(error: &'e ValidationError<'s, 'v>, found: &mut Vec<&'e ValidationError<'s, 'v>>) {
    if error.causes.is_empty() {
        found.push(error);
    }
    error.causes.iter().for_each(|cause| leaves(cause, found));
}

fn cut(mut line: String) -> String {
    if line.len() > PROBLEM_BYTES {
        line.truncate(line.floor_char_boundary(PROBLEM_BYTES));
        line.push('…');
    }
    line.replace(['\n', '\r'], " ")
}

/// The schema, ready to be used.
fn compiled(text: &str) -> Result<(Schemas, SchemaIndex), Fault> {
    // Some programs begin a file with a mark that says how it is encoded, and that is no part of the JSON.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let nowhere = |message: &str| Fault { at: None, message: message.to_owned() };
    if text.len() > SCHEMA_BYTES {
        return Err(nowhere(&format!("it is longer than {} KiB", SCHEMA_BYTES >> 10)));
    }
    let schema: Value = serde_json::from_str(text).map_err(|error| Fault {
        at: Some((narrow(error.line().max(1)), narrow(error.column().max(1)))),
        message: format!("it is not JSON ({})", place::without(&error)),
    })?;
    if let Some((pattern, at)) = jsonc::parse(text).ok().as_ref().and_then(sound::too_large) {
        let message = format!("the pattern {} is too large when it is written out", quoted(pattern));
        return Err(Fault { at: Some((at.line, at.column)), message });
    }
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(Nothing));
    compiler.add_resource(NAME, schema).map_err(|error| fault(text, &error))?;
    let root = compiler.compile(NAME, &mut schemas).map_err(|error| fault(text, &error))?;
    unsound(text).map_or(Ok((schemas, root)), Err)
}

/// What makes a schema unfit that is one.
fn unsound(text: &str) -> Option<Fault> {
    let root = jsonc::parse(text).ok()?;
    let of = |(said, at): (&str, Place), message: &dyn Fn(String) -> String| Fault {
        at: Some((at.line, at.column)),
        message: message(quoted(said)),
    };
    let twice = || {
        sound::twice(&root)
            .map(|found| of(found, &|name| format!("the name {name} stands twice in one object")))
    };
    let inexact = || {
        let message = |number| {
            format!(
                "multiples of {number} cannot be told exactly from other numbers; leave multipleOf out, or count in smaller units"
            )
        };
        sound::inexact(&root).map(|found| of(found, &message))
    };
    let too_far = || {
        let message = |number, name| {
            format!(
                "numbers as large as {number} cannot be told exactly from those beside them; leave {name} out, or take one between \
                 -9007199254740991 and 9007199254740991"
            )
        };
        sound::too_far(&root).map(|(number, name, at)| of((number, at), &|number| message(number, name)))
    };
    let circle = || {
        let message =
            |reference| format!("{reference} leads back to itself, so that nothing is ever decided");
        sound::circle(&root).map(|found| of(found, &message))
    };
    twice().or_else(too_far).or_else(inexact).or_else(circle)
}

/// Where references to other files would be followed.
struct Nothing;

impl UrlLoader for Nothing {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("nothing is fetched".into())
    }
}

fn fault(text: &str, error: &CompileError) -> Fault {
    let named = |name: &str, message: String| Fault { at: place::of_text(text, name), message };
    match error {
        CompileError::LoadUrlError { url, .. } | CompileError::UnsupportedUrlScheme { url } => {
            let url = url.strip_prefix(NAME).unwrap_or(url);
            let message =
                format!("it refers to {url}, and nothing outside of the file is read; put that under $defs");
            named(url, message)
        }
        CompileError::JsonPointerNotFound(url) => {
            let reference = url.strip_prefix(NAME).unwrap_or(url);
            named(reference, format!("it refers to {reference}, which is not there"))
        }
        CompileError::AnchorNotFound { reference, .. } => {
            let reference = reference.strip_prefix(NAME).unwrap_or(reference);
            named(reference, format!("it refers to {reference}, which is not there"))
        }
        CompileError::ValidationError { src, .. } => {
            let mut found = Vec::new();
            leaves(src, &mut found);
            let leaf = found.first().copied().unwrap_or(src);
            let message = format!("it is no JSON Schema ({})", first_line(&leaf.kind.to_string()));
            Fault { at: place::of_location(text, &leaf.instance_location), message }
        }
        CompileError::InvalidRegex { regex, .. } => named(
            regex,
            format!(
                "the pattern {regex:?} cannot be used; it must do without look-around and back-references"
            ),
        ),
        other => {
            Fault { at: None, message: format!("it is no JSON Schema ({})", first_line(&other.to_string())) }
        }
    }
}

/// A message in one line; of one that draws a picture the last line says what is wrong.
fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().trim_end_matches(':').to_owned();
    match lines.next_back() {
        Some(last) => cut(format!("{first}: {last}")),
        None => cut(first),
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
