//! `hostler models`: lists models, what they can do and cost, and which can be asked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use hostler_core::catalogue::{self, Builtin, ModelInfo};
use hostler_core::client::printable;
use hostler_core::config::Config;
use hostler_core::provider::listing::Listed;
use hostler_core::quote::quoted;
use hostler_shell::clock::Clock;
use hostler_shell::models::Models;
use serde_json::{Value, json};

use super::{json as line, print};
use crate::cli::ModelsArgs;
use crate::failure::Failure;
use crate::place::Place;

pub(crate) fn models(args: &ModelsArgs) -> Result<ExitCode, Failure> {
    let place = Place::here().map_err(Failure::error)?;
    let loaded = place.configuration().map_err(Failure::usage)?;
    let mut all = known(&loaded.config);
    all.extend(nearby(&loaded.config)?);
    let filter = args.filter.as_deref().unwrap_or_default().to_lowercase();
    let mut text = String::new();
    for (name, (info, configured)) in &all {
        // Whoever names a provider wants its models, also before there is a key.
        let named = name.split_once('/').is_some_and(|(provider, _)| provider == filter);
        if (*configured || args.all || named) && name.to_lowercase().contains(&filter) {
            text += &if args.json { line(&as_json(name, info, *configured))? } else { in_words(name, info) };
        }
    }
    if text.is_empty() && !args.json {
        text = nothing(args, &loaded.config);
    }
    print(&text)?;
    super::warn(&loaded.warnings);
    Ok(ExitCode::SUCCESS)
}

/// What is known of models, by `PROVIDER/NAME`, and whether they can be asked.
type Known = BTreeMap<String, (ModelInfo, bool)>;

/// How long a server on this machine may take, in milliseconds.
const NEARBY: u64 = 1_000;

/// The models of servers on this machine, where a run would look for them.
fn nearby(config: &Config) -> Result<Known, Failure> {
    let models = Models::new(Arc::new(config.clone()), None, NEARBY, Clock::start());
    if !models.looks_nearby() {
        return Ok(Known::new());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Failure::error(format!(
            "The program cannot start ({error}); see whether there is room for another process."
        ))
    })?;
    let mut found = Known::new();
    for server in catalogue::local() {
        if let Ok(Listed::Models(names)) = runtime.block_on(models.look(server.name, NEARBY)) {
            found.extend(names.into_iter().map(|name| {
                let info = config.model_info(server.name, &name).unwrap_or_default();
                (format!("{}/{name}", server.name), (info, true))
            }));
        }
    }
    Ok(found)
}

/// All models that something is known of, by `PROVIDER/NAME`, and whether their provider is configured.
fn known(config: &Config) -> Known {
    let mut all = Known::new();
    for (name, provider) in &config.providers {
        let Some(builtin) = provider.builtin else { continue };
        for (model, info) in catalogue::models(builtin.table) {
            all.insert(format!("{name}/{model}"), (info, provider.configured));
        }
    }
    for (name, info) in &config.models {
        let provider = name.split_once('/').and_then(|(provider, _)| config.providers.get(provider));
        all.insert(name.clone(), (*info, provider.is_some_and(|provider| provider.configured)));
    }
    all
}

fn nothing(args: &ModelsArgs, config: &Config) -> String {
    let configured: Vec<_> = config
        .providers
        .iter()
        .filter(|(_, provider)| provider.configured && !provider.builtin.is_some_and(Builtin::is_local))
        .map(|(name, _)| name.as_str())
        .collect();
    match &args.filter {
        Some(filter) => format!(
            "Nothing is known of a model like {}; --all looks also at providers that are not configured.\n",
            quoted(filter)
        ),
        None if configured.is_empty() => {
            "No key is set and no server was found on this machine; --all lists every model that is known.\n"
                .to_owned()
        }
        None => format!(
            "Nothing is known of models of {}, which can be asked all the same as PROVIDER/NAME; --all lists those of others.\n",
            configured.join(", ")
        ),
    }
}

fn in_words(name: &str, info: &ModelInfo) -> String {
    let tokens = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    let price = info
        .prices
        .map_or("?".to_owned(), |prices| format!("${}/${}", dollars(prices.input), dollars(prices.output)));
    let mut text = printable(name);
    // Writing to a string cannot fail.
    let _ = write!(text, "  context {}  output {}  {price}", tokens(info.context), tokens(info.output));
    let abilities = info.abilities.unwrap_or_default();
    for (can, word) in
        [(abilities.tools, "tools"), (abilities.vision, "vision"), (abilities.reasoning, "reasoning")]
    {
        if can {
            let _ = write!(text, "  {word}");
        }
    }
    text.push('\n');
    text
}

/// Micro-dollars as dollars, without zeros at the end.
fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn as_json(name: &str, info: &ModelInfo, configured: bool) -> Value {
    let price = |micros: u64| serde_json::from_str::<Value>(&dollars(micros)).unwrap_or_default();
    let prices = info.prices.map(|prices| {
        let mut all = json!({
            "input": price(prices.input), "output": price(prices.output),
            "cache_read": price(prices.cache_read), "cache_write": price(prices.cache_write),
        });
        if let Some(long) = prices.long {
            all["long"] = json!({
                "above": long.above, "input": price(long.input), "output": price(long.output),
                "cache_read": price(long.cache_read), "cache_write": price(long.cache_write),
            });
        }
        all
    });
    let abilities = info
        .abilities
        .map(|can| json!({"tools": can.tools, "vision": can.vision, "reasoning": can.reasoning}));
    json!({
        "model": name, "configured": configured, "context_window": info.context, "max_output": info.output,
        "dollars_per_million": prices, "abilities": abilities,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_shown_as_people_write_them() {
        for (micros, text) in
            [(0, "0"), (1_250_000, "1.25"), (10_000_000, "10"), (75_000, "0.075"), (1, "0.000001")]
        {
            assert_eq!(dollars(micros), text);
        }
    }
}
