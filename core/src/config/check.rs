//! Whether a file says only what a configuration can say; every mistake with its place and what is likely meant.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::keys::{Key, Kind, Names, ROOT};
use super::nearest::{meant, nearest};
use super::path::Path;
use super::quantity::{dollars, duration};
use super::tree::{Member, Node, Place, Value};
use crate::quote::{beginning, quoted};

/// Something in a configuration that cannot be meant so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it stands.
    pub at: Place,
    /// What it is and what to do, in a sentence.
    pub message: String,
}

impl Mistake {
    /// A mistake at that place.
    pub fn new(at: Place, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// How many mistakes are told; who makes more begins with these.
const MOST: usize = 20;

/// How many characters a name may have, and how many of what was written are quoted.
const NAME_CHARS: usize = 400;

/// Headers that belong to the request itself.
const OWN_HEADERS: &[&str] =
    &["host", "content-length", "content-type", "transfer-encoding", "connection", "accept"];

/// Fields of a body that are the conversation, or how it is answered; they are never replaced.
const OWN_FIELDS: &[&str] = &["messages", "input", "contents", "stream", "model", "tools"];

/// All mistakes in a file, in the order in which they stand there. `rule` says what is wrong with a permission rule.
pub fn check(root: &Node, rule: &dyn Fn(&str) -> Result<(), String>) -> Vec<Mistake> {
    let mut checker = Checker { rule, mistakes: Vec::new() };
    checker.object(&Path::default(), ROOT, root);
    checker.mistakes.sort_by_key(|mistake| mistake.at);
    checker.mistakes
}

/// All mistakes in a value for that path.
pub fn check_value(
    path: &Path,
    kind: &'static Kind,
    node: &Node,
    rule: &dyn Fn(&str) -> Result<(), String>,
) -> Vec<Mistake> {
    let mut checker = Checker { rule, mistakes: Vec::new() };
    checker.value(path, kind, node);
    checker.mistakes
}

/// The key that somebody means who writes its path. Names with dots in them, such as those of many models, need no quotes: of
/// the ways to read them that are paths of keys, the one with the shortest such name is taken.
pub fn key_at(text: &str) -> Result<(Path, &'static Kind), String> {
    let path = Path::parse(text)?;
    let why = match check_path(&path) {
        Ok(kind) => return Ok((path, kind)),
        Err(why) => why,
    };
    let count = path.0.len();
    let spans = (0..count).flat_map(|from| (from + 2..=count).map(move |to| (from, to)));
    let joined = spans.map(|(from, to)| path.joined(from, to));
    let fitting = joined.filter_map(|path| check_path(&path).ok().map(|kind| (path, kind)));
    fitting.max_by_key(|(path, _)| path.0.len()).ok_or(why)
}

/// What is wrong with the names on a path to a key: there is no such key, or no such name.
pub fn check_path(path: &Path) -> Result<&'static Kind, String> {
    static WHOLE: Kind = Kind::Object(ROOT);
    let (mut kind, mut so_far) = (&WHOLE, Path::default());
    for name in &path.0 {
        kind = match kind {
            Kind::Object(keys) => match keys.iter().find(|key| key.name == name) {
                Some(key) => &key.kind,
                None => return Err(unknown(&so_far, keys, name)),
            },
            Kind::Map(names, of) => {
                bad_name(*names, name).map_or(Ok(()), Err)?;
                *of
            }
            _ => return Err(format!("{so_far} has no keys of its own; leave out .{name}")),
        };
        so_far = so_far.join(name);
    }
    Ok(kind)
}

struct Checker<'a> {
    rule: &'a dyn Fn(&str) -> Result<(), String>,
    mistakes: Vec<Mistake>,
}

