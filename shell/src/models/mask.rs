//! Takes the secrets of a request out of what comes back: some servers repeat the key in what they say of an error, and what
//! they say is kept and printed.
//!
//! A secret is looked for as it was sent and as it is written in JSON, in an address and in base64. What is short may occur by chance: in
//! the words of an error it counts where it stands alone, and in an answer not at all. Nor do the values of headers count in an
//! answer, unless they are keys by their name and their look: they may be names that a model writes into files, where `[key]`
//! would be a fault that nobody sees.

use bytes::Bytes;
use hostler_core::config::typed::{Provider, Secret};
use hostler_core::model::{CallError, CallErrorKind, ModelEvent};
use memchr::memmem::Finder;

pub(super) use spread::Spread;

#[path = "mask/base64.rs"]
mod base64;
#[path = "mask/spread.rs"]
mod spread;

/// What stands in the place of a secret.
const IN_PLACE: &str = "[key]";

/// How many bytes a text has at least that is taken for a secret.
const LEAST: usize = 4;

/// From how many bytes on it is looked for within words.
const IN_WORDS: usize = 8;

/// From how many bytes on it is looked for in answers. Keys that people make up for servers that need none are shorter.
const IN_ANSWERS: usize = 16;

/// Words in the names of headers that have secrets.
const TELLING: &[&str] = &["auth", "key", "token", "secret", "cookie", "pass", "cred", "sig", "session"];

/// Words in the names of headers that have keys.
const KEYS: &[&str] = &["auth", "key", "token", "secret", "cookie", "pass", "cred"];

/// The secrets of a request, in all their forms, the longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    forms: Vec<Finder<'static>>,
    /// Those that are taken out of answers as well.
    of_answers: Vec<Finder<'static>>,
}

impl Mask {
    /// The keys that were used, and what else of a provider's configuration nobody may see.
    pub(super) fn new(provider: &Provider, keys: &[Secret]) -> Self {
        let mut keys: Vec<String> = keys.iter().map(|Secret(key)| key.clone()).collect();
        let mut secrets = Vec::new();
        for (name, Secret(value)) in &provider.headers {
            let name = name.to_ascii_lowercase();
            let is_named = |words: &[&str]| words.iter().any(|word| name.contains(word));
            if is_named(TELLING) {
                secrets.extend(
                    value.split_whitespace().filter(|word| word.len() >= IN_WORDS).map(str::to_owned),
                );
            }
            if is_named(KEYS) {
                keys.extend(value.split_whitespace().filter(|word| is_random(word)).map(str::to_owned));
            }
            secrets.extend(is_random(value).then(|| value.trim().to_owned()));
        }
        secrets.extend(keys.iter().cloned());
        let mut of_answers = finders(&keys);
        of_answers.retain(|form| form.needle().len() >= IN_ANSWERS);
        Self { forms: finders(&secrets), of_answers }
    }

    /// The body of an error without them, of which there may be more than was read: of a secret that it ends with no beginning
    /// is left.
    pub(super) fn body(&self, body: Vec<u8>) -> Vec<u8> {
        let mut body = replaced(&body, &self.forms).unwrap_or(body);
        let begun = self.forms.iter().map(|form| begun(&body, form.needle())).max().unwrap_or(0);
        if begun >= LEAST {
            body.truncate(body.len() - begun);
        }
        body
    }

    /// An error without them.
    pub(super) fn error(&self, error: CallError) -> CallError {
        let kind = match error.kind {
            CallErrorKind::Status { status, code } => CallErrorKind::Status { status, code: self.text(code) },
            other => other,
        };
        CallError { kind, message: self.text(error.message), ..error }
    }

    /// An event without them, if it is the failure of a call. What else it says came through a [`Sieve`] and a [`Spread`].
    pub(super) fn event(&self, event: ModelEvent) -> ModelEvent {
        match event {
            ModelEvent::Failed(error) => ModelEvent::Failed(self.error(error)),
            other => other,
        }
    }

