//! `hostler config`: shows what is configured and by whom, and changes it.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use hostler_core::client::printable;
use hostler_core::config::{Layer, Path, Settings, show};
use hostler_shell::config;
use serde_json::{Map, Value, json};

use super::{json as line, print};
use crate::cli::Config;
use crate::failure::Failure;
use crate::place::Place;

pub(crate) fn config(command: &Config) -> Result<ExitCode, Failure> {
    let place = Place::here().map_err(Failure::error)?;
    match command {
        Config::Show { key, origin, json } => {
            let wanted = key.as_deref().map_or(Ok(Path::default()), config::key).map_err(Failure::usage)?;
            let mut loaded = place.configuration().map_err(Failure::usage)?;
            loaded.settings.values.retain(|path, _| path.0.starts_with(&wanted.0));
            loaded.settings.ignored.retain(|path| path.0.starts_with(&wanted.0));
            let text = match key {
                _ if *json => line(&as_json(&loaded.settings))?,
                Some(key) if loaded.settings.values.is_empty() => format!("{} is not set.\n", printable(key)),
                _ => in_words(&loaded.settings, *origin),
            };
            print(&text)?;
            super::warn(&loaded.warnings);
        }
        Config::Set { key, value, project } => {
            let (file, beneath) = to_change(&place, *project)?;
            config::set(&file, key, value, &beneath).map_err(Failure::usage)?;
            let mut text = format!("{} is set in {}.\n", printable(key), file.display());
            // What is wrong with what holds together is said by whoever uses it.
            let loaded = place.configuration().ok().filter(|_| *project);
            if loaded.is_some_and(|loaded| config::waits_for_trust(&loaded.settings, key)) {
                text += "It does not count until you trust this project: hostler trust\n";
            }
            print(&text)?;
        }
        Config::Unset { key, project } => {
            let (file, beneath) = to_change(&place, *project)?;
            let (name, shown) = (file.display(), printable(key));
            if !config::unset(&file, key, &beneath).map_err(Failure::usage)? {
                return Err(Failure::usage(format!(
                    "{shown} is not set in {name}; hostler config show --origin says where it is."
                )));
            }
            print(&format!("{shown} is no longer set in {name}.\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The file that a change goes to, and what lies beneath it.
fn to_change(place: &Place, project: bool) -> Result<(PathBuf, Vec<Layer>), Failure> {
    let places = place.places();
    let file = config::file_to_change(&places, project).map_err(Failure::usage)?;
    let beneath = if project { config::beneath_project(&places) } else { Vec::new() };
    Ok((file, beneath))
}

fn in_words(settings: &Settings, origin: bool) -> String {
    let mut text = String::new();
    for (path, setting) in &settings.values {
        let value = show::value(path, &setting.value);
        // Writing to a string cannot fail.
        let _ = match origin {
            true => writeln!(text, "{path} = {value}    ({})", show::origins(setting)),
            false => writeln!(text, "{path} = {value}"),
        };
    }
    printable(&text)
}

fn as_json(settings: &Settings) -> Value {
    let entry = |(path, setting): (&Path, &hostler_core::config::merge::Setting)| {
        let value: Value = serde_json::from_str(&show::value(path, &setting.value)).unwrap_or_default();
        let origins: Vec<_> = setting.origins.iter().map(show::origin).collect();
        (path.to_string(), json!({"value": value, "origins": origins}))
    };
    let ignored: Vec<_> = settings.ignored.iter().map(Path::to_string).collect();
    json!({"settings": settings.values.iter().map(entry).collect::<Map<_, _>>(), "ignored": ignored})
}
