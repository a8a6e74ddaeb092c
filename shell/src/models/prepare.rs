//! Finds out what a run needs before its first request: the model that was asked for, whether it can be asked at all,
//! and the system prompt.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use hostler_core::catalogue::{self, Builtin};
use hostler_core::config::nearest::nearest;
use hostler_core::config::{Config, Provider};
use hostler_core::content::{ErrorClass, ErrorInfo};
use hostler_core::instructions::{Note, Surroundings, system_prompt};
use hostler_core::model::{ModelRef, Preparation, PrepareError, SmallModel};
use hostler_core::prompt::Terms;
use hostler_core::quote::quoted;
use hostler_core::rehearsal::Scenario;
use hostler_core::tools;

use super::rehearsal::Rehearsal;
use super::{Models, local, notes};
use crate::aside::aside;
use crate::config::repository_root;
use crate::home;

/// The provider's name of the model inside the program.
pub(super) const REHEARSAL: &str = "rehearsal";

pub(super) async fn prepare(
    models: &Models,
    terms: &Terms,
    root: &Path,
) -> Result<Preparation, PrepareError> {
    let mut notices = Vec::new();
    let model = choose(models, terms.model.as_deref(), &mut notices).await?;
    let small = match terms.small_model.as_deref() {
        Some(name) => {
            let model = choose(models, Some(name), &mut notices).await?;
            let prices = models.config().model_info(&model.provider, &model.model).unwrap_or_default().prices;
            Some(Box::new(SmallModel { model, prices }))
        }
        None => None,
    };
    let ((notes, cut), repository) = look(models, root).await?;
    notices.extend(left_out(&cut, models.config().context.max_bytes));
    let surroundings = Surroundings {
        directory: root.display().to_string(),
        platform: std::env::consts::OS.to_owned(),
        repository,
    };
    let mut info = models.config().model_info(&model.provider, &model.model).unwrap_or_default();
    if info.context.is_none() {
        info.context = local::window(models, &model).await;
    }
    if info.context.is_none() && model.provider != REHEARSAL {
        let provider = models.config().providers.get(&model.provider);
        let free = info.prices.is_some() || provider.is_some_and(is_local);
        notices.push(unknown_limits(&model, free));
    }
    let carrier = models.shared.carriers.get(model.provider.as_str());
    let renewable = carrier.is_some_and(|carrier| carrier.is_renewable());
    Ok(Preparation {
        model,
        system: system_prompt(&surroundings, terms, &notes),
        // Whoever begins the turn knows what it is to answer.
        answer_schema: None,
        tools: tools::specs(),
        context_window: info.context,
        prices: info.prices.map(Box::new),
        notices,
        small,
        renewable,
    })
}

/// Looks at files, which may take as long as a disk likes.
async fn look(models: &Models, root: &Path) -> Result<((Vec<Note>, Vec<String>), bool), PrepareError> {
    let (user, context) = (models.shared.user.clone(), models.config().context.clone());
    let root = root.to_owned();
    let work = move || (notes::find(&root, user.as_deref(), &context), repository_root(&root).is_some());
    aside(work).await.map_err(broke_down)
}

fn broke_down(error: io::Error) -> PrepareError {
    ErrorInfo::new(ErrorClass::Internal, format!("The run could not be prepared ({error}); try again."))
}

fn left_out(cut: &[String], most: usize) -> Option<String> {
    (!cut.is_empty()).then(|| {
        let files = cut.join(", ");
        format!("Notes for agents have more than {most} bytes, so something is left out of {files}; allow more with context.max_bytes.")
    })
}

fn unknown_limits(model: &ModelRef, priced: bool) -> String {
    let what = if priced { "" } else { " and prices" };
    format!(
        "The limits{what} of {model} are not known, so that a conversation is summed up only when it is refused as too long; \
         say them in the configuration, under models."
    )
}

async fn choose(
    models: &Models,
    name: Option<&str>,
    notices: &mut Vec<String>,
) -> Result<ModelRef, PrepareError> {
    let config = models.config();
    let Some(name) = name.or(config.model.as_deref()) else {
        return without_a_name(models, notices).await;
    };
    if name == REHEARSAL {
        models.rehearse("", Rehearsal::Tour);
        return Ok(ModelRef { provider: REHEARSAL.to_owned(), model: String::new() });
    }
    if let Some(file) = name.strip_prefix("rehearsal:") {
        return rehearse(models, file).await;
    }
    let (provider, model) = provided(config, name)?;
    served(models, provider, model).await
}

