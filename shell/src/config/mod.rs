//! Finds, reads and changes configuration. What files may say, what is wrong in them and what holds in the end is decided
//! in the core.

pub mod files;
pub(crate) mod jsonc;
mod place;
pub mod trust;

use std::path::{Path, PathBuf};

use hostler_core::config::check::{check, check_value, key_at};
use hostler_core::config::merge::{Layer, Settings, Source, merge};
use hostler_core::config::tree::{Node, Value};
use hostler_core::config::typed::{defaults, environment};
use hostler_core::config::{self, Config, Mistake};
use hostler_core::tools::{Rule, Subject, line};

pub use place::{Places, has_project_file, repository_root};
use trust::Trusted;

/// How many bytes a configuration file may have.
const FILE_BYTES: u64 = 1 << 20;

/// A configuration that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the program works with.
    pub config: Config,
    /// Its rules about tool calls.
    pub rules: Vec<Rule>,
    /// What holds, and who said it.
    pub settings: Settings,
    /// What there is to warn about.
    pub warnings: Vec<String>,
}

/// Why a configuration cannot be used: a sentence for each mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable(pub Vec<String>);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Unusable {}

/// Reads all that is configured for a directory. `variable` looks up environment variables.
pub fn load(places: &Places, variable: impl Fn(&str) -> Option<String>) -> Result<Loaded, Unusable> {
    let mut wrong = Vec::new();
    let mut layers = vec![defaults()];
    let mut warnings = Vec::new();
    let user = places.user_file().and_then(|file| file.map_or(Ok(None), |file| read(&file, Source::User)));
    let project = places.project().and_then(|found| match found {
        Some((directory, file)) => Ok(read(&file, Source::Project)?.map(|layer| (directory, layer))),
        None => Ok(None),
    });
    match user {
        Ok(layer) => layers.extend(layer),
        Err(mistakes) => wrong.extend(mistakes),
    }
    let mut untrusted = None;
    match project {
        Ok(Some((directory, layer))) => match Trusted::in_state(&places.state).has(&directory) {
            Ok(trusted) => {
                untrusted = (!trusted).then_some(directory);
                layers.push(Layer { trusted, ..layer });
            }
            Err(error) => {
                let file = Trusted::in_state(&places.state).file();
                wrong.push(format!(
                    "The list of trusted directories {} cannot be read ({error}); mend it or move it away.",
                    file.display()
                ));
            }
        },
        Ok(None) => {}
        Err(mistakes) => wrong.extend(mistakes),
    }
    for layer in environment(variable) {
        // One variable may speak of two providers.
        if let Some(sentence) = wrong_in_variable(&layer).filter(|sentence| !wrong.contains(sentence)) {
            wrong.push(sentence);
        }
        layers.push(layer);
    }
    if !wrong.is_empty() {
        return Err(Unusable(wrong));
    }
    let settings = merge(&layers);
    let config =
        Config::from(&settings).map_err(|mistakes| Unusable(mistakes.iter().map(in_source).collect()))?;
    if let Some(directory) = untrusted.filter(|_| !settings.ignored.is_empty()) {
        warnings.push(not_trusted(&directory, &settings));
    }
    Ok(Loaded { rules: config.permissions.rules(home().as_deref()), config, settings, warnings })
}

/// The path of the key that somebody means.
pub fn key(text: &str) -> Result<config::Path, Unusable> {
    key_at(text).map(|(path, _)| path).map_err(|why| one(sentence(&why)))
}

/// Whether nothing that the project's file says of that key counts, or of what is below it, until the project is trusted.
pub fn waits_for_trust(settings: &Settings, key: &str) -> bool {
    let Ok((path, _)) = key_at(key) else { return false };
    settings.ignored.iter().any(|ignored| ignored.0.starts_with(&path.0))
}

/// What a project said that does not count.
fn not_trusted(directory: &Path, settings: &Settings) -> String {
    let keys: Vec<_> = settings.ignored.iter().map(config::Path::to_string).collect();
    let shown = keys.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = keys.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "The configuration of this project is not trusted, so what it says of {shown}{more} does not count; look at {} and, if \
         you trust it, run: hostler trust {}",
        directory.join(place::PROJECT).display(),
        quoted(directory),
    )
}

/// A directory as a shell would be told of it.
fn quoted(directory: &Path) -> String {
    line(&[directory.display().to_string()])
}

fn read(file: &Path, source: fn(String) -> Source) -> Result<Option<Layer>, Vec<String>> {
    let name = file.display().to_string();
    let text = files::read(file, FILE_BYTES)
        .map_err(|error| vec![format!("{name} cannot be read ({error}); mend it or move it away.")])?;
    let Some(text) = text else { return Ok(None) };
    tracing::info!(file = name, bytes = text.len(), "a configuration file is read");
    let source = source(name);
    let root = jsonc::parse(&text).map_err(|mistake| vec![in_source(&(source.clone(), mistake))])?;
    let mistakes = check(&root, &rule);
    if mistakes.is_empty() {
        return Ok(Some(Layer { source, root, trusted: true }));
    }
    Err(mistakes.into_iter().map(|mistake| in_source(&(source.clone(), mistake))).collect())
}

