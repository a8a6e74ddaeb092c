//! Who can be asked: each provider's name, its protocol, where it is and which environment variables say otherwise.

use hostler_core::provider::wire::Protocol;

/// A provider.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Provider {
    /// What stands before the slash in a model's name.
    pub(super) name: &'static str,
    pub(super) protocol: Protocol,
    /// Where it is if nothing else is said.
    base_url: &'static str,
    /// The variable that has its key.
    pub(super) key_variable: &'static str,
    /// The variable that has another base URL.
    pub(super) url_variable: &'static str,
}

/// In the order of their names, which is the order in which people are told of them.
static PROVIDERS: &[Provider] = &[
    Provider {
        name: "anthropic",
        protocol: Protocol::Messages,
        base_url: "https://api.anthropic.com",
        key_variable: "ANTHROPIC_API_KEY",
        url_variable: "ANTHROPIC_BASE_URL",
    },
    Provider {
        name: "gemini",
        protocol: Protocol::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        key_variable: "GEMINI_API_KEY",
        url_variable: "GEMINI_BASE_URL",
    },
    Provider {
        name: "openai",
        protocol: Protocol::Chat,
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        url_variable: "OPENAI_BASE_URL",
    },
    Provider {
        name: "openai-responses",
        protocol: Protocol::Responses,
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        url_variable: "OPENAI_BASE_URL",
    },
];

/// Where a provider is, and the key to it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) provider: &'static Provider,
    /// Another base URL than the provider's own.
    base_url: Option<String>,
    /// The key; none for servers that want none.
    pub(super) key: Option<String>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.as_ref().map(|_| "(secret)");
        let mut shown = f.debug_struct("Endpoint");
        shown.field("provider", &self.provider.name).field("base_url", &self.base_url).field("key", &key);
        shown.finish()
    }
}

impl Endpoint {
    /// Its base URL.
    pub(super) fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.provider.base_url)
    }

    /// Whether it can be asked: there is a key, or a server of somebody's own that may need none.
    pub(super) fn is_configured(&self) -> bool {
        self.key.is_some() || self.base_url.is_some()
    }
}

/// Where all providers are.
#[derive(Clone, Debug)]
pub struct Endpoints {
    list: Vec<Endpoint>,
}

impl Endpoints {
    /// What the environment says. Empty counts as not set.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// What variables say that are looked up so.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read =
            |name| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let endpoint = |provider: &'static Provider| Endpoint {
            provider,
            base_url: read(provider.url_variable),
            key: read(provider.key_variable),
        };
        Self { list: PROVIDERS.iter().map(endpoint).collect() }
    }

    /// All of them, in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Endpoint> {
        self.list.iter()
    }

    /// The one of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Endpoint> {
        self.iter().find(|endpoint| endpoint.provider.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(variables: &[(&str, &str)]) -> Endpoints {
        let find =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        Endpoints::from_variables(find)
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], name: &str, base_url: &str, key: Option<&str>, configured: bool) {
        let endpoints = endpoints(variables);
        let endpoint = endpoints.get(name).unwrap();
        assert_eq!((endpoint.base_url(), endpoint.key.as_deref()), (base_url, key), "{name}");
        assert_eq!(endpoint.is_configured(), configured, "{name}");
    }

    #[test]
    fn providers_are_where_the_environment_says() {
        let variables = [("OPENAI_BASE_URL", "http://localhost/v1"), ("ANTHROPIC_API_KEY", " k\n")];
        check(&variables, "openai", "http://localhost/v1", None, true);
        check(&variables, "anthropic", "https://api.anthropic.com", Some("k"), true);
        check(&[("OPENAI_API_KEY", " ")], "openai", "https://api.openai.com/v1", None, false);
    }

    #[test]
    fn names_are_unique_and_in_order_and_keys_are_not_shown() {
        assert!(PROVIDERS.windows(2).all(|pair| pair[0].name < pair[1].name));
        let variables: Vec<_> = PROVIDERS.iter().map(|provider| (provider.key_variable, "hush")).collect();
        let endpoints = endpoints(&variables);
        assert!(endpoints.iter().all(|endpoint| endpoint.key.as_deref() == Some("hush")));
        assert!(!format!("{endpoints:?}").contains("hush"));
    }
}
