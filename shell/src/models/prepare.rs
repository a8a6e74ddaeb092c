//! Finds out what a run needs before its first request: the model that was asked for, whether it can be asked at all,
//! and the system prompt.

use std::path::Path;

use hostler_core::content::{ErrorClass, ErrorInfo};
use hostler_core::instructions::{Surroundings, system_prompt};
use hostler_core::model::{ModelRef, Preparation, PrepareError};
use hostler_core::prompt::Terms;
use hostler_core::rehearsal::Scenario;
use hostler_core::tools;

use super::Models;
use super::rehearsal::Rehearsal;

/// The provider's name of the model inside the program.
pub(super) const REHEARSAL: &str = "rehearsal";

const OPENAI: &str = "openai";

pub(super) fn prepare(models: &Models, terms: &Terms, root: &Path) -> Result<Preparation, PrepareError> {
    let model = choose(models, terms)?;
    let surroundings = Surroundings {
        directory: root.display().to_string(),
        platform: std::env::consts::OS.to_owned(),
        repository: root.ancestors().any(|dir| dir.join(".git").exists()),
    };
    Ok(Preparation {
        model,
        system: system_prompt(&surroundings),
        tools: tools::specs(),
        context_window: None,
        prices: None,
    })
}

fn choose(models: &Models, terms: &Terms) -> Result<ModelRef, PrepareError> {
    let Some(name) = &terms.model else { return Err(no_model(models)) };
    if name == REHEARSAL {
        models.rehearse("", Rehearsal::Tour);
        return Ok(ModelRef { provider: REHEARSAL.to_owned(), model: String::new() });
    }
    if let Some(file) = name.strip_prefix("rehearsal:") {
        return rehearse(models, file);
    }
    match name.split_once('/') {
        Some((OPENAI, model)) if !model.is_empty() => openai(models, model),
        _ => Err(unknown(name)),
    }
}

fn openai(models: &Models, model: &str) -> Result<ModelRef, PrepareError> {
    let endpoint = &models.shared.endpoint;
    if endpoint.key.is_none() && endpoint.base_url.is_none() {
        let text = "There is no key for openai; set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none.";
        return Err(ErrorInfo::new(ErrorClass::Credentials, text));
    }
    Ok(ModelRef { provider: OPENAI.to_owned(), model: model.to_owned() })
}

fn rehearse(models: &Models, file: &str) -> Result<ModelRef, PrepareError> {
    let usage = |text: String| ErrorInfo::new(ErrorClass::Usage, text);
    let text = std::fs::read_to_string(file).map_err(|error| {
        usage(format!("The scenario {file} cannot be read ({error}); check the path after rehearsal:."))
    })?;
    let scenario = Scenario::parse(&text)
        .map_err(|error| usage(format!("The scenario {file} is not valid: {error}")))?;
    models.rehearse(file, Rehearsal::Scenario(Box::new(scenario)));
    Ok(ModelRef { provider: REHEARSAL.to_owned(), model: file.to_owned() })
}

fn no_model(models: &Models) -> PrepareError {
    let endpoint = &models.shared.endpoint;
    let text = if endpoint.key.is_some() || endpoint.base_url.is_some() {
        "No model was named; name one with --model openai/NAME or in HOSTLER_MODEL."
    } else {
        "No model is configured; set OPENAI_API_KEY and name a model with --model openai/NAME, or try --model rehearsal, which needs neither."
    };
    ErrorInfo::new(ErrorClass::NoProvider, text)
}

fn unknown(name: &str) -> PrepareError {
    let text = format!("There is no model {name:?}; write openai/NAME, rehearsal, or rehearsal:FILE.");
    ErrorInfo::new(ErrorClass::UnknownModel, text)
}
