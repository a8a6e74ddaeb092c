//! What is checked, merged and made of layers that are written as JSON.

use serde_json::json;

use super::check::{check, check_path, key_at};
use super::keys::find;
use super::merge::{Layer, Settings, Source, merge};
use super::tree::{Member, Node, Place, Value};
use super::typed::{Config, Key, Secret, defaults, environment};
use super::{Path, show};
use crate::provider::wire::Protocol;

fn node(json: &serde_json::Value) -> Node {
    let at = Place { line: 1, column: 1 };
    let value = match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Flag(*flag),
        serde_json::Value::Number(number) => Value::Number(number.to_string()),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(node).collect()),
        serde_json::Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| Member { name: name.clone(), at, node: node(value) })
                .collect(),
        ),
    };
    Node { at, value }
}

fn user(json: serde_json::Value) -> Layer {
    Layer { source: Source::User("user.json".into()), root: node(&json), trusted: true }
}

fn project(json: serde_json::Value, trusted: bool) -> Layer {
    Layer { source: Source::Project("project.json".into()), root: node(&json), trusted }
}

fn settings(layers: &[Layer]) -> Settings {
    let mut all = vec![defaults()];
    all.extend_from_slice(layers);
    merge(&all)
}

fn config(layers: &[Layer]) -> Config {
    Config::from(&settings(layers)).unwrap()
}

#[track_caller]
fn mistakes(json: serde_json::Value, expected: &[&str]) {
    let rule = |rule: &str| if rule.contains("??") { Err("what would that be".to_string()) } else { Ok(()) };
    let found = check(&node(&json), &rule);
    let found: Vec<_> = found.iter().map(|mistake| mistake.message.as_str()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_slip_in_a_key_is_named_with_what_was_meant() {
    mistakes(json!({"modle": "x"}), &["There is no key modle; did you mean model?"]);
    mistakes(
        json!({"providers": {"openai": {"baseurl": "http://a"}}}),
        &["There is no key providers.openai.baseurl; did you mean base_url?"],
    );
    mistakes(
        json!({"permissions": {"forbid": []}}),
        &["There is no key permissions.forbid; there are allow, ask, deny"],
    );
    mistakes(
        json!({"providers": {"x": {"protocol": "mesages"}}}),
        &["providers.x.protocol cannot be \"mesages\"; did you mean \"messages\"?"],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_told_what_it_must_be() {
    mistakes(json!([]), &["A configuration must be an object in braces, not a list"]);
    mistakes(json!({"model": 5}), &["model must be a text in quotes, not a number"]);
    mistakes(json!({"model": " "}), &["model must not be empty; leave it out"]);
    mistakes(json!({"model": "a\u{1b}[2J"}), &["model has a control character in it; leave that out"]);
    mistakes(
        json!({"limits": {"max_steps": 0}}),
        &["limits.max_steps must be a whole number from 1 to 1000000"],
    );
    mistakes(
        json!({"limits": {"max_steps": 1.5}}),
        &["limits.max_steps must be a whole number from 1 to 1000000"],
    );
    mistakes(
        json!({"limits": {"timeout": "5"}}),
        &["limits.timeout must be a duration above zero with a unit, such as \"90s\", \"10m\" or \"1h\""],
    );
    mistakes(json!({"local_servers": "yes"}), &["local_servers must be true or false, not a text"]);
    mistakes(json!({"context": null}), &["context must be an object in braces, not null"]);
    mistakes(
        json!({"context": {"files": [1]}}),
        &["context.files must be a list of texts, and this is a number"],
    );
    mistakes(
        json!({"providers": {"x": {"base_url": "https://user:pass@a"}}}),
        &["providers.x.base_url must be the URL of a server, such as https://example.com/v1"],
    );
    mistakes(
        json!({"providers": {"x": {"base_url": "ftp://a"}}}),
        &["providers.x.base_url must be the URL of a server, such as https://example.com/v1"],
    );
    mistakes(
        json!({"models": {"a/b": {"prices": {"input": 1e-9}}}}),
        &["models.a/b.prices.input must be dollars with at most six decimals, such as 1.25"],
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    mistakes(
        json!({"models": {"gpt": {}}}),
        &["\"gpt\" does not name a model; write PROVIDER/NAME, such as openai/gpt-5"],
    );
    mistakes(
        json!({"providers": {"a/b": {}}}),
        &["\"a/b\" cannot be a provider's name; use letters, digits, - and _"],
    );
    mistakes(
        json!({"providers": {"rehearsal": {}}}),
        &["rehearsal is the model inside the program; give the provider another name"],
    );
    mistakes(
        json!({"providers": {"a": {"headers": {"Host": "b", "x y": "c", "x-ok": "d"}, "body": {"stream": false}}}}),
        &[
            "the field stream is hostler's own to set; leave it out",
            "the header Host is hostler's own to set; leave it out",
            "\"x y\" cannot be the name of a header",
        ],
    );
    let secret = "x".repeat(65);
    mistakes(
        json!({"providers": {"a": {"headers": {"Authorization: Bearer sk-4711": "b", secret: "c"}}}}),
        &[
            "\"Authoriz…\" cannot be the name of a header",
            "the name of a header has more than 64 characters; write its name before the colon and the rest after it",
        ],
    );
    mistakes(
        json!({"providers": {"a": {"key": "k", "key_file": "f"}}}),
        &["providers.a has both key and key_file; leave one of them"],
    );
    mistakes(
        json!({"permissions": {"deny": ["ok", "a??", ""]}}),
        &["permissions.deny: what would that be", "permissions.deny has an empty text in it; leave that out"],
    );
}

#[test]
fn a_flood_of_mistakes_is_cut_short() {
    let flood: serde_json::Map<_, _> =
        (0..50_000).map(|number| (format!("{number}{}", "x".repeat(500)), json!(1))).collect();
    let found = check(&node(&serde_json::Value::Object(flood)), &|_| Ok(()));
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|mistake| mistake.message.len() < 1_000));
    mistakes(
        json!({"models": {format!("a/{}", "b".repeat(400)): {}}}),
        &["a name has more than 400 characters; give it a shorter one"],
    );
}

#[test]
fn what_is_written_twice_is_a_mistake() {
    let mut root = node(&json!({"model": "a/b"}));
    if let Value::Object(members) = &mut root.value {
        members.push(Member { at: Place { line: 2, column: 3 }, ..members[0].clone() });
    }
    let found = check(&root, &|_| Ok(()));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].at.line, found[0].message.as_str()),
        (2, "model is written twice; leave one of them")
    );
}

