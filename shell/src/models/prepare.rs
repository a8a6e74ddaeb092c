//! Finds out what a run needs before its first request: the model that was asked for, whether it can be asked at all,
//! and the system prompt.

use std::collections::BTreeSet;
use std::path::Path;

use hostler_core::catalogue;
use hostler_core::content::{ErrorClass, ErrorInfo};
use hostler_core::instructions::{Surroundings, system_prompt};
use hostler_core::model::{ModelRef, Preparation, PrepareError, SmallModel};
use hostler_core::prompt::Terms;
use hostler_core::rehearsal::Scenario;
use hostler_core::tools;

use super::Models;
use super::providers::Provider;
use super::rehearsal::Rehearsal;

/// The provider's name of the model inside the program.
pub(super) const REHEARSAL: &str = "rehearsal";

pub(super) fn prepare(models: &Models, terms: &Terms, root: &Path) -> Result<Preparation, PrepareError> {
    let model = choose(models, terms.model.as_deref())?;
    let small = match terms.small_model.as_deref() {
        Some(name) => {
            let model = choose(models, Some(name))?;
            let prices = catalogue::lookup(&model.provider, &model.model).unwrap_or_default().prices;
            Some(Box::new(SmallModel { model, prices }))
        }
        None => None,
    };
    let surroundings = Surroundings {
        directory: root.display().to_string(),
        platform: std::env::consts::OS.to_owned(),
        repository: root.ancestors().any(|dir| dir.join(".git").exists()),
    };
    let info = catalogue::lookup(&model.provider, &model.model).unwrap_or_default();
    Ok(Preparation {
        model,
        system: system_prompt(&surroundings, terms),
        tools: tools::specs(),
        context_window: info.context,
        prices: info.prices.map(Box::new),
        notices: Vec::new(),
        small,
    })
}

fn choose(models: &Models, name: Option<&str>) -> Result<ModelRef, PrepareError> {
    let Some(name) = name else { return Err(no_model(models)) };
    if name == REHEARSAL {
        models.rehearse("", Rehearsal::Tour);
        return Ok(ModelRef { provider: REHEARSAL.to_owned(), model: String::new() });
    }
    if let Some(file) = name.strip_prefix("rehearsal:") {
        return rehearse(models, file);
    }
    match name.split_once('/') {
        Some((provider, model)) if !model.is_empty() => served(models, name, provider, model),
        _ => Err(unknown(models, name)),
    }
}

fn served(models: &Models, name: &str, provider: &str, model: &str) -> Result<ModelRef, PrepareError> {
    let Some(endpoint) = models.shared.endpoints.get(provider) else { return Err(unknown(models, name)) };
    if !endpoint.is_configured() {
        let Provider { key_variable, url_variable, .. } = endpoint.provider;
        let text = format!(
            "There is no key for {provider}; set {key_variable}, or {url_variable} for a server that needs none."
        );
        return Err(ErrorInfo::new(ErrorClass::Credentials, text));
    }
    Ok(ModelRef { provider: provider.to_owned(), model: model.to_owned() })
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
    let configured = models.shared.endpoints.iter().find(|endpoint| endpoint.is_configured());
    let text = match configured {
        Some(endpoint) => {
            let name = endpoint.provider.name;
            format!("No model was named; name one with --model {name}/NAME or in HOSTLER_MODEL.")
        }
        None => {
            let keys: BTreeSet<_> =
                models.shared.endpoints.iter().map(|endpoint| endpoint.provider.key_variable).collect();
            let keys = Vec::from_iter(keys).join(" or ");
            format!(
                "No model is configured; set {keys} and name a model with --model PROVIDER/NAME, or try --model rehearsal, which needs neither."
            )
        }
    };
    ErrorInfo::new(ErrorClass::NoProvider, text)
}

fn unknown(models: &Models, name: &str) -> PrepareError {
    let endpoints = models.shared.endpoints.iter();
    let names: Vec<_> = endpoints.map(|endpoint| format!("{}/NAME", endpoint.provider.name)).collect();
    let text =
        format!("There is no model {name:?}; write {}, rehearsal, or rehearsal:FILE.", names.join(", "));
    ErrorInfo::new(ErrorClass::UnknownModel, text)
}

#[cfg(test)]
mod tests {
    use super::super::Endpoints;
    use super::*;

    /// What is chosen when the variables are set that are named here: the model, or the class and the sentence.
    fn choice(variables: &[&str], model: Option<&str>) -> Result<String, String> {
        let find = |name: &str| variables.contains(&name).then(|| "set".to_owned());
        let models = Models::new(Endpoints::from_variables(find), 1_000);
        let chosen = choose(&models, model);
        chosen.map(|model| model.to_string()).map_err(|error| format!("{:?}: {}", error.class, error.message))
    }

    #[track_caller]
    fn check(variables: &[&str], model: Option<&str>, expected: Result<&str, &str>) {
        let found = choice(variables, model);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{variables:?} {model:?}");
    }

    #[test]
    fn a_model_is_served_by_the_provider_before_the_slash() {
        check(&["OPENAI_API_KEY"], Some("openai/gpt"), Ok("openai/gpt"));
        check(&["OPENAI_BASE_URL"], Some("openai/org/gpt"), Ok("openai/org/gpt"));
        check(&["OPENAI_API_KEY"], Some("openai-responses/gpt"), Ok("openai-responses/gpt"));
        check(&["GEMINI_API_KEY"], Some("gemini/pro"), Ok("gemini/pro"));
        check(&["ANTHROPIC_API_KEY"], Some("anthropic/claude"), Ok("anthropic/claude"));
        check(&[], Some("rehearsal"), Ok("rehearsal"));
    }

    #[test]
    fn a_missing_key_is_named() {
        check(
            &["OPENAI_API_KEY"],
            Some("anthropic/claude"),
            Err(
                "Credentials: There is no key for anthropic; set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server that needs none.",
            ),
        );
    }

    #[test]
    fn what_there_is_is_listed() {
        for name in ["gpt", "openai/", "/gpt", "other/gpt", ""] {
            let Err(text) = choice(&["OPENAI_API_KEY"], Some(name)) else { panic!("{name}") };
            assert!(
                text.starts_with(&format!(
                    "UnknownModel: There is no model {name:?}; write anthropic/NAME, "
                ))
            );
            assert!(text.ends_with(", openai-responses/NAME, rehearsal, or rehearsal:FILE."), "{text}");
        }
        check(
            &["OPENAI_API_KEY"],
            None,
            Err("NoProvider: No model was named; name one with --model openai/NAME or in HOSTLER_MODEL."),
        );
        let Err(text) = choice(&[], None) else { panic!() };
        assert!(text.contains("set ANTHROPIC_API_KEY or "), "{text}");
    }
}