impl Checker<'_> {
    fn say(&mut self, at: Place, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(at, message));
    }

    /// Whether enough is wrong to stop looking.
    fn is_full(&self) -> bool {
        self.mistakes.len() >= MOST
    }

    fn object(&mut self, path: &Path, keys: &'static [Key], node: &Node) {
        let Some(members) = self.members(path, node) else { return };
        for member in members {
            if self.is_full() {
                return;
            }
            match keys.iter().find(|key| key.name == member.name) {
                Some(key) => self.value(&path.join(key.name), &key.kind, &member.node),
                None => self.say(member.at, unknown(path, keys, &member.name)),
            }
        }
        if keys.iter().any(|key| key.name == "key_command") {
            self.one_key(path, members);
        }
    }

    fn map(&mut self, path: &Path, names: Names, kind: &'static Kind, node: &Node) {
        let Some(members) = self.members(path, node) else { return };
        for member in members {
            if self.is_full() {
                return;
            }
            match bad_name(names, &member.name) {
                Some(message) => self.say(member.at, message),
                None => self.value(&path.join(&member.name), kind, &member.node),
            }
        }
    }

    /// The members of an object, none of them written twice.
    fn members<'n>(&mut self, path: &Path, node: &'n Node) -> Option<&'n [Member]> {
        let Value::Object(members) = &node.value else {
            let what = if path.0.is_empty() { "A configuration".to_string() } else { path.to_string() };
            self.say(node.at, format!("{what} must be an object in braces, not {}", node.value.kind()));
            return None;
        };
        let mut seen = BTreeSet::new();
        for member in members {
            if !seen.insert(&member.name) && !self.is_full() {
                let whole = path.join(&short(&member.name));
                self.say(member.at, format!("{whole} is written twice; leave one of them"));
            }
        }
        Some(members)
    }

    fn one_key(&mut self, path: &Path, members: &[Member]) {
        let mut keys = members.iter().filter(|member| member.name.starts_with("key"));
        if let (Some(first), Some(second)) = (keys.next(), keys.next()) {
            let (first, second) = (&first.name, second);
            self.say(second.at, format!("{path} has both {first} and {}; leave one of them", second.name));
        }
    }

    fn value(&mut self, path: &Path, kind: &'static Kind, node: &Node) {
        match (kind, &node.value) {
            (Kind::Object(keys), _) => self.object(path, keys, node),
            (Kind::Map(names, kind), _) => self.map(path, *names, kind, node),
            (Kind::Json, _) | (Kind::Flag, Value::Flag(_)) => {}
            (Kind::Texts | Kind::Rules, Value::List(items)) => {
                for item in items {
                    self.item(path, matches!(kind, Kind::Rules), item);
                }
            }
            (
                Kind::Text | Kind::Model | Kind::Secret | Kind::Url | Kind::Choice(_) | Kind::Duration,
                Value::Text(text),
            ) => {
                if let Some(wrong) = wrong_text(kind, text) {
                    self.say(node.at, format!("{path} {wrong}"));
                }
            }
            (Kind::Count(least, most), Value::Number(number)) => {
                let fits = number.parse::<u64>().is_ok_and(|number| (*least..=*most).contains(&number));
                if !fits {
                    self.say(node.at, format!("{path} must be a whole number from {least} to {most}"));
                }
            }
            (Kind::Dollars, Value::Number(number)) => {
                if dollars(number).is_none() {
                    self.say(
                        node.at,
                        format!("{path} must be dollars with at most six decimals, such as 1.25"),
                    );
                }
            }
            (kind, value) => {
                self.say(node.at, format!("{path} must be {}, not {}", wanted(kind), value.kind()));
            }
        }
    }

    fn item(&mut self, path: &Path, is_rule: bool, item: &Node) {
        if self.is_full() {
            return;
        }
        let Value::Text(text) = &item.value else {
            return self
                .say(item.at, format!("{path} must be a list of texts, and this is {}", item.value.kind()));
        };
        if text.trim().is_empty() {
            self.say(item.at, format!("{path} has an empty text in it; leave that out"));
        } else if is_rule && let Err(why) = (self.rule)(text) {
            self.say(item.at, format!("{path}: {}", short(&why)));
        }
    }
}

