//! `hostler models`: lists models, what they can do and cost, and which can be asked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use hostler_core::catalogue::{self, Builtin, ModelInfo};
use hostler_core::client::printable;
use hostler_core::config::Config;
use hostler_core::model::ModelRef;
use hostler_core::quote::quoted;
use hostler_shell::clock::Clock;
use hostler_shell::models::Models;
use serde_json::{Value, json};

use super::{json as line, print};
use crate::cli::ModelsArgs;
use crate::failure::Failure;
use crate::place::Place;
use crate::room;

pub(crate) fn models(args: &ModelsArgs) -> Result<ExitCode, Failure> {
    let place = Place::here().map_err(Failure::error)?;
    let loaded = place.configuration().map_err(Failure::usage)?;
    let mut all = known(&loaded.config);
    all.extend(nearby(&loaded.config)?);
    let filter = args.filter.as_deref().unwrap_or_default().to_lowercase();
    // Whoever names a provider wants its models, also before there is a key.
    let named =
        |name: &str| name.split_once('/').is_some_and(|(provider, _)| provider.to_lowercase() == filter);
    let listed: Vec<_> = all
        .iter()
        .filter(|(name, (_, configured))| *configured || args.all || named(name))
        .filter(|(name, _)| name.to_lowercase().contains(&filter))
        .collect();
    let text = if args.json {
        let lines = listed.iter().map(|(name, (info, configured))| line(&as_json(name, info, *configured)));
        lines.collect::<Result<Vec<_>, _>>()?.concat()
    } else if listed.is_empty() {
        nothing(args, &loaded.config)
    } else {
        in_words(&listed.iter().map(|(name, (info, _))| (*name, info)).collect::<Vec<_>>())
    };
    print(&text)?;
    super::warn(&loaded.warnings);
    Ok(ExitCode::SUCCESS)
}

/// What is known of models, by `PROVIDER/NAME`, and whether they can be asked.
type Known = BTreeMap<String, (ModelInfo, bool)>;

/// The models of servers on this machine that answer.
fn nearby(config: &Config) -> Result<Known, Failure> {
    let models = Models::new(Arc::new(config.clone()), None, super::NEARBY, Clock::start());
    let runtime = room::runtime()?;
    let known = |(model, window): (ModelRef, Option<u64>)| {
        let mut info = config.model_info(&model.provider, &model.model).unwrap_or_default();
        info.context = info.context.or(window);
        (model.to_string(), (info, true))
    };
    Ok(runtime.block_on(models.all_nearby()).into_iter().map(known).collect())
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
        Some(filter) if args.all => {
            format!("Nothing is known of a model like {}, which can be asked all the same.\n", quoted(filter))
        }
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

/// What stands above the columns.
const HEAD: [&str; 5] = ["model", "context", "output", "abilities", "dollars for a million tokens, in/out"];

/// The models in columns, with what the columns are above them.
fn in_words(listed: &[(&String, &ModelInfo)]) -> String {
    let rows: Vec<_> = [HEAD.map(str::to_owned)]
        .into_iter()
        .chain(listed.iter().map(|(name, info)| row(name, info)))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let [name, context, output, abilities] = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for row in &rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<name$}  {:>context$}  {:>output$}  {:<abilities$}  {}",
            row[0], row[1], row[2], row[3], row[4]
        );
    }
    text
}

fn row(name: &str, info: &ModelInfo) -> [String; 5] {
    let tokens = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    let price = info
        .prices
        .map_or("?".to_owned(), |prices| format!("${}/${}", dollars(prices.input), dollars(prices.output)));
    let can = info.abilities.unwrap_or_default();
    let abilities = [(can.tools, "tools"), (can.vision, "vision"), (can.reasoning, "reasoning")];
    let abilities: Vec<_> = abilities.into_iter().filter(|(can, _)| *can).map(|(_, word)| word).collect();
    [printable(name), tokens(info.context), tokens(info.output), abilities.join(" "), price]
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
    fn columns_stand_below_what_they_are() {
        let known = ModelInfo { context: Some(200_000), output: Some(64_000), ..ModelInfo::default() };
        let names = ["a/long-name".to_owned(), "b".to_owned()];
        let text = in_words(&[(&names[0], &known), (&names[1], &ModelInfo::default())]);
        let lines = [
            "model        context  output  abilities  dollars for a million tokens, in/out",
            "a/long-name   200000   64000             ?",
            "b                  ?       ?             ?",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn prices_are_shown_as_people_write_them() {
        for (micros, text) in
            [(0, "0"), (1_250_000, "1.25"), (10_000_000, "10"), (75_000, "0.075"), (1, "0.000001")]
        {
            assert_eq!(dollars(micros), text);
        }
    }
}