    fn text(&self, text: String) -> String {
        match replaced(text.as_bytes(), &self.forms) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => text,
        }
    }

    /// Takes them out of an answer as it comes.
    pub(super) fn sieve(&self) -> Sieve {
        Sieve { forms: self.of_answers.clone(), held: Vec::new() }
    }

    /// Takes them out of what an answer says, where a server has spread one over several pieces of it.
    pub(super) fn spread(&self) -> Spread {
        Spread::new(self.sieve())
    }
}

/// Takes secrets out of a body that comes in pieces, wherever it is split.
#[derive(Debug)]
pub(super) struct Sieve {
    forms: Vec<Finder<'static>>,
    /// The end of what has come, if that may be the beginning of a secret.
    held: Vec<u8>,
}

impl Sieve {
    /// What can be passed on of the body with this piece.
    pub(super) fn push(&mut self, piece: Bytes) -> Bytes {
        if self.forms.is_empty() {
            return piece;
        }
        let whole = if self.held.is_empty() {
            piece
        } else {
            let mut whole = std::mem::take(&mut self.held);
            whole.extend_from_slice(&piece);
            whole.into()
        };
        let mut whole = replaced(&whole, &self.forms).map_or(whole, Bytes::from);
        let open = self.forms.iter().map(|form| begun(&whole, form.needle())).max().unwrap_or(0);
        self.held = whole.split_off(whole.len() - open).to_vec();
        whole
    }

    /// What is left of the body once all of it has come.
    pub(super) fn rest(&mut self) -> Bytes {
        let held = std::mem::take(&mut self.held);
        // What is less may well be how something else begins: many keys begin alike.
        let is_most =
            |form: &Finder<'_>| held.len() * 2 > form.needle().len() && form.needle().starts_with(&held);
        if self.forms.iter().any(is_most) { Bytes::from_static(IN_PLACE.as_bytes()) } else { held.into() }
    }
}

/// How many bytes at the end are the beginning of that secret.
fn begun(bytes: &[u8], secret: &[u8]) -> usize {
    let most = bytes.len().min(secret.len().saturating_sub(1));
    (1..=most).rev().find(|length| bytes.ends_with(&secret[..*length])).unwrap_or(0)
}

