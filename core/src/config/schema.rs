//! The JSON Schema of a configuration, for editors; made from the table of keys.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::keys::{Key, Kind, Names, ROOT};
use super::tree::quoted;

/// The schema, indented.
pub fn schema() -> String {
    let head = [
        ("$schema", quoted("https://json-schema.org/draft/2020-12/schema")),
        ("title", quoted("Configuration of hostler")),
        ("type", quoted("object")),
        ("additionalProperties", "false".into()),
        ("properties", properties(ROOT, 1)),
    ];
    let mut text = object(&head.map(|(name, value)| (name.into(), value)), 0);
    text.push('\n');
    text
}

fn properties(keys: &[Key], depth: usize) -> String {
    let all: Vec<_> =
        keys.iter().map(|key| (key.name.into(), of(&key.kind, Some(key.help), depth + 1))).collect();
    object(&all, depth)
}

/// The schema of a value.
fn of(kind: &Kind, help: Option<&str>, depth: usize) -> String {
    let mut members: Vec<(String, String)> = Vec::new();
    if let Some(help) = help {
        members.push(("description".into(), quoted(help)));
    }
    let mut add = |name: &str, value: String| members.push((name.into(), value));
    match kind {
        Kind::Text | Kind::Secret => {
            add("type", quoted("string"));
            add("minLength", "1".into());
        }
        Kind::Model => {
            add("type", quoted("string"));
            add("pattern", quoted("^(rehearsal(:.+)?|[^/]+/.+)$"));
        }
        Kind::Url => {
            add("type", quoted("string"));
            add("pattern", quoted("^https?://[^/\\s?#@][^\\s?#@]*$"));
        }
        Kind::Duration => {
            add("type", quoted("string"));
            add("pattern", quoted("^[0-9]+(ms|s|m|h)$"));
        }
        Kind::Choice(names) => {
            let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
            add("enum", format!("[{}]", names.join(", ")));
        }
        Kind::Flag => add("type", quoted("boolean")),
        Kind::Count(least, most) => {
            add("type", quoted("integer"));
            add("minimum", format!("{least}"));
            add("maximum", format!("{most}"));
        }
        Kind::Dollars => {
            add("type", quoted("number"));
            add("minimum", "0".into());
        }
        Kind::Texts | Kind::Rules => {
            add("type", quoted("array"));
            add("items", "{ \"type\": \"string\", \"minLength\": 1 }".into());
        }
        Kind::Json => {}
        Kind::Object(keys) => {
            add("type", quoted("object"));
            add("additionalProperties", "false".into());
            add("properties", properties(keys, depth + 1));
        }
        Kind::Map(names, kind) => {
            add("type", quoted("object"));
            if *names == Names::Model {
                add("propertyNames", "{ \"pattern\": \"^[^/]+/.+$\" }".into());
            }
            add("additionalProperties", of(kind, None, depth + 1));
        }
    }
    object(&members, depth)
}

fn object(members: &[(String, String)], depth: usize) -> String {
    let indent = "  ".repeat(depth + 1);
    let lines: Vec<_> =
        members.iter().map(|(name, value)| format!("{indent}{}: {value}", quoted(name))).collect();
    if lines.is_empty() {
        "{}".into()
    } else {
        format!("{{\n{}\n{}}}", lines.join(",\n"), "  ".repeat(depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_that_is_checked_in_is_the_one_of_the_program() {
        let checked_in = include_str!("../../../docs/config.schema.json");
        assert!(serde_json::from_str::<serde_json::Value>(checked_in).is_ok());
        assert_eq!(schema(), checked_in, "write it anew: hostler schema config > docs/config.schema.json");
    }
}
