//! The keys that a configuration may have: their values, who may set them, and what they mean. Everything else about
//! configuration (checking, merging, the JSON Schema) follows from this table.

use super::path::Path;

/// What a key's value is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text that is not empty.
    Text,
    /// A model: `PROVIDER/NAME`, or one inside the program.
    Model,
    /// A text that only its owner should see.
    Secret,
    /// The URL of a server.
    Url,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A whole number in that range.
    Count(u64, u64),
    /// Dollars as a decimal.
    Dollars,
    /// A duration with a unit.
    Duration,
    /// A list of texts.
    Texts,
    /// A list of permission rules, to which every file adds.
    Rules,
    /// Anything.
    Json,
    /// An object with these keys.
    Object(&'static [Key]),
    /// An object with names of that sort, each with such a value.
    Map(Names, &'static Kind),
}

/// What the names in a map are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Providers.
    Provider,
    /// Models, as `PROVIDER/NAME`.
    Model,
    /// HTTP headers.
    Header,
    /// Fields of a request's body.
    Field,
}

/// What a project's own file may say about a key before its directory is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whatever it likes: it can only take something away from itself.
    Free,
    /// Less than what holds without it.
    Less,
    /// Nothing.
    Needed,
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What a project that is not trusted may say about it, and about all below.
    pub trust: Trust,
    /// What it means, in a sentence or two.
    pub help: &'static str,
}

const fn key(name: &'static str, kind: Kind, trust: Trust, help: &'static str) -> Key {
    Key { name, kind, trust, help }
}

/// The names of protocols in a configuration.
pub const PROTOCOLS: &[&str] = &["chat", "messages", "responses", "gemini"];

/// A billion tokens, more than any model has.
const TOKENS: Kind = Kind::Count(1, 1_000_000_000);

/// What a configuration may have.
pub const ROOT: &[Key] = &[
    key("$schema", Kind::Text, Trust::Free, "The address of this schema, for editors."),
    key(
        "model",
        Kind::Model,
        Trust::Needed,
        "The model to use when none is named: PROVIDER/NAME, rehearsal, or rehearsal:FILE.",
    ),
    key(
        "small_model",
        Kind::Model,
        Trust::Needed,
        "The model that gives new sessions their titles: PROVIDER/NAME. Without one a title is the beginning of the prompt.",
    ),
    key(
        "providers",
        Kind::Map(Names::Provider, &Kind::Object(PROVIDER)),
        Trust::Needed,
        "Who can be asked. Known providers need only what differs; any other needs a base_url.",
    ),
    key(
        "models",
        Kind::Map(Names::Model, &Kind::Object(MODEL)),
        Trust::Needed,
        "What models can do and cost, by PROVIDER/NAME; the built-in table knows the rest.",
    ),
    key(
        "permissions",
        Kind::Object(PERMISSIONS),
        Trust::Free,
        "Rules about tool calls, such as bash(git log *), write(src/**), host(example.com) or view. The rules of all files count together; the most exact one decides.",
    ),
    key("limits", Kind::Object(LIMITS), Trust::Less, "Limits of a run when the command line sets none."),
    key(
        "context",
        Kind::Object(CONTEXT),
        Trust::Needed,
        "Files with notes for agents that become part of the system prompt.",
    ),
    key(
        "local_servers",
        Kind::Flag,
        Trust::Needed,
        "Whether Ollama, llama.cpp and LM Studio are looked for on this machine when no model is named and no key is set (default true).",
    ),
];