#[test]
fn the_stronger_word_holds_and_is_known_by_its_source() {
    let environment = environment(|name| (name == "OPENAI_API_KEY").then(|| " k ".to_string()));
    let mut layers = vec![
        user(json!({"model": "a/b", "limits": {"max_steps": 5}, "providers": {"openai": {"key_file": "f"}}})),
        project(json!({"model": "c/d"}), true),
    ];
    layers.extend(environment);
    let settings = settings(&layers);
    let said = |names: &[&str]| show::origins(settings.get(names).unwrap());
    assert_eq!(said(&["model"]), "project.json:1:1");
    assert_eq!(said(&["limits", "max_steps"]), "user.json:1:1");
    assert_eq!(said(&["limits", "max_wait"]), "the default");
    let config = Config::from(&settings).unwrap();
    assert_eq!(config.model.as_deref(), Some("c/d"));
    assert_eq!((config.limits.max_steps, config.limits.max_wait), (Some(5), Some(60_000)));
    let key = Key::Given { key: Secret("k".into()), by: "the environment variable OPENAI_API_KEY".into() };
    assert_eq!(config.providers["openai"].key.as_ref(), Some(&key));
    assert_eq!(config.providers["openai-responses"].key.as_ref(), Some(&key));
    assert!(!config.providers["anthropic"].configured && config.providers["ollama"].configured);
}

#[test]
fn rules_add_up_and_no_file_takes_anothers_away() {
    let config = config(&[
        user(json!({"permissions": {"deny": ["a"], "allow": ["b"]}})),
        project(json!({"permissions": {"deny": [], "ask": ["c"]}}), true),
        project(json!({"permissions": {"deny": ["d"]}}), false),
    ]);
    assert_eq!(config.permissions.deny, ["a", "d"]);
    assert_eq!(
        (&config.permissions.allow[..], &config.permissions.ask[..]),
        (&["b".to_string()][..], &["c".to_string()][..])
    );
}

