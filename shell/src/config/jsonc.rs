//! JSON with comments and trailing commas, read with the place of every value, and changed with everything else kept.

use hostler_core::config::Mistake;
use hostler_core::config::tree::{Member, Node, Place, Value};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Comments and commas at the end are all that goes beyond JSON.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a file. An empty one is an empty object.
pub(crate) fn parse(text: &str) -> Result<Node, Mistake> {
    let lines = Lines::of(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(mistake)?;
    Ok(parsed.value.map_or_else(|| Node::object(Vec::new()), |value| lines.node(&value)))
}

fn mistake(error: ParseError) -> Mistake {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let at = Place { line: narrow(error.line_display()), column: narrow(error.column_display()) };
    let open = |what: &str, close: &str| {
        let Place { line, column } = at;
        format!(
            "This is not JSON (the {what} that begins at {line}:{column} is not closed); close it with {close}"
        )
    };
    let message = match error.kind() {
        ParseErrorKind::UnterminatedObject => open("object", "}"),
        ParseErrorKind::UnterminatedArray => open("list", "]"),
        kind => format!("This is not JSON ({kind}); mend it here"),
    };
    Mistake::new(at, message)
}

/// Where the lines of a text begin.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = self.text.get(self.starts[line]..offset).unwrap_or_default();
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Place { line: narrow(line + 1), column: narrow(before.chars().count() + 1) }
    }

    fn node(&self, value: &ast::Value<'_>) -> Node {
        let read = match value {
            ast::Value::StringLit(text) => Value::Text(text.value.clone().into_owned()),
            ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
            ast::Value::BooleanLit(flag) => Value::Flag(flag.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(items) => {
                Value::List(items.elements.iter().map(|item| self.node(item)).collect())
            }
            ast::Value::Object(object) => {
                let member = |member: &ast::ObjectProp<'_>| Member {
                    name: member.name.as_str().to_owned(),
                    at: self.place(member.range.start),
                    node: self.node(&member.value),
                };
                Value::Object(object.properties.iter().map(member).collect())
            }
        };
        Node { at: self.place(value.range().start), value: read }
    }
}

/// The text with that value at the end of that path of names, and everything else as it was. `value` is JSON text.
pub(super) fn set(text: &str, names: &[&str], value: &Value) -> Result<String, Mistake> {
    let text = if text.trim().is_empty() { "{\n}\n" } else { text };
    let root = CstRootNode::parse(text, &options()).map_err(mistake)?;
    let Some((last, way)) = names.split_last() else { return Ok(text.to_owned()) };
    let Some(mut object) = root.object_value_or_create() else {
        return Err(Mistake::new(
            Place { line: 1, column: 1 },
            "A configuration must be an object in braces",
        ));
    };
    for name in way {
        object = below(&object, name);
    }
    match object.get(last) {
        Some(member) => member.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// The text without the value at the end of that path of names, and everything else as it was; none if there is no such value.
pub(super) fn unset(text: &str, names: &[&str]) -> Result<Option<String>, Mistake> {
    let root = CstRootNode::parse(text, &options()).map_err(mistake)?;
    let Some((last, way)) = names.split_last() else { return Ok(None) };
    let mut object = root.object_value();
    for name in way {
        object = object.and_then(|object| object.object_value(name));
    }
    let Some(member) = object.and_then(|object| object.get(last)) else { return Ok(None) };
    member.remove();
    Ok(Some(root.to_string()))
}

/// The object of that name in another, made if it is missing or something else.
fn below(object: &CstObject, name: &str) -> CstObject {
    let below = object.object_value_or_set(name);
    below.ensure_multiline();
    below
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Flag(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.clone()),
        Value::Text(text) => CstInputValue::String(text.clone()),
        Value::List(items) => CstInputValue::Array(items.iter().map(|item| input(&item.value)).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|member| (member.name.clone(), input(&member.node.value))).collect(),
        ),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_where_it_stands() {
        let text = "// mine\n{\n  \"ä\": [1, true], /* x */ \"b\": {\"c\": null,},\n}\n";
        let root = parse(text).unwrap();
        let Value::Object(members) = &root.value else { panic!("{root:?}") };
        let at = |line, column| Place { line, column };
        assert_eq!((root.at, members[0].at, members[1].at), (at(2, 1), at(3, 3), at(3, 27)));
        let Value::List(items) = &members[0].node.value else { panic!() };
        assert_eq!((items[0].at, items[1].at), (at(3, 9), at(3, 12)));
        assert_eq!(root.value.json(), r#"{"ä":[1,true],"b":{"c":null}}"#);
    }

    #[test]
    fn what_is_not_json_is_pointed_at() {
        for (text, line, column) in [
            ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9),
            ("{\"a\": 'b'}", 1, 7),
            ("{a: 1}", 1, 2),
            ("{\"a\": }", 1, 7),
            ("{\"a\": 0x10}", 1, 7),
            ("{\"a\": 1", 1, 1),
            ("{} {}", 1, 4),
        ] {
            let mistake = parse(text).unwrap_err();
            assert_eq!((mistake.at.line, mistake.at.column), (line, column), "{text}: {}", mistake.message);
            assert!(mistake.message.starts_with("This is not JSON ("), "{}", mistake.message);
        }
        let open = parse("{\n  \"a\": [1,\n").unwrap_err().message;
        assert_eq!(open, "This is not JSON (the list that begins at 2:8 is not closed); close it with ]");
        assert_eq!(parse("").unwrap().value.json(), "{}");
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn a_change_keeps_comments_and_layout() {
        let text = "{\n  // the one I like\n  \"model\": \"a/b\", // really\n\n  \"limits\": { \"max_steps\": 3 },\n}\n";
        let changed = set(text, &["model"], &Value::Text("c/d".into())).unwrap();
        assert_eq!(changed, text.replace("a/b", "c/d"));
        let more = set(&changed, &["providers", "x", "base_url"], &Value::Text("http://a".into())).unwrap();
        assert!(more.starts_with(changed.trim_end_matches("}\n").trim_end()), "{more}");
        let again = parse(&more).unwrap().value.json();
        assert_eq!(
            again,
            r#"{"model":"c/d","limits":{"max_steps":3},"providers":{"x":{"base_url":"http://a"}}}"#
        );
        let fresh = set("", &["limits", "max_steps"], &Value::Number("3".into())).unwrap();
        assert_eq!(fresh, "{\n  \"limits\": {\n    \"max_steps\": 3\n  }\n}\n");
        assert!(set("[]", &["a"], &Value::Null).is_err());
    }

    #[test]
    fn what_is_unset_takes_nothing_else_with_it() {
        let text = "{\n  // the one I like\n  \"model\": \"a/b\",\n  \"limits\": { \"max_steps\": 3, \"max_wait\": \"1m\" }, // mine\n}\n";
        let gone = unset(text, &["limits", "max_steps"]).unwrap().unwrap();
        assert_eq!(gone, text.replace("\"max_steps\": 3, ", ""));
        let all = unset(&gone, &["limits"]).unwrap().unwrap();
        assert!(all.contains("// the one I like") && !all.contains("limits"), "{all}");
        for names in [&["max_steps"][..], &["limits", "timeout"], &["model", "x"], &["a", "b"], &[]] {
            assert_eq!(unset(text, names), Ok(None), "{names:?}");
        }
        assert_eq!((unset("", &["a"]), unset("[]", &["a"])), (Ok(None), Ok(None)));
        assert!(unset("{", &["a"]).is_err());
    }
}
