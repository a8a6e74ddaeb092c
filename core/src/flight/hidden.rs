//! What of a record is hidden: every string, except for names and for words of the format.
//!
//! It goes through the JSON of a record and not through its types, so that a field that comes later is hidden unless
//! somebody has thought about it. What the format insists on, such as the words of its enums, is found by trying: a record
//! with something else in its place cannot be read.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::json_text;
use super::placeholder::Placeholders;
use crate::session::telling;

/// What is done with a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// It is a name of ours, of a tool or of a model, and stays.
    Keep,
    /// It is a name if it looks like one.
    Name,
    /// It names a model, perhaps with a file behind a colon.
    Model,
    /// It is hidden.
    Text,
    /// It is JSON and its strings are hidden.
    Json,
    /// It is a tool's schema: what it lists stays.
    Schema,
    /// It is a path and its names are hidden.
    Path,
    /// It is a pattern of paths and its names are hidden.
    Pattern,
    /// It is a word of a command.
    Word,
    /// It is a pattern of commands and its words are hidden.
    Command,
    /// It is a host or a pattern of hosts and the names in it are hidden.
    Host,
    /// It is hidden except for phrases that decide something.
    Error,
    /// It is the digest of something that is hidden.
    Digest,
}

/// Decides by the keys of the object that a string is in.
fn rule(siblings: &Map<String, Value>, key: &str) -> Rule {
    let has = |key: &str| siblings.contains_key(key);
    match key {
        "media_type" => Rule::Keep,
        "name" if has("media_type") => Rule::Text,
        "input" | "opaque" if has("provider_id") || has("name") => Rule::Json,
        "opaque" | "metadata" => Rule::Json,
        "data" if has("block") => Rule::Json,
        "schema" => Rule::Schema,
        "digest" if has("sequence") => Rule::Digest,
        "whole" | "results" => Rule::Digest,
        "message" if has("kind") => Rule::Error,
        "code" => Rule::Error,
        "session" | "id" | "prompt" | "run" | "Run" | "runs" | "client" | "provider_id" | "provider" => {
            Rule::Keep
        }
        "name" | "tool" => Rule::Name,
        // The pattern of a rule, where in what is asked the words of a command stand in a list.
        "command" if siblings.len() == 1 && siblings.get(key).is_some_and(Value::is_string) => Rule::Command,
        "Command" | "command" | "commands" if siblings.get(key).is_some_and(Value::is_array) => Rule::Word,
        "Host" | "host" | "hosts" => Rule::Host,
        "path" if has("inside") => Rule::Path,
        "root" if has("complete") => Rule::Path,
        "pattern" if has("access") => Rule::Pattern,
        "model" | "small_model" => Rule::Model,
        _ => Rule::Text,
    }
}

/// Which strings the format insists on, by the keys that lead to them.
#[derive(Debug, Default)]
pub(super) struct Words {
    insisted: BTreeMap<String, bool>,
}

impl Words {
    /// The value with everything hidden that is to be hidden. None if that cannot be read.
    pub(super) fn hide<T: DeserializeOwned>(
        &mut self,
        value: &Value,
        placeholders: &mut Placeholders,
    ) -> Option<T> {
        self.learn::<T>(value);
        let mut hidden = value.clone();
        strings(&mut hidden, &mut |path, rule, text| {
            if self.insisted.get(path) != Some(&true) {
                *text = replaced(rule, text, path.ends_with("/text"), placeholders);
            }
        });
        serde_json::from_value(hidden).ok()
    }

    /// Finds out on which strings the format insists at the places that have not been met.
    fn learn<T: DeserializeOwned>(&mut self, value: &Value) {
        let mut new = BTreeMap::new();
        strings(&mut value.clone(), &mut |path, rule, _| {
            if rule != Rule::Keep && !self.insisted.contains_key(path) {
                new.insert(String::from(path), false);
            }
        });
        for (path, insisted) in &mut new {
            let mut other = value.clone();
            strings(&mut other, &mut |at, _, text| {
                if at == path {
                    *text = String::from("\u{1}");
                }
            });
            *insisted = serde_json::from_value::<T>(other).is_err();
        }
        self.insisted.append(&mut new);
    }
}