/// What is wrong with a permission rule.
fn rule(text: &str) -> Result<(), String> {
    Subject::parse(text, home().as_deref()).map(drop).map_err(|error| error.to_string())
}

/// Where `~/` begins.
fn home() -> Option<String> {
    std::env::var("HOME").ok()
}

/// A mistake with file, line and column.
fn in_source((source, Mistake { at, message }): &(Source, Mistake)) -> String {
    let by = config::show::said_by(source);
    let sentence = sentence(message);
    if at.line == 0 {
        format!("{by}: {sentence}")
    } else {
        format!("{by}:{}:{}: {sentence}", at.line, at.column)
    }
}

fn sentence(message: &str) -> String {
    if message.ends_with(['.', '?']) { message.to_owned() } else { format!("{message}.") }
}

/// An address in a variable must be one; what a key is, is seen when it is used.
fn wrong_in_variable(layer: &Layer) -> Option<String> {
    let Source::Variable(name) = &layer.source else { return None };
    let wrong = name.ends_with("_URL") && !check(&layer.root, &rule).is_empty();
    wrong.then(|| format!("{name} must be the URL of a server, such as https://example.com/v1."))
}

/// Sets a key in a file, which is made if it is missing; everything else in it stays as it is. `value` is JSON, or a text
/// as it is. A change with which the file could not be used, together with what lies `beneath` it, is not made, unless
/// less is wrong in it then.
pub fn set(file: &Path, key: &str, value: &str, beneath: &[Layer]) -> Result<(), Unusable> {
    let (path, kind) = key_at(key).map_err(|why| one(sentence(&why)))?;
    let node = meant(kind, value);
    if let Some(Mistake { message, .. }) = check_value(&path, kind, &node, &rule).first() {
        return Err(one(sentence(&format!("{message}{}", as_list(kind, &node)))));
    }
    change(file, beneath, |text| jsonc::set(text, &path.names(), &node.value).map(Some)).map(drop)
}

/// How a list is written, behind what is wrong with one text in the place of a list.
fn as_list(kind: &config::keys::Kind, node: &Node) -> String {
    use config::keys::Kind;
    let Value::Text(text) = &node.value else { return String::new() };
    if !matches!(kind, Kind::Texts | Kind::Rules) {
        return String::new();
    }
    let list = Value::List(vec![Node::text(text.chars().take(LIST_CHARS).collect::<String>())]).json();
    format!("; write {}", line(&[list]))
}

/// How much of a text is shown as a list.
const LIST_CHARS: usize = 200;

/// Takes a key out of a file; everything else in it stays as it is. Says whether the file had it. What is no key can be
/// taken out as well if it stands there. A change with which the file could not be used, together with what lies `beneath`
/// it, is not made, unless less is wrong in it then.
pub fn unset(file: &Path, key: &str, beneath: &[Layer]) -> Result<bool, Unusable> {
    let found = key_at(key).map_err(|why| one(sentence(&why)));
    let path = match &found {
        Ok((path, _)) => path.clone(),
        Err(why) => config::Path::parse(key).map_err(|_| why.clone())?,
    };
    // What cannot be looked for is said by whoever reads it.
    let is_missing = matches!(file.try_exists(), Ok(false));
    if !is_missing && take_out(file, &path, beneath)? {
        return Ok(true);
    }
    // Nothing of that name stands there: is it a key at all?
    found.map(|_| false)
}

fn take_out(file: &Path, path: &config::Path, beneath: &[Layer]) -> Result<bool, Unusable> {
    change(file, beneath, |text| without(text, &path.names()))
}

/// The text without the value at the end of that path of names; none if there is no such value. A provider goes with the last
/// that is said of it, since one of which nothing is said may be refused.
fn without(text: &str, names: &[&str]) -> Result<Option<String>, Mistake> {
    let Some(left) = jsonc::unset(text, names)? else { return Ok(None) };
    match names {
        [first @ "providers", provider, _, ..] if is_empty(&left, &[first, provider])? => {
            jsonc::unset(&left, &[first, provider])
        }
        _ => Ok(Some(left)),
    }
}

/// Whether there is an empty object at the end of that path of names.
fn is_empty(text: &str, names: &[&str]) -> Result<bool, Mistake> {
    let mut node = Some(jsonc::parse(text)?);
    for name in names {
        node = match node.map(|node| node.value) {
            Some(Value::Object(members)) => {
                members.into_iter().find(|member| member.name == *name).map(|member| member.node)
            }
            _ => None,
        };
    }
    Ok(node.is_some_and(|node| matches!(node.value, Value::Object(members) if members.is_empty())))
}

