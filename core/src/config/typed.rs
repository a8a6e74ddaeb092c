//! The configuration as the program works with it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::check::Mistake;
use super::merge::{Layer, Setting, Settings, Source, merge};
use super::quantity::{dollars, duration};
use super::tree::{Node, Place, Value};
use crate::catalogue::{self, Builtin, ModelInfo, PROVIDERS, builtin};
use crate::model::Prices;
use crate::prompt::{MAX_STEPS, MAX_WAIT_HEADLESS};
use crate::provider::wire::Protocol;
use crate::tools::{Action, Rule};

/// The files with notes for agents that are looked for, in this order in each directory.
pub const CONTEXT_FILES: &[&str] = &[
    "AGENTS.md",
    "AGENTS.local.md",
    "HOSTLER.md",
    "HOSTLER.local.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "CRUSH.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
];

/// How many bytes of them are read in all.
pub const CONTEXT_BYTES: u64 = 64 << 10;

/// All that is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The model to use when none is named.
    pub model: Option<String>,
    /// The model for small things such as titles.
    pub small_model: Option<String>,
    /// Who can be asked, by name.
    pub providers: BTreeMap<String, Provider>,
    /// What is said of models, by `PROVIDER/NAME`.
    pub models: BTreeMap<String, ModelInfo>,
    /// Rules about tool calls, as written.
    pub permissions: Permissions,
    /// Limits of a run.
    pub limits: Limits,
    /// Files that become part of the system prompt.
    pub context: Context,
    /// Whether servers on this machine are looked for.
    pub local_servers: bool,
}

/// Somebody who can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Where it is.
    pub base_url: String,
    /// Where its key is, if there is one.
    pub key: Option<Key>,
    /// Headers that go with every request.
    pub headers: BTreeMap<String, Secret>,
    /// Fields that go into every request's body, as JSON text.
    pub body: BTreeMap<String, String>,
    /// Whether it can be asked: it has a key, or it is a server of somebody's own that may need none.
    pub configured: bool,
    /// What the program knows of it by itself.
    pub builtin: Option<&'static Builtin>,
}

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Here.
    Given {
        /// The key.
        key: Secret,
        /// Who gave it, for people.
        by: String,
    },
    /// A shell command prints it.
    Command(String),
    /// A file has it.
    File(String),
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Rules about tool calls, as written, each list in the order of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// What may be done without asking.
    pub allow: Vec<String>,
    /// What is asked about.
    pub ask: Vec<String>,
    /// What may not be done.
    pub deny: Vec<String>,
}

impl Permissions {
    /// The rules. What is none is left out, but a file with such a text is refused when it is read. `home` is where `~/` begins.
    pub fn rules(&self, home: Option<&str>) -> Vec<Rule> {
        let lists = [(Action::Allow, &self.allow), (Action::Ask, &self.ask), (Action::Deny, &self.deny)];
        let each = lists.into_iter().flat_map(|(action, texts)| texts.iter().map(move |text| (action, text)));
        each.filter_map(|(action, text)| Rule::parse(action, text, home).ok()).collect()
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many steps it may have.
    pub max_steps: Option<u32>,
    /// What it may cost, in micro-dollars.
    pub max_cost: Option<u64>,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The longest single wait that a provider may ask for, in milliseconds.
    pub max_wait: Option<u64>,
}

/// Files that become part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Their names.
    pub files: Vec<String>,
    /// How many bytes are read in all.
    pub max_bytes: usize,
}

/// What holds when nobody says anything.
pub fn defaults() -> Layer {
    let number = |number: u64| Node { at: Place::default(), value: Value::Number(number.to_string()) };
    let flag = |flag| Node { at: Place::default(), value: Value::Flag(flag) };
    let files = CONTEXT_FILES.iter().map(|name| Node::text(*name)).collect();
    let files = Node { at: Place::default(), value: Value::List(files) };
    let wait = Node::text(format!("{}s", MAX_WAIT_HEADLESS / 1_000));
    let limits = [("max_steps".into(), number(u64::from(MAX_STEPS))), ("max_wait".into(), wait)];
    let context = [("files".into(), files), ("max_bytes".into(), number(CONTEXT_BYTES))];
    let root = Node::object(
        [
            ("limits".into(), Node::object(limits.into())),
            ("context".into(), Node::object(context.into())),
            ("local_servers".into(), flag(true)),
        ]
        .into(),
    );
    Layer { source: Source::Default, root, trusted: true }
}