/// Whether that is the name of the model inside the program, which needs no provider.
pub fn is_inside(name: &str) -> bool {
    name == REHEARSAL || name.starts_with("rehearsal:")
}

/// Whether a model can have that name, as far as that can be known without asking anybody: its provider is known, or its
/// scenario can be played.
pub fn check_name(config: &Config, name: &str) -> Result<(), PrepareError> {
    match name.strip_prefix("rehearsal:") {
        // What can be read only once is left to whoever plays it.
        Some(file) if std::fs::metadata(home::path(file)).is_ok_and(|found| !found.is_file()) => Ok(()),
        Some(file) => scenario(file, std::fs::read_to_string(home::path(file))).map(drop),
        None if name == REHEARSAL => Ok(()),
        None => provided(config, name).map(drop),
    }
}

/// The provider and its model that a name means.
fn provided<'n>(config: &Config, name: &'n str) -> Result<(&'n str, &'n str), PrepareError> {
    let parts = name.split_once('/').filter(|(_, model)| !model.is_empty());
    parts
        .filter(|(provider, _)| config.providers.contains_key(*provider))
        .ok_or_else(|| unknown(config, name))
}

/// A server on this machine, if nothing else is configured.
async fn without_a_name(models: &Models, notices: &mut Vec<String>) -> Result<ModelRef, PrepareError> {
    let config = models.config();
    if !looks_nearby(config) {
        return Err(no_model(config, &[]));
    }
    let Some((model, base_url)) = local::find(models).await else {
        let nearby = catalogue::local().filter_map(|known| config.providers.get(known.name));
        return Err(no_model(config, &nearby.map(|provider| provider.base_url.as_str()).collect::<Vec<_>>()));
    };
    notices.push(format!(
        "No model is named and no key is set, so {model} is used, which was found at {base_url}."
    ));
    Ok(model)
}

/// Whether a server on this machine is looked for where no model is named.
pub(super) fn looks_nearby(config: &Config) -> bool {
    let elsewhere = config.providers.values().any(|provider| provider.configured && !is_local(provider));
    config.model.is_none() && !elsewhere && config.local_servers
}

fn is_local(provider: &Provider) -> bool {
    provider.builtin.is_some_and(Builtin::is_local)
}

async fn served(models: &Models, provider: &str, model: &str) -> Result<ModelRef, PrepareError> {
    let Some(carrier) = models.shared.carriers.get(provider) else {
        return Err(unknown(models.config(), &format!("{provider}/{model}")));
    };
    let credentials = |text: String| ErrorInfo::new(ErrorClass::Credentials, text);
    if !carrier.provider().configured {
        return Err(credentials(no_key(provider, carrier.provider())));
    }
    carrier.key().await.map_err(credentials)?;
    Ok(ModelRef { provider: provider.to_owned(), model: model.to_owned() })
}

fn no_key(name: &str, provider: &Provider) -> String {
    match provider.builtin {
        Some(Builtin { key_variable: Some(key), url_variable: Some(url), .. }) => {
            format!("There is no key for {name}; set {key}, or {url} for a server that needs none.")
        }
        _ => format!("There is no key for {name}; set one in the configuration, under providers.{name}."),
    }
}

async fn rehearse(models: &Models, file: &str) -> Result<ModelRef, PrepareError> {
    let path = home::path(file);
    let text = aside(move || std::fs::read_to_string(path)).await.map_err(broke_down)?;
    let scenario = scenario(file, text)?;
    models.rehearse(file, Rehearsal::Scenario(Box::new(scenario)));
    Ok(ModelRef { provider: REHEARSAL.to_owned(), model: file.to_owned() })
}

fn scenario(file: &str, text: io::Result<String>) -> Result<Scenario, PrepareError> {
    let usage = |text: String| ErrorInfo::new(ErrorClass::Usage, text);
    let text = text.map_err(|error| {
        usage(format!("The scenario {file} cannot be read ({error}); check the path after rehearsal:."))
    })?;
    Scenario::parse(&text).map_err(|error| usage(format!("The scenario {file} is not valid: {error}")))
}

