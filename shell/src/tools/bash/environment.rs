//! What a command gets to see of our environment: all but secrets, and nothing that waits for a terminal.
//!
//! Secrets are known by their names. That keeps them from what prints its environment, not from a command that goes
//! looking for them.

use std::ffi::OsString;

/// How names of secrets end.
const SECRET_ENDS: &[&str] = &["_API_KEY", "_APIKEY", "_TOKEN", "_SECRET"];

/// Names of secrets that end otherwise.
const SECRETS: &[&str] =
    &["API_KEY", "TOKEN", "SECRET", "AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_KEY"];

/// What every command is told: no colours, no pager, no editor, nobody at a terminal, and who runs it.
const FORCED: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("HOSTLER", "1"),
    ("AGENT", "hostler"),
];

/// The environment of a command that is started from one with those variables.
pub(super) fn passed_on(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let forced = FORCED.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let kept = variables.into_iter().filter(|(name, _)| !is_secret(&name.to_string_lossy()));
    // A later value of the same name is the one that counts.
    kept.chain(forced).collect()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.contains(&name.as_str()) || SECRET_ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_here() {
        for (name, secret) in [
            ("OPENAI_API_KEY", true),
            ("anthropic_api_key", true),
            ("GITHUB_TOKEN", true),
            ("CLIENT_SECRET", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("PATH", false),
            ("TOKENIZERS_PARALLELISM", false),
            ("SSH_AUTH_SOCK", false),
        ] {
            let passed = passed_on([(OsString::from(name), OsString::from("value"))]);
            assert_eq!(passed.iter().any(|(passed, _)| passed == name), !secret, "{name}");
        }
    }

    #[test]
    fn what_is_forced_comes_last() {
        let passed = passed_on([(OsString::from("TERM"), OsString::from("xterm"))]);
        let last = passed.iter().rfind(|(name, _)| name == "TERM");
        assert_eq!(last.map(|(_, value)| value.as_os_str()), Some("dumb".as_ref()));
    }
}