const PROVIDER: &[Key] = &[
    key(
        "protocol",
        Kind::Choice(PROTOCOLS),
        Trust::Needed,
        "How it is spoken to: OpenAI's chat completions (the default), Anthropic's Messages, OpenAI's Responses, or Gemini's.",
    ),
    key("base_url", Kind::Url, Trust::Needed, "Where it is, such as http://127.0.0.1:8000/v1."),
    key(
        "key",
        Kind::Secret,
        Trust::Needed,
        "Its key. Better kept in key_file, key_command or the environment.",
    ),
    key(
        "key_command",
        Kind::Text,
        Trust::Needed,
        "A shell command that prints its key, such as `pass show openai`.",
    ),
    key("key_file", Kind::Text, Trust::Needed, "A file that has its key and nothing else; ~/ is your home."),
    key(
        "headers",
        Kind::Map(Names::Header, &Kind::Secret),
        Trust::Needed,
        "Headers that go with every request to it.",
    ),
    key(
        "body",
        Kind::Map(Names::Field, &Kind::Json),
        Trust::Needed,
        "Fields that go into the body of every request to it, in place of what would stand there.",
    ),
];

const MODEL: &[Key] = &[
    key("context_window", TOKENS, Trust::Needed, "How many tokens a request may have."),
    key("max_output", TOKENS, Trust::Needed, "How many tokens an answer may have."),
    key("prices", Kind::Object(PRICES), Trust::Needed, "What its tokens cost, in dollars a million tokens."),
    key("tools", Kind::Flag, Trust::Needed, "Whether it can call tools."),
    key("vision", Kind::Flag, Trust::Needed, "Whether it can see pictures."),
    key("reasoning", Kind::Flag, Trust::Needed, "Whether it reasons before it answers."),
];

const PRICES: &[Key] = &[
    key("input", Kind::Dollars, Trust::Needed, "For tokens read."),
    key("output", Kind::Dollars, Trust::Needed, "For tokens written."),
    key("cache_read", Kind::Dollars, Trust::Needed, "For tokens read from the cache (default: as input)."),
    key("cache_write", Kind::Dollars, Trust::Needed, "For tokens written to the cache (default: as input)."),
];

const PERMISSIONS: &[Key] = &[
    key("allow", Kind::Rules, Trust::Needed, "What may be done without asking."),
    key(
        "ask",
        Kind::Rules,
        Trust::Needed,
        "What is asked about; in a run, where nobody can be asked, it is denied.",
    ),
    // A rule that asks may stand before one that denies, if it is the more exact one, so it needs trust.
    key("deny", Kind::Rules, Trust::Free, "What may not be done, whoever would permit it."),
];

const LIMITS: &[Key] = &[
    key(
        "max_steps",
        Kind::Count(1, 1_000_000),
        Trust::Less,
        "Stop a run after so many steps (answers of the model).",
    ),
    key(
        "max_cost",
        Kind::Dollars,
        Trust::Less,
        "Stop a run once it has cost so many dollars, such as 0.5; the model's prices must be known.",
    ),
    key("timeout", Kind::Duration, Trust::Less, "Stop a run after that time, such as 90s, 10m or 1h."),
    key(
        "max_wait",
        Kind::Duration,
        Trust::Less,
        "Wait at most so long when a provider asks to wait before the next request.",
    ),
];

const CONTEXT: &[Key] = &[
    key(
        "files",
        Kind::Texts,
        Trust::Needed,
        "The names of the files, looked for from the root of the repository down to the working directory.",
    ),
    key(
        "max_bytes",
        Kind::Count(0, 1 << 20),
        Trust::Needed,
        "How many bytes of them are read in all (default 65536); 0 reads none.",
    ),
];

/// What the value at a path is, and what a project that is not trusted may say about it; none if there is no such key.
pub fn find(path: &Path) -> Option<(&'static Kind, Trust)> {
    static WHOLE: Kind = Kind::Object(ROOT);
    let mut found = (&WHOLE, Trust::Free);
    for name in &path.0 {
        found = match found.0 {
            Kind::Object(keys) => {
                let key = keys.iter().find(|key| key.name == name)?;
                (&key.kind, key.trust)
            }
            Kind::Map(_, kind) => (*kind, found.1),
            _ => return None,
        };
    }
    Some(found)
}

/// Whether the value at a path is for its owner's eyes only.
pub fn is_secret(path: &Path) -> bool {
    find(path).is_some_and(|(kind, _)| matches!(kind, Kind::Secret))
}
