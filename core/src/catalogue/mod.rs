//! What is known of providers and models before anybody is asked: a table that comes with the program.
//!
//! It is data and changes with every release; configuration has the last word about any of it. A model that is not in the
//! table is served all the same: only its limits and prices are not known then.

mod providers;

use crate::model::{LongPrices, Prices};

pub use providers::{Builtin, PROVIDERS, builtin, is_known, local};

/// The table, a model a line; what the columns are is said at its head.
const TABLE: &str = include_str!("models.txt");

/// What is known of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelInfo {
    /// How many tokens a request may have, its answer not counted where the provider counts that apart.
    pub context: Option<u64>,
    /// How many tokens an answer may have.
    pub output: Option<u64>,
    /// What its tokens cost.
    pub prices: Option<Prices>,
    /// What it can do; none if that is not known.
    pub abilities: Option<Abilities>,
}

/// What a model can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Call tools.
    pub tools: bool,
    /// See pictures.
    pub vision: bool,
    /// Reason before it answers.
    pub reasoning: bool,
}

/// What the table says of a model of that provider. A snapshot that is not listed is what it is a snapshot of.
pub fn lookup(provider: &str, model: &str) -> Option<ModelInfo> {
    let table = builtin(provider)?.table;
    let named = |name: &str| models(table).find(|(model, _)| *model == name).map(|(_, info)| info);
    named(model).or_else(|| named(without_date(model)?))
}

/// All models of that provider in the table, in the order of their names.
pub fn models(table: &str) -> impl Iterator<Item = (&'static str, ModelInfo)> + use<'_> {
    // Most rows are of others, and a row is read only when it is wanted: the table is looked at whenever a run begins.
    let of = move |line: &&str| line.split_once(' ').is_some_and(|(provider, _)| provider == table);
    TABLE.lines().filter(of).filter_map(row).map(|(_, model, info)| (model, info))
}

/// A name without the date that snapshots have at their ends: `-20250929` or `-2025-08-07`.
fn without_date(model: &str) -> Option<&str> {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (name, last) = model.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(name);
    }
    let (name, month) = name.rsplit_once('-')?;
    let (name, year) = name.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(name)
}

fn row(line: &'static str) -> Option<(&'static str, &'static str, ModelInfo)> {
    if line.starts_with('#') {
        return None;
    }
    let mut words = line.split(' ');
    let (provider, model) = (words.next()?, words.next()?);
    let (context, output, abilities) =
        (words.next()?.parse().ok(), words.next()?.parse().ok(), words.next()?);
    let mut number = || words.next()?.parse::<u64>().ok();
    let prices = number().and_then(|input| {
        let mut prices =
            Prices { input, output: number()?, cache_read: number()?, cache_write: number()?, long: None };
        prices.long = number().and_then(|above| {
            let (input, output) = (number()?, number()?);
            Some(LongPrices { above, input, output, cache_read: number()?, cache_write: number()? })
        });
        Some(prices)
    });
    let can = |letter| abilities.contains(letter);
    let abilities = Abilities { tools: can('t'), vision: can('v'), reasoning: can('r') };
    Some((provider, model, ModelInfo { context, output, prices, abilities: Some(abilities) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood_and_written_as_it_is_read() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let (provider, model, info) = row(line).unwrap_or_else(|| panic!("{line}"));
            let dash = |number: Option<u64>| number.map_or("-".to_string(), |number| number.to_string());
            let abilities = info.abilities.unwrap();
            let letters = [(abilities.tools, 't'), (abilities.vision, 'v'), (abilities.reasoning, 'r')];
            let letters: String = letters.iter().filter(|(can, _)| *can).map(|(_, letter)| letter).collect();
            let letters = if letters.is_empty() { "-" } else { &letters };
            let mut again =
                format!("{provider} {model} {} {} {letters}", dash(info.context), dash(info.output));
            if let Some(Prices { input, output, cache_read, cache_write, long }) = info.prices {
                again += &format!(" {input} {output} {cache_read} {cache_write}");
                if let Some(LongPrices { above, input, output, cache_read, cache_write }) = long {
                    again += &format!(" {above} {input} {output} {cache_read} {cache_write}");
                }
            }
            assert_eq!(again, line);
        }
    }

    #[test]
    fn names_are_unique_and_every_provider_of_the_table_is_one_of_ours() {
        let names: Vec<_> =
            TABLE.lines().filter_map(row).map(|(provider, model, _)| (provider, model)).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(names.iter().all(|(provider, _)| builtin(provider).is_some()));
        assert!(names.len() > 100);
    }

    #[test]
    fn a_model_is_what_its_row_says_under_either_protocol() {
        let claude = lookup("anthropic", "claude-sonnet-4-5").unwrap();
        assert_eq!((claude.context, claude.output), (Some(200_000), Some(64_000)));
        let prices = claude.prices.unwrap();
        assert_eq!((prices.input, prices.output), (3_000_000, 15_000_000));
        assert_eq!((prices.cache_read, prices.cache_write), (300_000, 3_750_000));
        assert!(lookup("openai", "gpt-5").is_some());
        assert_eq!(lookup("openai", "gpt-5"), lookup("openai-responses", "gpt-5"));
    }

    #[test]
    fn a_model_behind_openrouter_has_a_name_of_two_parts() {
        let claude = lookup("openrouter", "anthropic/claude-sonnet-4.5").unwrap();
        assert_eq!((claude.context, claude.output), (Some(1_000_000), Some(64_000)));
        let prices = claude.prices.unwrap();
        assert_eq!((prices.input, prices.output), (3_000_000, 15_000_000));
        assert_eq!(prices.long.map(|long| (long.above, long.input)), Some((200_000, 6_000_000)));
        assert_eq!(lookup("anthropic", "anthropic/claude-sonnet-4.5"), None);
        assert_eq!(lookup("openrouter", "claude-sonnet-4.5"), None);
    }

    #[test]
    fn every_model_behind_openrouter_calls_tools() {
        let can = |info: ModelInfo| info.abilities.is_some_and(|abilities| abilities.tools);
        let behind: Vec<_> = models("openrouter").collect();
        assert!(behind.len() > 100);
        assert!(behind.iter().all(|(name, info)| name.contains('/') && can(*info)));
    }

    #[test]
    fn a_snapshot_that_is_not_listed_is_what_it_is_a_snapshot_of() {
        let base = lookup("openai", "gpt-5");
        assert_eq!(lookup("openai", "gpt-5-2031-01-02"), base);
        assert_eq!(lookup("openai", "gpt-5-20310102"), base);
        for name in ["gpt-5-2031-1-2", "gpt-5-new", "gpt", "", "-", "claude-sonnet-4-5"] {
            assert_eq!(lookup("openai", name), None, "{name}");
        }
        assert_eq!(lookup("nobody", "gpt-5"), None);
        assert_eq!(lookup("ollama", "gpt-5"), None);
    }
}
