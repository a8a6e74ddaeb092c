//! Variables that can be set without a change of what other words mean.

/// Variables of programs that only say how they show what they do.
const HARMLESS: &[&str] = &[
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "COLORTERM",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PROPTEST_CASES",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "TERM",
    "TZ",
];

/// Whether a variable can be set without a change of what other words mean. Those that matter to programs and shells have
/// capital letters, with a few exceptions.
pub(in crate::tools::command) fn is_harmless_variable(name: &str) -> bool {
    let is_own = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let is_proxy = name.ends_with("_proxy");
    HARMLESS.contains(&name)
        || (name.chars().all(is_own)
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && !is_proxy
            && !name.starts_with("npm_")
            && !matches!(name, "histchars" | "auto_resume"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_matter_are_not_harmless() {
        for (name, harmless) in [
            ("x", true),
            ("RUST_LOG", true),
            ("PATH", false),
            ("IFS", false),
            ("http_proxy", false),
            ("_", false),
            ("X", false),
        ] {
            assert_eq!(is_harmless_variable(name), harmless, "{name}");
        }
    }
}
