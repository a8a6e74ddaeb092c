//! What a command gets to see of our environment: all but secrets, and nothing that waits for a terminal.
//!
//! Secrets are known by their names, and wherever else their values occur. That keeps them from what prints its
//! environment, not from a command that goes looking for them.

use std::ffi::OsString;

/// How names of secrets end.
const SECRET_ENDS: &[&str] = &["_API_KEY", "_APIKEY", "_TOKEN", "_SECRET"];

/// Names of secrets that end otherwise.
const SECRETS: &[&str] =
    &["API_KEY", "TOKEN", "SECRET", "AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_KEY"];

/// How long a secret is at least of which the value is looked for: whatever is shorter may occur anywhere.
const SECRET_BYTES: usize = 8;

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
    let (secrets, others): (Vec<_>, Vec<_>) =
        variables.into_iter().partition(|(name, _)| is_secret(&name.to_string_lossy()));
    let values: Vec<&[u8]> = secrets.iter().map(|(_, value)| value.as_encoded_bytes().trim_ascii()).collect();
    let kept = others.into_iter().filter(|(_, value)| !has_any(value.as_encoded_bytes(), &values));
    // A later value of the same name is the one that counts.
    kept.chain(forced).collect()
}

/// Whether one of the secrets occurs in it.
fn has_any(value: &[u8], secrets: &[&[u8]]) -> bool {
    let has = |secret: &&[u8]| value.windows(secret.len()).any(|window| window == *secret);
    secrets.iter().filter(|secret| secret.len() >= SECRET_BYTES).any(has)
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
    fn secrets_stay_here_whatever_they_are_called() {
        let variables = [
            ("OPENAI_API_KEY", " sk-12345678\n"),
            ("MY_KEY", "sk-12345678"),
            ("HEADER", "Authorization: Bearer sk-12345678"),
            ("TOKEN", "1"),
            ("DEBUG", "1"),
            ("EMPTY_SECRET", ""),
            ("HOME", "/home/sk-1234567"),
        ];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let passed = passed_on(variables);
        let names: Vec<_> = passed.iter().map(|(name, _)| name.to_string_lossy()).collect();
        assert_eq!(names[..2], ["DEBUG", "HOME"], "{names:?}");
        assert_eq!(names.len(), 2 + FORCED.len());
    }

    #[test]
    fn what_is_forced_comes_last() {
        let passed = passed_on([(OsString::from("TERM"), OsString::from("xterm"))]);
        let last = passed.iter().rfind(|(name, _)| name == "TERM");
        assert_eq!(last.map(|(_, value)| value.as_os_str()), Some("dumb".as_ref()));
    }
}