/// What the environment says, a layer a variable. Empty counts as not set.
pub fn environment(variable: impl Fn(&str) -> Option<String>) -> Vec<Layer> {
    let read =
        |name: &str| variable(name).map(|value| value.trim().to_string()).filter(|value| !value.is_empty());
    let layer = |name: &str, root| Layer { source: Source::Variable(name.into()), root, trusted: true };
    let of_provider = |variable: Option<&'static str>, provider: &'static str, key: &str| {
        let (name, value) = variable.and_then(|name| Some((name, read(name)?)))?;
        Some(layer(name, Node::text(value).below(&["providers", provider, key])))
    };
    let keys =
        PROVIDERS.iter().filter_map(|provider| of_provider(provider.key_variable, provider.name, "key"));
    let urls =
        PROVIDERS.iter().filter_map(|provider| of_provider(provider.url_variable, provider.name, "base_url"));
    let model =
        read("HOSTLER_MODEL").map(|model| layer("HOSTLER_MODEL", Node::text(model).below(&["model"])));
    keys.chain(urls).chain(model).collect()
}

impl Config {
    /// The configuration that those settings amount to, or what is missing in it: mistakes, each with who made it.
    pub fn from(settings: &Settings) -> Result<Self, Vec<(Source, Mistake)>> {
        let (config, mistakes) = Self::gather(settings);
        if mistakes.is_empty() { Ok(config) } else { Err(mistakes) }
    }

    /// What holds when nobody says anything.
    pub fn bare() -> Self {
        Self::gather(&merge(&[defaults()])).0
    }