/// There is no model to ask. `asked` are the servers on this machine that were looked for.
fn no_model(config: &Config, asked: &[&str]) -> PrepareError {
    let configured = config.providers.iter().find(|(_, provider)| provider.configured && !is_local(provider));
    let text = match configured {
        Some((name, provider)) => {
            let example = provider.builtin.and_then(|builtin| builtin.example);
            let example = example.map(|model| format!(" (such as {name}/{model})")).unwrap_or_default();
            format!(
                "No model was named; name one with --model {name}/NAME{example}, in HOSTLER_MODEL or in the configuration, where \
                 `hostler models` lists what is known."
            )
        }
        None => {
            let known = config.providers.values().filter_map(|provider| provider.builtin?.key_variable);
            let keys = Vec::from_iter(known.collect::<BTreeSet<_>>()).join(", ");
            let asked = match asked {
                [] => String::new(),
                asked => format!(", and no server was found on this machine (at {})", asked.join(", ")),
            };
            format!(
                "No model is configured{asked}; set one of {keys} and name a model with --model PROVIDER/NAME, or try --model \
                 rehearsal, which needs neither; `hostler doctor` says what is missing."
            )
        }
    };
    ErrorInfo::new(ErrorClass::NoProvider, text)
}

/// The models of the table that have that name at some provider, under the one that the table is about.
fn served_by(config: &Config, name: &str) -> Vec<String> {
    let tables = config.providers.values().filter_map(|provider| provider.builtin);
    let named = |builtin: &&Builtin| {
        builtin.table == builtin.name && catalogue::models(builtin.table).any(|(model, _)| model == name)
    };
    tables.filter(named).map(|builtin| format!("{}/{name}", builtin.name)).collect()
}

/// Whether a provider may be called so in a configuration.
fn can_be_configured(provider: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    !provider.is_empty() && provider.len() <= 40 && provider.chars().all(is_part) && provider != REHEARSAL
}