fn wanted(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Model | Kind::Secret | Kind::Url | Kind::Choice(_) => "a text in quotes",
        Kind::Flag => "true or false",
        Kind::Count(..) => "a whole number",
        Kind::Dollars => "a number of dollars, such as 1.25",
        Kind::Duration => "a duration in quotes, such as \"90s\"",
        Kind::Texts | Kind::Rules => "a list of texts",
        Kind::Json => "any value",
        Kind::Object(_) | Kind::Map(..) => "an object",
    }
}

fn wrong_text(kind: &Kind, text: &str) -> Option<String> {
    let printable = !text.chars().any(char::is_control);
    match kind {
        Kind::Choice(names) if !names.contains(&text) => Some(match nearest(text, names.iter().copied()) {
            Some(meant) => format!("cannot be {:?}; did you mean {meant:?}?", short(text)),
            None => format!("cannot be {:?}; it is one of {}", short(text), names.join(", ")),
        }),
        Kind::Url if !is_url(text) => {
            Some("must be the URL of a server, such as https://example.com/v1".into())
        }
        Kind::Duration if duration(text).is_none() => {
            Some("must be a duration above zero with a unit, such as \"90s\", \"10m\" or \"1h\"".into())
        }
        Kind::Text | Kind::Model | Kind::Secret if text.trim().is_empty() => {
            Some("must not be empty; leave it out".into())
        }
        _ if !printable => Some("has a control character in it; leave that out".into()),
        Kind::Model if !is_model(text) => {
            Some(format!("cannot be {}; write PROVIDER/NAME, such as openai/gpt-5", quoted(text)))
        }
        _ => None,
    }
}

/// Whether a text says of which provider which model, or is that of a model inside the program.
fn is_model(text: &str) -> bool {
    let whole =
        text.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty());
    whole || text == "rehearsal" || text.starts_with("rehearsal:")
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && !rest.contains(|char: char| char.is_whitespace() || "?#@".contains(char))
    })
}

/// How long the name of a header may be. None that is in use comes near.
const HEADER_BYTES: usize = 64;

/// How much of what cannot be the name of a header is shown.
const HEADER_SHOWN: usize = 8;

/// What is wrong with a name in a map.
fn bad_name(names: Names, name: &str) -> Option<String> {
    if name.chars().count() > NAME_CHARS {
        return Some(format!("a name has more than {NAME_CHARS} characters; give it a shorter one"));
    }
    let only = |others: &str| {
        !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || others.contains(char))
    };
    match names {
        Names::Provider if name == "rehearsal" => {
            Some("rehearsal is the model inside the program; give the provider another name".into())
        }
        Names::Provider if !only("-_") => {
            Some(format!("{} cannot be a provider's name; use letters, digits, - and _", quoted(name)))
        }
        Names::Model => (!is_model(name)).then(|| {
            format!("{} does not name a model; write PROVIDER/NAME, such as openai/gpt-5", quoted(name))
        }),
        // What somebody takes for a name may be the header itself, with a secret in it.
        Names::Header if name.len() > HEADER_BYTES => Some(format!(
            "the name of a header has more than {HEADER_BYTES} characters; write its name before the colon and the rest after it"
        )),
        Names::Header if !only("!#$%&'*+-.^_`|~") => {
            Some(format!("{} cannot be the name of a header", beginning(name, HEADER_SHOWN)))
        }
        Names::Header if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) => {
            Some(format!("the header {name} is hostler's own to set; leave it out"))
        }
        Names::Field if OWN_FIELDS.contains(&name) => {
            Some(format!("the field {name} is hostler's own to set; leave it out"))
        }
        Names::Provider | Names::Header | Names::Field => None,
    }
}

fn unknown(path: &Path, keys: &[Key], name: &str) -> String {
    let names = || keys.iter().map(|key| key.name);
    let whole = path.join(&short(name));
    match meant(name, names()) {
        Some(meant) => format!("There is no key {whole}; did you mean {meant}?"),
        None => {
            let names: Vec<_> = names().filter(|name| !name.starts_with('$')).collect();
            format!("There is no key {whole}; there are {}", names.join(", "))
        }
    }
}

/// What was written, or its beginning.
fn short(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
