//! What the program says, held to a file in the repository that somebody has looked at.

use std::fs;
use std::path::Path;

/// Compares a text with the file. With `HOSTLER_RENEW` set the file is written anew, to be looked at with `git diff`.
///
/// # Panics
///
/// When they differ; the message shows where.
pub fn check(file: &Path, text: &str) {
    if std::env::var_os("HOSTLER_RENEW").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let seen = fs::read_to_string(file).unwrap_or_default();
    if text == seen {
        return;
    }
    let differs = text.lines().zip(seen.lines()).position(|(is, was)| is != was);
    let at = differs.unwrap_or_else(|| text.lines().count().min(seen.lines().count()));
    let from = |text: &str| text.lines().skip(at).take(8).collect::<Vec<_>>().join("\n");
    panic!(
        "{} has changed from line {} on; look at it with HOSTLER_RENEW=1 and git diff. It was:\n{}\nand is:\n{}",
        file.display(),
        at + 1,
        from(&seen),
        from(text)
    );
}