fn one(message: String) -> Unusable {
    Unusable(vec![message])
}

/// Changes a file, if there is something to change, and says whether there was.
fn change(
    file: &Path,
    beneath: &[Layer],
    edit: impl FnOnce(&str) -> Result<Option<String>, Mistake>,
) -> Result<bool, Unusable> {
    let name = file.display();
    let unwritten = |error: std::io::Error| {
        one(format!("{name} cannot be written ({error}); see whether its directory can be."))
    };
    let _alone = lock(file).map_err(unwritten)?;
    let text = files::read(file, FILE_BYTES)
        .map_err(|error| one(format!("{name} cannot be read ({error}); mend it or move it away.")))?;
    let source = Source::User(name.to_string());
    let of_file = |mistake: Mistake| one(in_source(&(source.clone(), mistake)));
    let text = text.unwrap_or_default();
    let Some(changed) = edit(&text).map_err(of_file)? else { return Ok(false) };
    let wrong = mistakes(&source, &changed, beneath);
    if !wrong.told.is_empty() {
        // Whoever looks at the file sees it as it is, with the places that are in it.
        let before = mistakes(&source, &text, beneath);
        if wrong.weight() >= before.weight() {
            return Err(Unusable(if before.told.is_empty() { wrong.told } else { before.told }));
        }
    }
    files::replace(file, &changed).map_err(unwritten)?;
    Ok(true)
}

/// What is wrong with a file.
struct Wrong {
    /// How far from being usable that is: it is no JSON, keys and values of it make no sense, or they do not go together.
    /// What comes behind is found out only once nothing before it is wrong.
    stage: u8,
    told: Vec<String>,
}

impl Wrong {
    /// The more, the worse.
    fn weight(&self) -> (u8, usize) {
        if self.told.is_empty() { (0, 0) } else { (self.stage, self.told.len()) }
    }
}

/// What is wrong with a file of that text, together with what lies beneath it.
fn mistakes(source: &Source, text: &str, beneath: &[Layer]) -> Wrong {
    let told = |mistake: Mistake| in_source(&(source.clone(), mistake));
    let root = match jsonc::parse(text) {
        Ok(root) => root,
        Err(mistake) => return Wrong { stage: 3, told: vec![told(mistake)] },
    };
    let mistakes = check(&root, &rule);
    if !mistakes.is_empty() {
        return Wrong { stage: 2, told: mistakes.into_iter().map(told).collect() };
    }
    let mut layers = vec![defaults(), Layer { source: source.clone(), root, trusted: true }];
    layers.extend(beneath.iter().cloned());
    let missing = Config::from(&merge(&layers)).err().unwrap_or_default();
    Wrong { stage: 1, told: missing.iter().map(in_source).collect() }
}

/// Whoever else changes a file in that directory waits as long as this is held.
fn lock(file: &Path) -> std::io::Result<std::fs::File> {
    let directory = file.parent().ok_or(std::io::ErrorKind::IsADirectory)?;
    files::make_private(directory)?;
    let directory = std::fs::File::open(directory)?;
    rustix::fs::flock(&directory, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(directory)
}

/// What the user's own file says, for a change of the project's, which builds on it; nothing if it cannot be used.
pub fn beneath_project(places: &Places) -> Vec<Layer> {
    let file = places.user_file().ok().flatten();
    file.and_then(|file| read(&file, Source::User).ok().flatten()).into_iter().collect()
}

/// What somebody means who writes a value on a command line: JSON where that fits, else the text itself.
fn meant(kind: &config::keys::Kind, value: &str) -> Node {
    use config::keys::Kind;
    let is_text = matches!(
        kind,
        Kind::Text | Kind::Model | Kind::Secret | Kind::Url | Kind::Choice(_) | Kind::Duration
    );
    match jsonc::parse(value) {
        Ok(node) if !value.trim().is_empty() && (!is_text || matches!(node.value, Value::Text(_))) => node,
        _ => Node::text(value),
    }
}

/// The file that a change goes to: the user's, or the one of the project, which is made in the working directory if there
/// is none.
pub fn file_to_change(places: &Places, project: bool) -> Result<PathBuf, Unusable> {
    if !project {
        let none = || {
            Unusable(vec![
                "There is no home for a configuration of your own; set HOME, or use --project.".into(),
            ])
        };
        return places.user_file().map_err(Unusable)?.ok_or_else(none);
    }
    // What is written would make it anew, where nobody looks for it.
    if !places.cwd.is_dir() {
        return Err(one(format!(
            "The current directory {} was deleted, so there is no project to configure; change to one that exists.",
            places.cwd.display()
        )));
    }
    let found = places.project().map_err(Unusable)?;
    Ok(found.map_or_else(|| places.cwd.join(place::PROJECT), |(_, file)| file))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
