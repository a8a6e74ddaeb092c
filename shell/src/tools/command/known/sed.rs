//! `sed`, whose scripts can execute and write.

/// Options of `sed` that come without a value and execute nothing.
pub(in crate::tools::command) const SED_OPTIONS: &[&str] = &[
    "-n",
    "-E",
    "-r",
    "-s",
    "-z",
    "-i",
    "-u",
    "-nE",
    "-nr",
    "-En",
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--in-place",
    "--posix",
];

/// Whether a script of `sed` is one command that prints, deletes or replaces, and so neither executes nor writes.
pub(in crate::tools::command) fn is_plain_sed(script: &str) -> bool {
    let is_address = |letter: char| letter.is_ascii_digit() || matches!(letter, ',' | '$' | '!' | ' ');
    let command = script.trim_start_matches(is_address);
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '/' | '|' | '#' | ',' | ':' | '@'))
    else {
        return false;
    };
    if rest.contains(['\n', '\\', '[', ';', '{', '}']) {
        return false;
    }
    let parts: Vec<_> = rest.split(mark).collect();
    matches!(parts.as_slice(), ["", _, _, flags] if flags.chars().all(|flag| flag.is_ascii_digit() || matches!(flag, 'g' | 'p' | 'i' | 'I')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_without_side_effects_are_plain() {
        for (script, plain) in [
            ("1,5p", true),
            ("$d", true),
            ("s/a/b/g", true),
            ("s|a|b|2", true),
            ("s/a/b/e", false),
            ("s/a/b/w f", false),
            ("1e rm x", false),
            ("w f", false),
            ("p;e rm", false),
            ("s/a/b/\ne rm", false),
            ("/x/e", false),
        ] {
            assert_eq!(is_plain_sed(script), plain, "{script}");
        }
    }
}
