//! What a run needs beside its command line. It is gathered on a thread of its own, because a pipe or a file may never
//! end.

use std::path::Path;
use std::sync::Arc;

use hostler_core::client::{Gathered, Input};
use hostler_core::config::Config;
use hostler_core::content::ErrorClass;
use hostler_core::protocol::{Refusal, RefusalKind};
use hostler_shell::models;
use hostler_shell::rules;
use hostler_shell::schema::{self, Fault, Unfit};
use tokio::sync::oneshot;

use super::aside::aside;
use super::{attach, keep, prompt};
use crate::cli::RunArgs;
use crate::place::Place;

/// What is being gathered.
pub(super) struct Gathering {
    done: Option<Result<oneshot::Receiver<Result<Gathered, Hindrance>>, String>>,
}

/// Why a run cannot begin.
enum Hindrance {
    /// What was asked for makes no sense.
    Mistake(String),
    /// There is no such model.
    UnknownModel(String),
    /// Something of the system or of what is kept cannot be used.
    Unavailable(String),
}

impl From<String> for Hindrance {
    fn from(mistake: String) -> Self {
        Self::Mistake(mistake)
    }
}

impl Gathering {
    /// What was gathered, or why not, once.
    pub(super) async fn ready(&mut self) -> Input {
        let Some(done) = self.done.as_mut() else { return std::future::pending().await };
        let gathered = match done {
            Ok(done) => done.await,
            Err(message) => Ok(Err(Hindrance::Unavailable(std::mem::take(message)))),
        };
        self.done = None;
        match gathered {
            Ok(Ok(gathered)) => Input::Ready(Box::new(gathered)),
            Ok(Err(Hindrance::Mistake(mistake))) => Input::Mistake(mistake),
            Ok(Err(Hindrance::UnknownModel(message))) => Input::UnknownModel(message),
            Ok(Err(Hindrance::Unavailable(message))) => {
                Input::Unavailable(Refusal::new(RefusalKind::Storage, message))
            }
            Err(_) => {
                let message = "The prompt could not be put together, which is a fault in hostler; try again.";
                Input::Unavailable(Refusal::new(RefusalKind::Storage, message))
            }
        }
    }
}

/// Starts gathering.
pub(super) fn start(
    args: RunArgs,
    models: Vec<String>,
    place: Option<(Arc<Place>, Arc<Config>)>,
) -> Gathering {
    Gathering { done: Some(aside(move || gather_for(&args, &models, place.as_ref()))) }
}

fn gather_for(
    args: &RunArgs,
    models: &[String],
    place: Option<&(Arc<Place>, Arc<Config>)>,
) -> Result<Gathered, Hindrance> {
    if let Some((_, config)) = place {
        models.iter().try_for_each(|name| named(config, name))?;
    }
    gather(args, place.map(|(place, _)| (place.dir.as_path(), place.root.as_path())))
}

/// A name that no model can have is found out before anything of the run is kept.
fn named(config: &Config, name: &str) -> Result<(), Hindrance> {
    models::check_name(config, name).map_err(|error| match error.class {
        ErrorClass::UnknownModel => Hindrance::UnknownModel(error.message),
        _ => Hindrance::Mistake(error.message),
    })
}

fn gather(args: &RunArgs, place: Option<(&Path, &Path)>) -> Result<Gathered, Hindrance> {
    let rules = match place {
        // What somebody permitted is what they were asked about, and nothing that they may have written otherwise than meant.
        Some((dir, root)) => rules::meet(kept(dir)?, root).rules,
        // Without a place for state the run ends before rules matter.
        None => Vec::new(),
    };
    args.output.as_deref().map_or(Ok(()), keep::check)?;
    let attachments = args.file.iter().map(|path| attach::file(path)).collect::<Result<_, String>>()?;
    let system = args.system.as_deref().map(|path| attach::text(path, "--system")).transpose()?;
    let schema = args.schema.as_deref().map(answer_schema).transpose()?;
    let (text, warning) = prompt::gather(&args.prompt, args.stdin);
    Ok(Gathered { text, attachments, rules, system, schema, warnings: warning.into_iter().collect() })
}

/// The schema that the answer must satisfy. One that cannot be used is found out before anything is asked.
fn answer_schema(path: &Path) -> Result<String, Hindrance> {
    let text = attach::text(path, "--schema")?;
    match schema::check(&text) {
        Ok(()) => Ok(text),
        Err(Unfit::Unchecked(why)) => Err(Hindrance::Unavailable(format!(
            "The schema for the answer could not be checked, because {why}; free some memory or raise the limit, and try again."
        ))),
        Err(Unfit::Fault(Fault { at, message })) => {
            let message = in_plain_words(&message);
            let at = at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
            let file = path.display();
            Err(Hindrance::Mistake(format!(
                "{file}{at}: The schema for the answer cannot be used: {message}; mend it or give --schema another file."
            )))
        }
    }
}

/// What is wrong with a JSON text. Of half a character the library that reads it says no more than that an escape has ended.
fn in_plain_words(message: &str) -> String {
    const HALVES: [&str; 2] = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let said = HALVES.into_iter().find(|said| message.contains(said));
    said.map_or_else(
        || message.to_owned(),
        |said| {
            message.replace(
                said,
                "an escape from \\ud800 to \\udfff is half a character and stands only with its other half",
            )
        },
    )
}

/// What is permitted for always. A file that cannot be read may forbid something, so nothing is done without it.
fn kept(dir: &Path) -> Result<Vec<hostler_core::tools::Rule>, Hindrance> {
    rules::kept(dir).map_err(|error| {
        Hindrance::Unavailable(format!(
            "The rules that are kept for this directory, in {}, cannot be read ({error}); mend that file or move it away.",
            rules::file(dir).display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_in_a_schema_is_called_that() {
        for text in [r#"{"const":"\ud800"}"#, r#"{"const":"\ud83d\ud83d"}"#, r#"{"const":"\udc00"}"#] {
            let Err(Unfit::Fault(Fault { message, .. })) = schema::check(text) else { panic!("{text}") };
            let said = in_plain_words(&message);
            assert!(said.contains("half a character") && !said.contains("hex escape"), "{text}: {said}");
        }
        assert_eq!(in_plain_words("expected value"), "expected value");
    }
}
