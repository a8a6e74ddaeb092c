//! A configuration file as it is written: values with their places, so that a mistake can be pointed at.

use alloc::string::String;
use alloc::vec::Vec;

/// Where something stands in a file. Line 0 is nowhere: what was said in a variable or on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where.
    pub at: Place,
    /// What.
    pub value: Value,
}

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, as written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object, its members in the order in which they are written.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub at: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// A text that stands nowhere.
    pub fn text(text: impl Into<String>) -> Self {
        Self { at: Place::default(), value: Value::Text(text.into()) }
    }

    /// An object that stands nowhere.
    pub fn object(members: Vec<(String, Node)>) -> Self {
        let member = |(name, node)| Member { name, at: Place::default(), node };
        Self { at: Place::default(), value: Value::Object(members.into_iter().map(member).collect()) }
    }

    /// This value at the end of that path of names.
    pub fn below(self, names: &[&str]) -> Self {
        names.iter().rev().fold(self, |node, name| Self::object([((*name).into(), node)].into()))
    }
}

impl Value {
    /// What kind of value it is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Flag(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }

    /// The value as JSON text.
    pub fn json(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Value::Null => text.push_str("null"),
            Value::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => text.push_str(number),
            Value::Text(said) => text.push_str(&quoted(said)),
            Value::List(items) => {
                separated(text, ['[', ']'], items, |text, item| item.value.write(text));
            }
            Value::Object(members) => separated(text, ['{', '}'], members, |text, member| {
                text.push_str(&quoted(&member.name));
                text.push(':');
                member.node.value.write(text);
            }),
        }
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    // Writing a text as JSON cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

fn separated<T>(text: &mut String, ends: [char; 2], items: &[T], write: impl Fn(&mut String, &T)) {
    text.push(ends[0]);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        write(text, item);
    }
    text.push(ends[1]);
}