/// A project that wants everything. What would run, leak, cost or open something does not count before it is trusted.
#[test]
fn a_project_that_is_not_trusted_can_only_take_away() {
    let wishes = json!({
        "$schema": "s",
        "model": "rehearsal:evil.json",
        "small_model": "rehearsal:evil.json",
        "local_servers": false,
        "providers": {"openai": {"base_url": "http://evil", "key_command": "evil", "headers": {"x": "y"}, "body": {"a": 1}}},
        "models": {"openai/gpt-5": {"prices": {"input": 0}}},
        "permissions": {"allow": ["bash"], "ask": ["edit"], "deny": ["write"]},
        "limits": {"max_steps": 1000, "max_cost": 0.75, "timeout": "5m", "max_wait": "1s"},
        "context": {"files": [".env"], "max_bytes": 1000},
    });
    let mine = user(
        json!({"limits": {"max_steps": 20, "max_cost": 0.5, "timeout": "1m"}, "permissions": {"deny": ["x"]}}),
    );
    let layers = [mine.clone(), project(wishes.clone(), false)];
    let settings = settings(&layers);
    let ignored: Vec<_> = settings.ignored.iter().map(Path::to_string).collect();
    assert_eq!(
        ignored,
        [
            "context.files",
            "context.max_bytes",
            "limits.max_cost",
            "limits.max_steps",
            "limits.timeout",
            "local_servers",
            "model",
            "models.openai/gpt-5.prices.input",
            "permissions.allow",
            "permissions.ask",
            "providers.openai.base_url",
            "providers.openai.body.a",
            "providers.openai.headers.x",
            "providers.openai.key_command",
            "small_model",
        ]
    );
    let found = Config::from(&settings).unwrap();
    let without = config(std::slice::from_ref(&mine));
    assert_eq!((&found.model, &found.small_model), (&None, &None));
    assert_eq!((&found.providers, &found.models), (&without.providers, &without.models));
    let cost = |more: f64| config(&[mine.clone(), project(json!({"limits": {"max_cost": more}}), false)]);
    assert_eq!((found.limits.max_cost, cost(0.25).limits.max_cost), (Some(500_000), Some(250_000)));
    assert_eq!(
        (found.limits.max_steps, found.limits.timeout, found.limits.max_wait),
        (Some(20), Some(60_000), Some(1_000))
    );
    assert_eq!(&found.context, &without.context);
    assert_eq!(found.permissions.deny, ["x", "write"]);
    assert!(found.permissions.allow.is_empty() && found.local_servers);

    let trusted = config(&[mine, project(wishes, true)]);
    assert_eq!(trusted.providers["openai"].base_url, "http://evil");
    assert_eq!(trusted.limits.max_steps, Some(1000));
}

#[test]
fn every_key_needs_trust_unless_it_can_only_take_away() {
    let untrusted = ["$schema", "permissions.deny"];
    let less = ["limits.max_steps", "limits.max_cost", "limits.timeout", "limits.max_wait"];
    for text in untrusted.iter().chain(&less) {
        assert_ne!(find(&Path::parse(text).unwrap()).unwrap().1, super::keys::Trust::Needed, "{text}");
    }
    let mut free = Vec::new();
    leaves("", super::keys::ROOT, &mut free);
    assert_eq!(free.len(), untrusted.len() + less.len(), "{free:?}");
}

/// The leaves that a project may speak of before it is trusted.
fn leaves(path: &str, keys: &[super::keys::Key], free: &mut Vec<String>) {
    use super::keys::{Kind, Trust};
    for key in keys {
        match key.kind {
            Kind::Object(below) => leaves(&format!("{path}{}.", key.name), below, free),
            Kind::Map(_, Kind::Object(below)) => leaves(&format!("{path}{}.NAME.", key.name), below, free),
            _ if key.trust != Trust::Needed => free.push(format!("{path}{}", key.name)),
            _ => {}
        }
    }
}

#[test]
fn a_provider_of_ones_own_needs_an_address_and_speaks_chat_unless_told_otherwise() {
    let own = config(&[user(json!({"providers": {
        "mine": {"base_url": "http://a/v1"},
        "other": {"base_url": "http://b", "protocol": "messages", "headers": {"x-a": "b"}, "body": {"top_k": [1, {"a": "b"}]}},
    }}))]);
    let mine = &own.providers["mine"];
    assert_eq!(
        (mine.protocol, mine.base_url.as_str(), mine.configured),
        (Protocol::Chat, "http://a/v1", true)
    );
    let other = &own.providers["other"];
    assert_eq!((other.protocol, other.body["top_k"].as_str()), (Protocol::Messages, "[1,{\"a\":\"b\"}]"));
    assert_eq!(other.headers["x-a"], Secret("b".into()));
    let broken = Config::from(&settings(&[user(json!({"providers": {"opnai": {"key": "k"}}}))])).unwrap_err();
    assert_eq!(
        broken[0].1.message,
        "The provider opnai is not known by itself, so it needs a base_url; or did you mean openai?"
    );
    assert_eq!(broken[0].1.at.line, 1);
}

