//! The schemas that a schema is made of, and what a pointer in it points at.

use std::collections::HashSet;

use hostler_core::config::tree::{Member, Node, Value};

/// Keywords whose value is a schema, in any draft; that of `items` may be a list of them as well.
const ONE: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
const LISTED: &[&str] = &["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value has schemas under names of its own.
const NAMED: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Keywords whose value says where another schema is.
pub(super) const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Every object that is a schema, the outermost first: by its place below a keyword that has schemas, or because something
/// refers to it by its place. What other keywords have are values, and not judged.
pub(super) fn every(root: &Node) -> Vec<&[Member]> {
    let (mut found, mut seen, mut waiting) = (Vec::new(), HashSet::new(), vec![root]);
    while let Some(node) = waiting.pop() {
        let Value::Object(members) = &node.value else { continue };
        if seen.insert(std::ptr::from_ref(node)) {
            found.push(members.as_slice());
            let below: Vec<_> = members.iter().flat_map(|member| below(root, member)).collect();
            waiting.extend(below.into_iter().rev());
        }
    }
    found
}

/// What may be a schema of what a keyword has.
fn below<'n>(root: &'n Node, Member { name, node, .. }: &'n Member) -> Vec<&'n Node> {
    let name = name.as_str();
    match &node.value {
        Value::Object(members) if NAMED.contains(&name) => {
            members.iter().map(|member| &member.node).collect()
        }
        Value::List(items) if LISTED.contains(&name) => items.iter().collect(),
        Value::Object(_) if ONE.contains(&name) => vec![node],
        Value::Text(reference) if REFERENCES.contains(&name) => {
            reference.strip_prefix("#/").and_then(|pointer| pointed_at(root, pointer)).into_iter().collect()
        }
        Value::Object(_)
        | Value::List(_)
        | Value::Text(_)
        | Value::Null
        | Value::Flag(_)
        | Value::Number(_) => Vec::new(),
    }
}

/// What is at that place, given as in a reference and without the first slash.
pub(super) fn pointed_at<'n>(root: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').try_fold(root, |node, token| {
        let token = unescaped(token).replace("~1", "/").replace("~0", "~");
        match &node.value {
            Value::Object(members) => member(members, &token),
            Value::List(items) => items.get(token.parse::<usize>().ok()?),
            Value::Null | Value::Flag(_) | Value::Number(_) | Value::Text(_) => None,
        }
    })
}

pub(super) fn member<'n>(members: &'n [Member], name: &str) -> Option<&'n Node> {
    members.iter().find(|member| member.name == name).map(|member| &member.node)
}

pub(super) fn members_of(node: &Node) -> Option<&[Member]> {
    match &node.value {
        Value::Object(members) => Some(members),
        Value::Null | Value::Flag(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => None,
    }
}

/// A part of a reference without its percent signs.
fn unescaped(token: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = token.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        // A sign before the digits would be read as a number too.
        let digits =
            after.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
