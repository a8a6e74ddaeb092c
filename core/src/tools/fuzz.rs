//! Whatever a model writes as arguments is read or refused, in few words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{read_call, specs};

/// Arguments that fit, one set for each tool.
fn valid(tool: &str) -> Value {
    match tool {
        "agent" => json!({"prompt": "x"}),
        "todos" => json!({"todos": [{"content": "x", "status": "pending", "active_form": "y"}]}),
        "bash" => json!({"command": "ls", "description": "x", "working_dir": ".", "timeout": 5}),
        "view" => json!({"file_path": "a", "offset": 1, "limit": 2}),
        "ls" => json!({"path": "a", "depth": 1}),
        "glob" => json!({"pattern": "*", "path": "a"}),
        "grep" => json!({"pattern": "x", "path": "a", "include": "*", "literal_text": true}),
        "edit" => json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true}),
        "multiedit" => json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}),
        "write" => json!({"file_path": "a", "content": "x"}),
        other => panic!("{other} has no example"),
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let numbers = select(alloc::vec![json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(1e300)]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers,
        ".{0,20}".prop_map(Value::from),
        Just(Value::from("x".repeat(100_000))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let pairs = prop::collection::vec(("[a-z_]{0,12}", inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn tool() -> impl Strategy<Value = String> {
    select(specs()).prop_map(|spec| spec.name)
}

/// Arguments that nearly fit: one value is another, is missing or comes twice, or the text is cut or has a mistake.
fn nearly(tool: &str) -> impl Strategy<Value = String> + use<> {
    let valid = valid(tool);
    let keys: Vec<String> =
        valid.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    (select(keys), any_value(), 0..6_u8, any::<prop::sample::Index>(), any::<char>()).prop_map(
        move |(key, value, how, at, char)| {
            let mut changed = valid.clone();
            match how {
                0 | 1 => changed[&key] = value,
                2 => drop(changed.as_object_mut().and_then(|object| object.remove(&key))),
                3 => changed[format!("{key}s")] = value,
                _ => {}
            }
            let mut text = changed.to_string();
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = *at.get(&borders);
            match how {
                4 => text.truncate(at),
                5 => text.insert(at, char),
                1 => text = text.replacen('{', &format!("{{\"{key}\":null,"), 1),
                _ => {}
            }
            text
        },
    )
}

fn check(tool: &str, text: &str) {
    match read_call(tool, text) {
        Ok(_) => {}
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.len() < 2500 && !sentence.trim().is_empty(), "{} bytes", sentence.len());
        }
    }
}

#[test]
fn what_fits_is_read_for_every_tool() {
    for spec in specs() {
        assert!(read_call(&spec.name, &valid(&spec.name).to_string()).is_ok(), "{}", spec.name);
    }
}

proptest! {
    #[test]
    fn nearly_right_arguments_are_read_or_refused((tool, text) in tool().prop_flat_map(|tool| {
        let text = nearly(&tool);
        (Just(tool), text)
    })) {
        check(&tool, &text);
    }

    #[test]
    fn any_json_is_read_or_refused(tool in tool(), value in any_value()) {
        check(&tool, &value.to_string());
    }

    #[test]
    fn any_text_is_read_or_refused(tool in prop_oneof![tool(), ".{0,400}"], text in ".{0,200}") {
        check(&tool, &text);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{{\"file_path\":{}", "[".repeat(100_000));
    check("view", &deep);
    check("multiedit", &format!("{{\"edits\":{}", "[".repeat(100_000)));
}