#[test]
fn what_is_configured_of_a_model_goes_before_the_table() {
    let config = config(&[user(json!({"models": {
        "openai/gpt-5": {"context_window": 1000},
        "ollama/own": {"context_window": 8192, "prices": {"input": 0.5, "output": 2}, "tools": true},
    }}))]);
    let table = crate::catalogue::lookup("openai", "gpt-5").unwrap();
    let known = config.model_info("openai", "gpt-5").unwrap();
    assert_eq!((known.context, known.prices, known.output), (Some(1000), table.prices, table.output));
    let own = config.model_info("ollama", "own").unwrap();
    let prices = own.prices.unwrap();
    assert_eq!((prices.input, prices.output, prices.cache_read), (500_000, 2_000_000, 500_000));
    assert!(own.abilities.unwrap().tools && !own.abilities.unwrap().vision);
    assert_eq!(config.model_info("openai", "gpt-4.1"), crate::catalogue::lookup("openai", "gpt-4.1"));
    assert_eq!(config.model_info("ollama", "other"), None);
}

#[test]
fn secrets_are_not_shown() {
    let settings =
        settings(&[user(json!({"providers": {"openai": {"key": "hush", "headers": {"x-key": "hush"}}}}))]);
    let shown: Vec<_> =
        settings.values.iter().map(|(path, setting)| show::value(path, &setting.value)).collect();
    assert!(!shown.concat().contains("hush"));
    assert_eq!(shown.iter().filter(|value| value.contains("(secret)")).count(), 2);
    assert!(!format!("{:?}", Config::from(&settings)).contains("hush"));
}

#[test]
fn a_path_that_leads_nowhere_says_where_it_ends() {
    let wrong = |text: &str| check_path(&Path::parse(text).unwrap()).unwrap_err();
    assert_eq!(wrong("limits.max_step"), "There is no key limits.max_step; did you mean max_steps?");
    assert_eq!(wrong("model.name"), "model has no keys of its own; leave out .name");
    assert_eq!(
        wrong("models.gpt"),
        "\"gpt\" does not name a model; write PROVIDER/NAME, such as openai/gpt-5"
    );
    assert!(check_path(&Path::parse("providers.x.body.anything").unwrap()).is_ok());
}

#[test]
fn names_with_dots_need_no_quotes() {
    for (text, path) in [
        ("models.openai/gpt-4.1.context_window", "models.\"openai/gpt-4.1\".context_window"),
        ("models.\"openai/gpt-4.1\".tools", "models.\"openai/gpt-4.1\".tools"),
        ("models.a/b.c.d.prices.input", "models.\"a/b.c.d\".prices.input"),
        ("limits.max_steps", "limits.max_steps"),
    ] {
        assert_eq!(key_at(text).unwrap().0.to_string(), path);
    }
    assert!(key_at("limits.max_step").unwrap_err().contains("did you mean max_steps?"));
    assert_eq!(key_at("models.a/b.1").unwrap().0.names(), ["models", "a/b.1"]);
    assert!(key_at("").is_err());
}

#[test]
fn a_model_is_one_of_a_provider_or_inside_the_program() {
    let said = |model: &str| {
        let node = super::tree::Node::text(model);
        let (path, kind) = key_at("model").unwrap();
        super::check::check_value(&path, kind, &node, &|_| Ok(()))
    };
    for model in ["openai/gpt-5", "openrouter/a/b:free", "rehearsal", "rehearsal:tests/a.json"] {
        assert_eq!(said(model), []);
    }
    for model in ["gpt-5", "/a", "a/", "rehearsals"] {
        let [mistake] = &said(model)[..] else { panic!("{model}") };
        assert!(
            mistake.message.ends_with("; write PROVIDER/NAME, such as openai/gpt-5"),
            "{}",
            mistake.message
        );
    }
    assert!(said(" ")[0].message.contains("must not be empty"));
}