fn unknown(config: &Config, name: &str) -> PrepareError {
    let names = || config.providers.keys().map(String::as_str);
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    let text = match nearest(provider, names().chain([REHEARSAL])) {
        Some(REHEARSAL) if model.is_empty() => {
            format!("There is no model {}; did you mean rehearsal?", quoted(name))
        }
        Some(meant) if meant != provider && !model.is_empty() => {
            format!("There is no provider {}; did you mean --model {meant}/{model}?", quoted(provider))
        }
        found if found != Some(provider) && !name.contains('/') && !served_by(config, name).is_empty() => {
            format!(
                "There is no model {}; did you mean --model {}?",
                quoted(name),
                served_by(config, name).join(" or ")
            )
        }
        Some(meant) if meant == provider && model.is_empty() => {
            format!(
                "No model is named, only the provider {provider}; write {provider}/NAME, where `hostler models {provider}` lists the names that are known."
            )
        }
        None if can_be_configured(provider) && !model.is_empty() => {
            format!(
                "No provider {provider} is configured, which is to have the model {}; say where it is with `hostler config set providers.{provider}.base_url URL`, or take another one, which `hostler models --all` lists.",
                quoted(model)
            )
        }
        _ => {
            let all: Vec<_> = names().map(|name| format!("{name}/NAME")).collect();
            format!(
                "There is no model {}; write {}, rehearsal, or rehearsal:FILE.",
                quoted(name),
                all.join(", ")
            )
        }
    };
    ErrorInfo::new(ErrorClass::UnknownModel, text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hostler_core::config::merge::merge;
    use hostler_core::config::typed::{defaults, environment};

    use super::*;
    use crate::clock::Clock;

    /// The models of an environment in which the variables are set that are named here.
    fn models(variables: &[&str]) -> Models {
        let mut layers = vec![defaults()];
        let set = |name: &str| variables.contains(&name).then(|| "http://127.0.0.1:1".to_owned());
        layers.extend(environment(set));
        let mut config = Config::from(&merge(&layers)).unwrap();
        // Who runs these tests may have a server of their own.
        config.local_servers = false;
        Models::new(Arc::new(config), None, 1_000, Clock::start())
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    /// What is chosen: the model, or the class and the sentence.
    fn choice(variables: &[&str], model: Option<&str>) -> Result<String, String> {
        let models = models(variables);
        let chosen = block_on(choose(&models, model, &mut Vec::new()));
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
        check(&["OPENROUTER_API_KEY"], Some("openrouter/a/b"), Ok("openrouter/a/b"));
        check(&[], Some("ollama/qwen"), Ok("ollama/qwen"));
        check(&[], Some("rehearsal"), Ok("rehearsal"));
    }

    #[test]
    fn what_is_known_of_a_model_is_what_its_run_works_with() {
        let prepared = |name: &str| {
            let terms = Terms { model: Some(name.to_owned()), ..Terms::headless() };
            block_on(prepare(&models(&["ANTHROPIC_API_KEY"]), &terms, Path::new("/"))).unwrap()
        };
        let known = prepared("anthropic/claude-sonnet-4-5");
        assert_eq!((known.context_window, known.notices.len()), (Some(200_000), 0));
        assert_eq!(known.prices.map(|prices| prices.input), Some(3_000_000));
        let unknown = prepared("anthropic/claude-of-the-future");
        assert_eq!((unknown.context_window, unknown.prices), (None, None));
        assert!(unknown.notices[0].contains("claude-of-the-future"), "{:?}", unknown.notices);
        assert!(prepared("rehearsal").notices.is_empty());
    }

    #[test]
    fn a_name_that_no_model_can_have_is_known_without_asking() {
        let models = models(&[]);
        let class = |name: &str| check_name(models.config(), name).map_err(|error| error.class);
        for name in ["openai/gpt-5", "openai/of-the-future", "ollama/a/b", "rehearsal"] {
            assert_eq!(class(name), Ok(()), "{name}");
        }
        for name in ["gpt-5", "nobody/x", "openai/", ""] {
            assert_eq!(class(name), Err(ErrorClass::UnknownModel), "{name}");
        }
        assert_eq!(class("rehearsal:/missing.json"), Err(ErrorClass::Usage));
        assert_eq!(class("rehearsal:/dev/null"), Ok(()), "it may be a pipe, which is read only once");
    }

    #[test]
    fn what_a_server_nearby_costs_is_no_question() {
        let model = |provider: &str| ModelRef { provider: provider.to_owned(), model: "m".to_owned() };
        let terms = |name: &str| Terms { model: Some(name.to_owned()), ..Terms::headless() };
        let prepared = block_on(prepare(&models(&[]), &terms("ollama/m"), Path::new("/"))).unwrap();
        assert_eq!(prepared.notices, [unknown_limits(&model("ollama"), true)]);
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
    fn what_there_is_is_listed_or_what_was_meant() {
        for name in ["gpt", "/gpt", "no such/gpt", ""] {
            let Err(text) = choice(&["OPENAI_API_KEY"], Some(name)) else { panic!("{name}") };
            let start = format!("UnknownModel: There is no model {name:?}; write anthropic/NAME, ");
            assert!(text.starts_with(&start), "{text}");
            assert!(text.ends_with(", xai/NAME, rehearsal, or rehearsal:FILE."), "{text}");
        }
        for (name, sentence) in [
            (
                "llamacpp",
                "No model is named, only the provider llamacpp; write llamacpp/NAME, where `hostler models llamacpp` lists the names that are known.",
            ),
            (
                "openai/",
                "No model is named, only the provider openai; write openai/NAME, where `hostler models openai` lists the names that are known.",
            ),
            (
                "work/big",
                "No provider work is configured, which is to have the model \"big\"; say where it is with `hostler config set providers.work.base_url URL`, or take another one, which `hostler models --all` lists.",
            ),
        ] {
            check(&[], Some(name), Err(&format!("UnknownModel: {sentence}")));
        }
        check(
            &[],
            Some("antropic/claude"),
            Err("UnknownModel: There is no provider \"antropic\"; did you mean --model anthropic/claude?"),
        );
        check(
            &[],
            Some("rehersal"),
            Err("UnknownModel: There is no model \"rehersal\"; did you mean rehearsal?"),
        );
        check(
            &["OPENAI_API_KEY"],
            None,
            Err(
                "NoProvider: No model was named; name one with --model openai/NAME (such as openai/gpt-5), in HOSTLER_MODEL or in the configuration, where `hostler models` lists what is known.",
            ),
        );
        check(
            &[],
            Some("gpt-5"),
            Err("UnknownModel: There is no model \"gpt-5\"; did you mean --model openai/gpt-5?"),
        );
        let Err(text) = choice(&[], None) else { panic!() };
        assert!(text.contains("set one of ANTHROPIC_API_KEY, "), "{text}");
    }
}