/// Tells the placeholders of the rules in a value and of what rules are about.
pub(super) fn learn(value: &Value, placeholders: &mut Placeholders) {
    strings(&mut value.clone(), &mut |_, rule, text| match rule {
        Rule::Path => placeholders.learn_path(text),
        Rule::Pattern => placeholders.learn_pattern(text),
        Rule::Command => placeholders.learn_command(text),
        Rule::Host => placeholders.learn_host(text),
        Rule::Keep | Rule::Name | Rule::Model | Rule::Text | Rule::Json | Rule::Schema => {}
        Rule::Word | Rule::Error | Rule::Digest => {}
    });
    commands(value, Rule::Text, placeholders);
}

/// The words of a command belong together.
fn commands(value: &Value, own: Rule, placeholders: &mut Placeholders) {
    match value {
        Value::Array(list) => {
            let words: Option<Vec<_>> = list.iter().map(|word| word.as_str().map(String::from)).collect();
            match words {
                Some(words) if own == Rule::Word => placeholders.learn_words(words),
                Some(_) => {}
                None => list.iter().for_each(|value| commands(value, own, placeholders)),
            }
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| commands(value, rule(map, key), placeholders));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Visits every string with the keys that lead to it, in a fixed order.
fn strings(value: &mut Value, visit: &mut impl FnMut(&str, Rule, &mut String)) {
    walk(value, &mut String::new(), Rule::Text, visit);
}

fn walk(value: &mut Value, path: &mut String, own: Rule, visit: &mut impl FnMut(&str, Rule, &mut String)) {
    match value {
        Value::String(text) => visit(path, own, text),
        Value::Array(list) => list.iter_mut().for_each(|item| walk(item, path, own, visit)),
        Value::Object(map) => {
            let rules: Vec<_> = map.keys().map(|key| rule(map, key)).collect();
            for ((key, value), rule) in map.iter_mut().zip(rules) {
                let length = path.len();
                path.push('/');
                path.push_str(key);
                walk(value, path, rule, visit);
                path.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replaced(rule: Rule, text: &str, pairs: bool, placeholders: &mut Placeholders) -> String {
    match rule {
        Rule::Keep => text.into(),
        Rule::Name if is_name(text) => text.into(),
        Rule::Model => {
            let name = text.split(':').next().unwrap_or_default();
            let (name, file) = if is_name(name) { text.split_at(name.len()) } else { ("", text) };
            let (colon, file) = file.split_at(usize::from(file.starts_with(':')));
            alloc::format!("{name}{colon}{}", placeholders.hide(file))
        }
        Rule::Json => json_text::hide(text, placeholders),
        Rule::Schema => {
            placeholders.words.append(&mut json_text::words(text));
            json_text::hide(text, placeholders)
        }
        Rule::Path => placeholders.hide_path(text),
        Rule::Pattern => placeholders.hide_pattern(text),
        Rule::Word => placeholders.hide_word(text),
        Rule::Command => placeholders.hide_command(text),
        Rule::Host => placeholders.hide_host(text),
        Rule::Error if is_name(text) => text.into(),
        Rule::Error => placeholders.hide_but(text, &telling()),
        Rule::Digest => placeholders.digest(text),
        Rule::Name | Rule::Text => {
            let hidden = placeholders.hide(text);
            if pairs {
                placeholders.pair_digests(text, &hidden);
            }
            hidden
        }
    }
}

/// Whether a text looks like the name of a tool or a model, or like a code.
fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    text.len() <= 64 && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn what_decides_about_an_error_is_left_standing_and_nothing_beside_it() {
        let mut placeholders = Placeholders::default();
        for phrase in telling() {
            let text = format!("A secret {phrase}: of 17 secrets.");
            let hidden = replaced(Rule::Error, &text, false, &mut placeholders);
            assert!(hidden.contains(phrase) && !hidden.contains("secret"), "{hidden}");
            assert_eq!(hidden.len(), text.len());
        }
    }
}
