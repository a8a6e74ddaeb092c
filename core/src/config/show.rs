//! What holds and where it comes from, in words and as JSON. Secrets are not in it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::keys::is_secret;
use super::merge::{Origin, Setting, Source};
use super::path::Path;
use super::tree::Value;

/// What stands in a secret's place.
pub const HIDDEN: &str = "(secret)";

/// Who says something, for people.
pub fn said_by(source: &Source) -> String {
    match source {
        Source::Default => "the default".to_string(),
        Source::User(file) | Source::Project(file) => file.clone(),
        Source::Variable(name) => format!("the environment variable {name}"),
    }
}

/// Where a value comes from, for people: a file with line and column, a variable, or the default.
pub fn origin(origin: &Origin) -> String {
    let by = said_by(&origin.source);
    if origin.at.line == 0 { by } else { format!("{by}:{}:{}", origin.at.line, origin.at.column) }
}

/// Where a setting comes from, for people.
pub fn origins(setting: &Setting) -> String {
    let origins: Vec<_> = setting.origins.iter().map(origin).collect();
    origins.join(", ")
}

/// A value as JSON text, a secret hidden.
pub fn value(path: &Path, value: &Value) -> String {
    if is_secret(path) { super::tree::quoted(HIDDEN) } else { value.json() }
}
