//! What makes a schema or an answer unfit though every part of it is well-formed: names that stand twice, references that
//! lead back to where they began, fractions that cannot be divided by exactly, bounds that cannot be told from their
//! neighbours, patterns that need more room than there is.

use std::collections::{HashMap, HashSet};

use hostler_core::config::tree::{Member, Node, Place, Value};

use super::walk::{self, every, member, members_of};

/// The first name that stands twice in one object, and where it does so again. Whoever reads that may take either.
pub(super) fn twice(node: &Node) -> Option<(&str, Place)> {
    match &node.value {
        Value::Object(members) => {
            let mut seen = HashSet::new();
            let mut again = None;
            for member in members {
                again = again.or_else(|| {
                    let new = seen.insert(member.name.as_str());
                    if new { twice(&member.node) } else { Some((member.name.as_str(), member.at)) }
                });
            }
            again
        }
        Value::List(items) => items.iter().find_map(twice),
        Value::Null | Value::Flag(_) | Value::Number(_) | Value::Text(_) => None,
    }
}

/// The first `multipleOf` with a fraction that binary numbers do not have, such as 0.01: whether 0.07 is a multiple of it
/// would be answered wrongly.
pub(super) fn inexact(schema: &Node) -> Option<(&str, Place)> {
    every(schema).into_iter().find_map(|members| {
        let factor = member(members, "multipleOf")?;
        match &factor.value {
            Value::Number(number) if !is_binary(number) => Some((number.as_str(), factor.at)),
            _ => None,
        }
    })
}

/// Bounds of numbers.
const BOUNDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// The largest number up to which every whole number has one of its own among those of 64 bits.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The first bound that is so large that numbers beside it are taken for the same, and the name of the keyword.
pub(super) fn too_far(schema: &Node) -> Option<(&str, &'static str, Place)> {
    every(schema).into_iter().find_map(|members| {
        BOUNDS.into_iter().find_map(|name| {
            let bound = member(members, name)?;
            match &bound.value {
                Value::Number(number) if number.parse::<f64>().is_ok_and(|value| value.abs() > LARGEST) => {
                    Some((number.as_str(), name, bound.at))
                }
                _ => None,
            }
        })
    })
}

/// The first pattern that is short and needs more room than there is, such as `((a{1,1000}){1,1000}){1,1000}`. What is no
/// pattern at all, or one only elsewhere, is for others to judge.
pub(super) fn too_large(schema: &Node) -> Option<(&str, Place)> {
    let is_large = |pattern: &str| matches!(regex::Regex::new(pattern), Err(regex::Error::CompiledTooBig(_)));
    every(schema).into_iter().find_map(|members| {
        let names = member(members, "patternProperties").and_then(members_of).unwrap_or_default();
        let patterns = names.iter().map(|member| (member.name.as_str(), member.at));
        let pattern = member(members, "pattern").and_then(|node| match &node.value {
            Value::Text(pattern) => Some((pattern.as_str(), node.at)),
            _ => None,
        });
        patterns.chain(pattern).find(|(pattern, _)| is_large(pattern))
    })
}

/// Whether a number has at most twenty binary places, so that dividing by it is exact.
fn is_binary(number: &str) -> bool {
    // What is no number at all is found out by others.
    number.parse::<f64>().map_or(true, |number| (number * f64::from(1 << 20)).fract() == 0.0)
}

/// The first reference from which the same value leads back to that reference, so that nothing is ever decided by it.
pub(super) fn circle(schema: &Node) -> Option<(&str, Place)> {
    let objects = every(schema);
    let mut anchors = HashMap::new();
    for members in &objects {
        let is_root = matches!(&schema.value, Value::Object(root) if std::ptr::eq(root.as_slice(), *members));
        if !is_root && member(members, "$id").is_some() {
            // References in there are relative to another name; a circle of them is found when an answer is looked at.
            return None;
        }
        for name in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::Text(anchor)) = member(members, name).map(|node| &node.value) {
                anchors.insert(anchor.as_str(), *members);
            }
        }
    }
    let root = objects.first()?;
    let is_old = member(root, "$schema").is_some_and(|node| match &node.value {
        Value::Text(draft) => draft.contains("/draft-0"),
        _ => false,
    });
    let mut search = Search { root: schema, anchors, is_old, looked_at: HashMap::new() };
    objects.into_iter().find_map(|members| search.from(members))
}

/// Looks for a way that leads back to where it began.
struct Search<'s> {
    root: &'s Node,
    anchors: HashMap<&'s str, &'s [Member]>,
    /// Whether the draft is one in which nothing counts beside a reference.
    is_old: bool,
    /// By address: what was entered, and whether it was left as well.
    looked_at: HashMap<*const Member, bool>,
}

impl<'s> Search<'s> {
    /// The reference that closes a circle behind this schema.
    fn from(&mut self, members: &'s [Member]) -> Option<(&'s str, Place)> {
        if self.looked_at.insert(members.as_ptr(), false).is_some() {
            // Entered and left: nothing was found there. One that is entered and not left is met in `follow` only.
            self.looked_at.insert(members.as_ptr(), true);
            return None;
        }
        let found = self.references(members).or_else(|| self.applied(members));
        self.looked_at.insert(members.as_ptr(), true);
        found
    }

    fn references(&mut self, members: &'s [Member]) -> Option<(&'s str, Place)> {
        walk::REFERENCES.iter().find_map(|name| {
            let node = member(members, name)?;
            let Value::Text(reference) = &node.value else { return None };
            let target = self.resolve(reference)?;
            self.follow(target).map(|found| found.unwrap_or((reference, node.at)))
        })
    }

    /// The schemas of keywords that look at the same value.
    fn applied(&mut self, members: &'s [Member]) -> Option<(&'s str, Place)> {
        if self.is_old && member(members, "$ref").is_some() {
            return None;
        }
        for Member { name, at, node } in members {
            let below: Vec<&'s Node> = match (name.as_str(), &node.value) {
                ("allOf" | "anyOf" | "oneOf", Value::List(items)) => items.iter().collect(),
                ("not" | "if" | "then" | "else", _) => vec![node],
                ("dependentSchemas" | "dependencies", Value::Object(members)) => {
                    members.iter().map(|member| &member.node).collect()
                }
                _ => continue,
            };
            for node in below {
                let Value::Object(members) = &node.value else { continue };
                if let Some(found) = self.follow(members) {
                    return Some(found.unwrap_or((name, *at)));
                }
            }
        }
        None
    }

    /// Goes on to another schema: `Some(None)` if it is on the way that led here.
    fn follow(&mut self, members: &'s [Member]) -> Option<Option<(&'s str, Place)>> {
        match self.looked_at.get(&members.as_ptr()) {
            Some(false) if !members.is_empty() => Some(None),
            Some(_) => None,
            None => self.from(members).map(Some),
        }
    }

    fn resolve(&self, reference: &str) -> Option<&'s [Member]> {
        let fragment = reference.strip_prefix('#')?;
        let Some(pointer) = fragment.strip_prefix('/') else {
            return if fragment.is_empty() {
                members_of(self.root)
            } else {
                self.anchors.get(fragment).copied()
            };
        };
        members_of(walk::pointed_at(self.root, pointer)?)
    }
}