/// The bytes without the secrets; none if there is none in them.
fn replaced(bytes: &[u8], forms: &[Finder<'_>]) -> Option<Vec<u8>> {
    let mut clean: Option<Vec<u8>> = None;
    for form in forms {
        let here = clean.as_deref().unwrap_or(bytes);
        clean = without(here, form).or(clean);
    }
    clean
}

fn without(bytes: &[u8], form: &Finder<'_>) -> Option<Vec<u8>> {
    let length = form.needle().len();
    let counts = |at: &usize| length >= IN_WORDS || stands_alone(bytes, *at, length);
    let mut clean = Vec::new();
    let mut from = 0;
    for at in form.find_iter(bytes).filter(counts) {
        clean.extend_from_slice(&bytes[from..at]);
        clean.extend_from_slice(IN_PLACE.as_bytes());
        from = at + length;
    }
    if from == 0 {
        return None;
    }
    clean.extend_from_slice(&bytes[from..]);
    Some(clean)
}

fn stands_alone(bytes: &[u8], at: usize, length: usize) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !is_letter(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_letter(bytes.get(at + length))
}

/// Whether a text looks like a key and not like a word or the name of something. What has a slash is one only if it is like
/// base64.
fn is_random(text: &str) -> bool {
    let text = text.trim();
    let is_base64 = || {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
            && text.bytes().any(|byte| byte.is_ascii_uppercase())
            && text.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    text.len() >= IN_ANSWERS
        && !text.contains([' ', ';', ','])
        && (!text.contains('/') || is_base64())
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// What finds these secrets, the longest form first.
fn finders(secrets: &[String]) -> Vec<Finder<'static>> {
    let mut forms: Vec<_> = secrets.iter().flat_map(|secret| forms(secret)).collect();
    forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    forms.dedup();
    forms.iter().map(|form| Finder::new(form).into_owned()).collect()
}

/// How a secret may be written.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let secret = secret.trim();
    if secret.len() < LEAST {
        return Vec::new();
    }
    let json = serde_json::Value::from(secret).to_string();
    // Without its quotes.
    let json = json.get(1..json.len() - 1).unwrap_or_default().to_owned();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = |escape: fn(u8) -> String| -> String {
        secret
            .bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { escape(byte) })
            .collect()
    };
    let addresses = [escaped(|byte| format!("%{byte:02X}")), escaped(|byte| format!("%{byte:02x}"))];
    let mut forms = vec![secret.to_owned(), json.replace('/', "\\/"), json];
    forms.extend(addresses);
    // What is short is in base64 like any other word.
    if secret.len() >= IN_WORDS {
        forms.extend(base64::forms(secret.as_bytes()));
    }
    forms.into_iter().map(String::into_bytes).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::config::Config;
    use hostler_core::config::merge::merge;
    use hostler_core::config::typed::defaults;
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-4711-that-nobody-may-see";

    fn mask(keys: &[&str], headers: &[(&str, &str)]) -> Mask {
        let config = Config::from(&merge(&[defaults()])).unwrap();
        let mut provider = config.providers["openai"].clone();
        let secret = |text: &&str| Secret((*text).to_owned());
        provider.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), secret(value))).collect();
        Mask::new(&provider, &keys.iter().map(secret).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(mask: &Mask, said: &str, expected: &str) {
        let body = mask.body(said.as_bytes().to_vec());
        assert_eq!(String::from_utf8(body).unwrap(), expected);
        let kind = CallErrorKind::Status { status: 401, code: said.to_owned() };
        let error = CallError { kind, message: said.to_owned(), retry_after: None, should_retry: None };
        let error = mask.error(error);
        assert_eq!(error.message, expected);
        assert_eq!(error.kind, CallErrorKind::Status { status: 401, code: expected.to_owned() });
    }

    #[test]
    fn a_secret_is_taken_out_however_it_is_written() {
        let keys = mask(&[KEY, r#"a/b"c+d-0815"#], &[]);
        check(&keys, &format!("not {KEY}, {KEY}!"), "not [key], [key]!");
        check(&keys, r#"{"m":"a\/b\"c+d-0815 or a/b\"c+d-0815"}"#, r#"{"m":"[key] or [key]"}"#);
        check(&keys, "GET /?key=a%2Fb%22c%2Bd-0815", "GET /?key=[key]");
        check(&keys, "sk-4711 is not all of it", "sk-4711 is not all of it");
        check(&mask(&["short"], &[]), "short, shortly: \"short\"", "[key], shortly: \"[key]\"");
        check(&mask(&["k", ""], &[]), "k and kin", "k and kin");
    }

    #[test]
    fn what_is_configured_beside_the_key_may_be_a_secret_too() {
        let headers = [
            ("Authorization", "Bearer abcdefgh"),
            ("x-team", "application/json"),
            ("x-own", "0123456789abcdef"),
        ];
        let mask = mask(&[], &headers);
        check(
            &mask,
            "Bearer abcdefgh, application/json, 0123456789abcdef",
            "Bearer [key], application/json, [key]",
        );
    }

    #[test]
    fn a_secret_in_base64_and_with_small_digits_is_one_too() {
        // "me:pass-word 1/2", "sk-4711-that-nobody-may-see" and the same as the name of a user.
        let basic = "bWU6cGFzcy13b3JkIDEvMg==";
        let (key, user) =
            ("c2stNDcxMS10aGF0LW5vYm9keS1tYXktc2Vl", "c2stNDcxMS10aGF0LW5vYm9keS1tYXktc2VlOg==");
        let keys = mask(&[KEY, "a/b+c-0815-4711", "me:pass-word 1/2"], &[]);
        check(&keys, &format!("Basic {basic}"), "Basic [key]");
        check(&keys, &format!("{key} {key}"), "[key] [key]");
        check(&keys, user, "[key]Og==");
        check(&keys, "a%2fb%2bc-0815-4711 me:pass-word 1/2", "[key] [key]");
    }

    #[test]
    fn what_tells_of_a_secret_in_the_name_of_a_header_or_its_value() {
        let headers = [
            ("x-passphrase", "open-sesame"),
            ("X-Signature", "signed-by-me"),
            ("session-id", "whoever-it-is"),
            ("x-creds", "of-somebody"),
            ("x-one", "Zm9v/mFyMTIzNDU2Nzg5+A=="),
            ("x-two", "https://a.example/v1/models"),
            ("x-three", "meta-llama/Llama-3-70B"),
        ];
        let mask = mask(&[], &headers);
        check(
            &mask,
            "open-sesame signed-by-me whoever-it-is of-somebody Zm9v/mFyMTIzNDU2Nzg5+A==",
            "[key] [key] [key] [key] [key]",
        );
        check(
            &mask,
            "https://a.example/v1/models meta-llama/Llama-3-70B",
            "https://a.example/v1/models meta-llama/Llama-3-70B",
        );
    }

    #[test]
    fn where_an_error_is_read_no_further_no_beginning_of_a_secret_is_left() {
        let mask = mask(&[KEY], &[]);
        for length in 4..KEY.len() {
            let body = mask.body(format!("not {}", &KEY[..length]).into_bytes());
            assert_eq!(String::from_utf8(body).unwrap(), "not ");
        }
        assert_eq!(mask.body(b"a desk".to_vec()), b"a desk");
    }

    #[test]
    fn of_an_answer_that_ends_too_early_no_beginning_of_a_secret_is_left() {
        let mut sieve = mask(&[KEY], &[]).sieve();
        assert_eq!(sieve.push(Bytes::from(KEY[..20].to_owned())).len(), 0);
        assert_eq!(sieve.rest(), IN_PLACE);
        assert_eq!(sieve.push(Bytes::from_static(b"ask")), "a");
        assert_eq!(sieve.rest(), "sk");
        // Less than half of it may be the beginning of another one.
        assert_eq!(sieve.push(Bytes::from_static(b"like sk-4711-t")), "like ");
        assert_eq!(sieve.rest(), "sk-4711-t");
        // What somebody made up for a server that needs none is a word like others, and so is what a header says.
        let mut sieve = mask(&[], &[("authorization", "Bearer 0123456789abcdef")]).sieve();
        assert_eq!(sieve.push(Bytes::from_static(b"It is 0123456789abcdef.")), "It is [key].");
        let mut sieve = mask(&[], &[("x-session", "0123456789abcdef")]).sieve();
        assert_eq!(sieve.push(Bytes::from_static(b"0123456789abcdef")), "0123456789abcdef");
        let mut sieve = mask(&["lm-studio"], &[]).sieve();
        assert_eq!(sieve.push(Bytes::from_static(b"Start lm-studio")), "Start lm-studio");
    }

    proptest! {
        #[test]
        fn wherever_an_answer_is_split_its_secrets_are_taken_out(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![KEY, "s", "sk-", "sk-4711-that-", "data: {}\n\n", "ö"]), 0..12,
            ),
            cuts in proptest::collection::vec(0..200_usize, 0..12),
        ) {
            let mask = mask(&[KEY], &[]);
            let whole = parts.concat();
            let mut sieve = mask.sieve();
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < whole.len()).collect();
            cuts.extend([0, whole.len()]);
            cuts.sort_unstable();
            let mut got = Vec::new();
            for window in cuts.windows(2) {
                got.extend_from_slice(&sieve.push(Bytes::copy_from_slice(&whole.as_bytes()[window[0]..window[1]])));
            }
            got.extend_from_slice(&sieve.rest());
            let got = String::from_utf8(got).unwrap();
            prop_assert!(!got.contains(KEY));
            let end = parts.iter().rev().take_while(|part| part.starts_with("sk-4")).count();
            if end == 0 {
                prop_assert_eq!(got, whole.replace(KEY, IN_PLACE));
            }
        }
    }
}
