//! What holds when several places speak of the same thing, and who said it.
//!
//! Stronger layers come later. A value replaces what weaker layers said, except that permission rules add up: no file can
//! take another's rule away. What a project's own file says before its directory is trusted counts only where it can
//! do no harm.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::keys::{Kind, Names, Trust, find};
use super::path::Path;
use super::quantity::{dollars, duration};
use super::tree::{Node, Place, Value};

/// Who says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program itself.
    Default,
    /// The user's own file.
    User(String),
    /// The project's file.
    Project(String),
    /// An environment variable.
    Variable(String),
}

/// What one place says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Who.
    pub source: Source,
    /// What: an object that was checked.
    pub root: Node,
    /// Whether all of it counts.
    pub trusted: bool,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who said it.
    pub source: Source,
    /// Where in it.
    pub at: Place,
    /// How strong that is: the number of its layer.
    pub strength: usize,
}

/// A value that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub value: Value,
    /// Where it comes from; several places for rules, which add up.
    pub origins: Vec<Origin>,
}

/// What holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// By key.
    pub values: BTreeMap<Path, Setting>,
    /// What a project said that does not count because its directory is not trusted.
    pub ignored: Vec<Path>,
}

/// Puts layers together, the weakest first.
pub fn merge(layers: &[Layer]) -> Settings {
    let mut settings = Settings::default();
    for (strength, layer) in layers.iter().enumerate() {
        let mut leaves = Vec::new();
        gather(&Path::default(), &Kind::Object(super::keys::ROOT), &layer.root, &mut leaves);
        for (path, node) in leaves {
            let origin = Origin { source: layer.source.clone(), at: node.at, strength };
            settings.add(path, &node.value, origin, layer.trusted);
        }
    }
    settings
}

impl Settings {
    fn add(&mut self, path: Path, value: &Value, origin: Origin, trusted: bool) {
        let Some((kind, trust)) = find(&path) else { return };
        let counts = trusted
            || match trust {
                Trust::Free => true,
                Trust::Less => self.values.get(&path).is_none_or(|held| is_less(kind, value, &held.value)),
                Trust::Needed => false,
            };
        if !counts {
            self.ignored.push(path);
            return;
        }
        match (kind, self.values.get_mut(&path), value) {
            (Kind::Rules, Some(Setting { value: Value::List(held), origins }), Value::List(more)) => {
                held.extend(more.iter().cloned());
                origins.push(origin);
            }
            _ => drop(self.values.insert(path, Setting { value: value.clone(), origins: [origin].into() })),
        }
    }

    /// The value of a key.
    pub fn get(&self, names: &[&str]) -> Option<&Setting> {
        self.values.get(&Path(names.iter().map(|name| (*name).into()).collect()))
    }
}

/// The leaves of an object: what the table of keys takes for one value, and providers of which nothing is said.
fn gather<'n>(path: &Path, kind: &Kind, node: &'n Node, leaves: &mut Vec<(Path, &'n Node)>) {
    match (kind, &node.value) {
        (Kind::Object(keys), Value::Object(members)) => {
            for member in members {
                if let Some(key) = keys.iter().find(|key| key.name == member.name) {
                    gather(&path.join(key.name), &key.kind, &member.node, leaves);
                }
            }
        }
        (Kind::Map(names, kind), Value::Object(members)) => {
            for member in members {
                let (path, before) = (path.join(&member.name), leaves.len());
                gather(&path, kind, &member.node, leaves);
                // A provider of which nothing is said was still named, and may need more than that.
                if *names == Names::Provider && leaves.len() == before {
                    leaves.push((path, &member.node));
                }
            }
        }
        _ => leaves.push((path.clone(), node)),
    }
}

fn is_less(kind: &Kind, value: &Value, held: &Value) -> bool {
    match (amount(kind, value), amount(kind, held)) {
        (Some(value), Some(held)) => value <= held,
        _ => false,
    }
}

fn amount(kind: &Kind, value: &Value) -> Option<u64> {
    match (kind, value) {
        (Kind::Count(..), Value::Number(number)) => number.parse().ok(),
        (Kind::Dollars, Value::Number(number)) => dollars(number),
        (Kind::Duration, Value::Text(text)) => duration(text),
        _ => None,
    }
}