    fn gather(settings: &Settings) -> (Self, Vec<(Source, Mistake)>) {
        let mut mistakes = Vec::new();
        let names: BTreeSet<&str> =
            names_below(settings, "providers").chain(PROVIDERS.iter().map(|known| known.name)).collect();
        let mut providers = BTreeMap::new();
        for name in names {
            match provider(settings, name) {
                Ok(provider) => drop(providers.insert(name.to_string(), provider)),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        let models: BTreeSet<&str> = names_below(settings, "models").collect();
        let config = Self {
            model: text(settings, &["model"]),
            small_model: text(settings, &["small_model"]),
            models: models
                .into_iter()
                .map(|name| (name.to_string(), model(settings, name, &providers)))
                .collect(),
            permissions: Permissions {
                allow: texts(settings, &["permissions", "allow"]),
                ask: texts(settings, &["permissions", "ask"]),
                deny: texts(settings, &["permissions", "deny"]),
            },
            limits: Limits {
                max_steps: count(settings, &["limits", "max_steps"]).and_then(|steps| steps.try_into().ok()),
                max_cost: amount(settings, &["limits", "max_cost"]),
                timeout: text(settings, &["limits", "timeout"]).as_deref().and_then(duration),
                max_wait: text(settings, &["limits", "max_wait"]).as_deref().and_then(duration),
            },
            context: Context {
                files: texts(settings, &["context", "files"]),
                max_bytes: count(settings, &["context", "max_bytes"])
                    .unwrap_or_default()
                    .try_into()
                    .unwrap_or(0),
            },
            local_servers: flag(settings, &["local_servers"]).unwrap_or(true),
            providers,
        };
        (config, mistakes)
    }

    /// What is known of a model: what is configured, and for the rest what the table says. None if it is nothing at all.
    pub fn model_info(&self, provider: &str, model: &str) -> Option<ModelInfo> {
        let configured = self.models.get(&format!("{provider}/{model}"));
        configured.copied().or_else(|| catalogue::lookup(provider, model))
    }
}

/// The names in a map.
fn names_below<'s>(settings: &'s Settings, map: &'static str) -> impl Iterator<Item = &'s str> {
    let names = settings.values.keys().filter(move |path| path.0.first().is_some_and(|name| name == map));
    names.filter_map(|path| path.0.get(1)).map(String::as_str)
}

fn provider(settings: &Settings, name: &str) -> Result<Provider, (Source, Mistake)> {
    let known = builtin(name);
    let own = |key: &'static str| settings.get(&["providers", name, key]);
    let base_url = own("base_url").and_then(as_text).or_else(|| Some(known?.base_url.to_string()));
    let Some(base_url) = base_url else {
        let said = settings
            .values
            .iter()
            .find(|(path, _)| path.0.len() > 1 && path.0[0] == "providers" && path.0[1] == name);
        let origin = said.and_then(|(_, setting)| setting.origins.first());
        let (source, at) =
            origin.map_or((Source::Default, Place::default()), |origin| (origin.source.clone(), origin.at));
        let names = PROVIDERS.iter().map(|known| known.name);
        let hint = super::nearest::nearest(name, names)
            .map(|meant| format!("; or did you mean {meant}?"))
            .unwrap_or_default();
        let message = format!("The provider {name} is not known by itself, so it needs a base_url{hint}");
        return Err((source, Mistake::new(at, message)));
    };
    let key = key(settings, name);
    let named = own("protocol").and_then(as_text).and_then(|name| protocol(&name));
    Ok(Provider {
        protocol: named.or_else(|| Some(known?.protocol)).unwrap_or(Protocol::Chat),
        base_url,
        configured: key.is_some() || own("base_url").is_some() || known.is_some_and(Builtin::is_local),
        key,
        headers: below(settings, name, "headers")
            .map(|(name, setting)| (name, Secret(as_text(setting).unwrap_or_default())))
            .collect(),
        body: below(settings, name, "body").map(|(name, setting)| (name, setting.value.json())).collect(),
        builtin: known,
    })
}

/// The strongest word about a provider's key.
fn key(settings: &Settings, name: &str) -> Option<Key> {
    let said = ["key", "key_command", "key_file"].into_iter().filter_map(|key| {
        let setting = settings.get(&["providers", name, key])?;
        Some((setting.origins.last()?, key, as_text(setting)?))
    });
    let (origin, which, text) = said.max_by_key(|(origin, _, _)| origin.strength)?;
    Some(match which {
        "key_command" => Key::Command(text),
        "key_file" => Key::File(text),
        _ => Key::Given { key: Secret(text), by: super::show::said_by(&origin.source) },
    })
}

fn protocol(name: &str) -> Option<Protocol> {
    match name {
        "chat" => Some(Protocol::Chat),
        "messages" => Some(Protocol::Messages),
        "responses" => Some(Protocol::Responses),
        "gemini" => Some(Protocol::Gemini),
        _ => None,
    }
}

fn below<'s>(
    settings: &'s Settings,
    provider: &'s str,
    map: &'static str,
) -> impl Iterator<Item = (String, &'s Setting)> {
    let start = ["providers", provider, map];
    settings.values.iter().filter_map(move |(path, setting)| {
        let names = path.names();
        (names.len() == 4 && names[..3] == start).then(|| (names[3].to_string(), setting))
    })
}

fn model(settings: &Settings, name: &str, providers: &BTreeMap<String, Provider>) -> ModelInfo {
    let (provider, model) = name.split_once('/').unwrap_or_default();
    let known = providers
        .get(provider)
        .and_then(|provider| provider.builtin)
        .and_then(|known| catalogue::lookup(known.name, model));
    let mut info = known.unwrap_or_default();
    info.context = count(settings, &["models", name, "context_window"]).or(info.context);
    info.output = count(settings, &["models", name, "max_output"]).or(info.output);
    let price = |kind: &'static str| amount(settings, &["models", name, "prices", kind]);
    let prices = [price("input"), price("output"), price("cache_read"), price("cache_write")];
    if prices.iter().any(Option::is_some) {
        let [input, output, cache_read, cache_write] = prices;
        let input = input.or(info.prices.map(|prices| prices.input)).unwrap_or_default();
        info.prices = Some(Prices {
            input,
            output: output.or(info.prices.map(|prices| prices.output)).unwrap_or_default(),
            cache_read: cache_read.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
            long: None,
        });
    }
    let can = |ability: &'static str| flag(settings, &["models", name, ability]);
    let said = [can("tools"), can("vision"), can("reasoning")];
    if said.iter().any(Option::is_some) {
        let mut abilities = info.abilities.unwrap_or_default();
        abilities.tools = said[0].unwrap_or(abilities.tools);
        abilities.vision = said[1].unwrap_or(abilities.vision);
        abilities.reasoning = said[2].unwrap_or(abilities.reasoning);
        info.abilities = Some(abilities);
    }
    info
}

fn as_text(setting: &Setting) -> Option<String> {
    match &setting.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn text(settings: &Settings, names: &[&str]) -> Option<String> {
    settings.get(names).and_then(as_text)
}

fn texts(settings: &Settings, names: &[&str]) -> Vec<String> {
    let Some(Setting { value: Value::List(items), .. }) = settings.get(names) else { return Vec::new() };
    let texts = items.iter().filter_map(|item| match &item.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn count(settings: &Settings, names: &[&str]) -> Option<u64> {
    match &settings.get(names)?.value {
        Value::Number(number) => number.parse().ok(),
        _ => None,
    }
}

/// An amount of dollars, in micro-dollars.
fn amount(settings: &Settings, names: &[&str]) -> Option<u64> {
    match &settings.get(names)?.value {
        Value::Number(number) => dollars(number),
        _ => None,
    }
}

fn flag(settings: &Settings, names: &[&str]) -> Option<bool> {
    match settings.get(names)?.value {
        Value::Flag(flag) => Some(flag),
        _ => None,
    }
}
