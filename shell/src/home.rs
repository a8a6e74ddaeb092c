//! Paths below the user's home.

use std::path::PathBuf;

/// The path that a text names. No shell has put the home in the place of `~/` where it stands in a file, or behind something
/// else.
pub(crate) fn path(text: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    text.strip_prefix("~/").map_or_else(|| PathBuf::from(text), |rest| home().join(rest))
}
