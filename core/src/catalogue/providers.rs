//! The providers that the program knows by name: the protocol that each speaks, where it is, and which environment
//! variables have its key and another address.

use crate::provider::wire::Protocol;

/// A provider that need not be described to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What stands before the slash in a model's name.
    pub name: &'static str,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Where it is if nothing else is said.
    pub base_url: &'static str,
    /// The environment variable that has its key; none for a server on this machine.
    pub key_variable: Option<&'static str>,
    /// The environment variable that has another base URL; none for a server on this machine.
    pub url_variable: Option<&'static str>,
    /// The name under which the table has its models.
    pub table: &'static str,
    /// A model of the table that people take, as an example; none for a server on this machine.
    pub example: Option<&'static str>,
}

const fn remote(
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    key: &'static str,
    url: &'static str,
    example: &'static str,
) -> Builtin {
    Builtin {
        name,
        protocol,
        base_url,
        key_variable: Some(key),
        url_variable: Some(url),
        table: name,
        example: Some(example),
    }
}

const fn nearby(name: &'static str, base_url: &'static str) -> Builtin {
    let protocol = Protocol::Chat;
    Builtin { name, protocol, base_url, key_variable: None, url_variable: None, table: name, example: None }
}

/// In the order of their names, which is the order in which people are told of them.
#[rustfmt::skip]
pub const PROVIDERS: &[Builtin] = &[
    remote("anthropic", Protocol::Messages, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-5"),
    remote("deepseek", Protocol::Chat, "https://api.deepseek.com", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek-chat"),
    remote("gemini", Protocol::Gemini, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini-pro-latest"),
    remote("groq", Protocol::Chat, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_BASE_URL", "openai/gpt-oss-120b"),
    nearby("llamacpp", "http://127.0.0.1:8080/v1"),
    nearby("lmstudio", "http://127.0.0.1:1234/v1"),
    remote("mistral", Protocol::Chat, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", "mistral-large-latest"),
    nearby("ollama", "http://127.0.0.1:11434/v1"),
    remote("openai", Protocol::Chat, "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5"),
    Builtin {
        name: "openai-responses",
        protocol: Protocol::Responses,
        table: "openai",
        ..remote("openai", Protocol::Responses, "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5")
    },
    remote("openrouter", Protocol::Chat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "anthropic/claude-sonnet-5"),
    remote("xai", Protocol::Chat, "https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", "grok-code-fast"),
];

/// The provider of that name.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// Whether there is a provider of that name.
pub fn is_known(name: &str) -> bool {
    builtin(name).is_some()
}

/// The servers that people run on their own machines, in the order in which they are looked for.
pub fn local() -> impl Iterator<Item = &'static Builtin> {
    ["ollama", "llamacpp", "lmstudio"].into_iter().filter_map(builtin)
}

impl Builtin {
    /// Whether it is a server on this machine, which needs no key.
    pub fn is_local(&self) -> bool {
        self.key_variable.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::super::models;
    use super::*;

    #[test]
    fn names_are_unique_and_in_order() {
        assert!(PROVIDERS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert_eq!(local().count(), 3);
        assert!(local().all(Builtin::is_local));
        for Builtin { table, example, .. } in PROVIDERS.iter().filter(|provider| !provider.is_local()) {
            let listed = example.is_some_and(|example| models(table).any(|(name, _)| name == example));
            assert!(listed, "{table} {example:?}");
        }
        let addresses = PROVIDERS
            .iter()
            .all(|provider| provider.is_local() == provider.base_url.starts_with("http://127."));
        assert!(addresses, "keys go over encrypted connections only");
    }
}
