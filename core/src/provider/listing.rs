//! Where a provider lists its models, and what it says there.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::refusal;
use super::wire::{Post, Protocol};

/// What to get from the server at that base URL so that it lists its models. The body is empty.
pub fn request(protocol: Protocol, base: &str, key: Option<&str>) -> Post {
    let base = base.trim().trim_end_matches('/');
    let url = match protocol {
        Protocol::Chat | Protocol::Responses => format!("{base}/models"),
        Protocol::Messages => format!("{}/models", super::wire::versioned(base, "v1")),
        Protocol::Gemini => format!("{}/models", super::wire::versioned(base, "v1beta")),
    };
    Post { url, headers: protocol.headers(), key: key.map(|key| protocol.key(key)), body: String::new() }
}

/// What a server makes of being asked for the list of its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// It lists them, by their names and in its order; those that cannot be asked for are left out.
    Models(Vec<String>),
    /// It answers as such servers do, with something that is no list.
    NoList,
    /// It answers with something that no server of models says, such as a web page.
    Stranger,
    /// It refuses the key.
    KeyRefused,
    /// It refuses with that HTTP status.
    Refused(u16),
}

/// The codes with which a key is refused that has no status of its own for it.
const KEY_REFUSED: [&str; 3] = ["API_KEY_INVALID", "UNAUTHENTICATED", "invalid_api_key"];

impl Listed {
    /// What the answer with that HTTP status and body says.
    pub fn read(status: u16, body: &[u8]) -> Self {
        match status {
            200..=299 => match (names(body), serde_json::from_slice::<IgnoredAny>(body)) {
                (Some(names), _) => Self::Models(names),
                (None, Ok(_)) => Self::NoList,
                (None, Err(_)) => Self::Stranger,
            },
            401 | 403 => Self::KeyRefused,
            status => {
                let report = refusal::report_text(&String::from_utf8_lossy(body));
                if KEY_REFUSED.contains(&report.code.as_str()) {
                    Self::KeyRefused
                } else {
                    Self::Refused(status)
                }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    /// Most have it in a field, and some in two.
    In { data: Option<Vec<Named>>, models: Option<Vec<Named>> },
    /// Some have no more than that.
    Bare(Vec<Named>),
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

/// How many tokens a request to that model may have, as its server says in the list of its models; llama.cpp's does. A server
/// that has one model answers with that whatever it is asked for.
pub fn window(body: &[u8], model: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Served {
        data: Vec<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        id: Option<String>,
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    struct Meta {
        /// What the server has room for.
        n_ctx: Option<u64>,
        /// What the model was made for; servers of an earlier time say no more.
        n_ctx_train: Option<u64>,
    }
    let Served { data } = serde_json::from_slice(body).ok()?;
    let named = data.iter().find(|served| served.id.as_deref() == Some(model));
    let only = || data.first().filter(|_| data.len() == 1);
    let meta = named.or_else(only)?.meta.as_ref()?;
    meta.n_ctx.or(meta.n_ctx_train).filter(|tokens| *tokens > 0)
}

/// The names of the models that a server lists; none if that is no list.
fn names(body: &[u8]) -> Option<Vec<String>> {
    let listed = match serde_json::from_slice(body).ok()? {
        List::In { data, models } => data.filter(|data| !data.is_empty() || models.is_none()).or(models)?,
        List::Bare(models) => models,
    };
    let names = listed.into_iter().filter_map(|model| model.id.or(model.name));
    let plain = names.filter(|name| !name.is_empty() && !name.chars().any(char::is_control));
    Some(plain.map(|name| name.strip_prefix("models/").unwrap_or(&name).to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_has_its_list() {
        for (protocol, base, url) in [
            (Protocol::Chat, "http://a/v1/", "http://a/v1/models"),
            (Protocol::Messages, "https://a", "https://a/v1/models"),
            (Protocol::Gemini, "https://a", "https://a/v1beta/models"),
        ] {
            let get = request(protocol, base, Some("k"));
            assert_eq!((get.url.as_str(), get.key.is_some()), (url, true));
        }
    }

    #[test]
    fn names_are_what_is_listed() {
        let listed = |body: &str, expected: &[&str]| {
            let expected = expected.iter().map(ToString::to_string).collect();
            assert_eq!(Listed::read(200, body.as_bytes()), Listed::Models(expected), "{body}");
        };
        listed(r#"{"object":"list","data":[{"id":"a"},{"id":"b","x":1}]}"#, &["a", "b"]);
        listed(r#"{"models":[{"name":"models/g"}]}"#, &["g"]);
        listed(r#"{"data":[{"id":"m"}],"models":[{"name":"m","model":"m"}]}"#, &["m"]);
        listed(r#"{"data":[],"models":[{"name":"m"}]}"#, &["m"]);
        listed(r#"[{"id":"a"}]"#, &["a"]);
        listed(r#"{"data":[{"id":"a\u001b"}]}"#, &[]);
        listed("[]", &[]);
    }

    #[test]
    fn a_window_is_what_the_server_has_room_for() {
        let one = br#"{"object":"list","data":[{"id":"m.gguf","meta":{"n_ctx":4096,"n_ctx_train":131072}}]}"#;
        assert_eq!((window(one, "m.gguf"), window(one, "any")), (Some(4096), Some(4096)));
        let two = br#"{"data":[{"id":"a","meta":{"n_ctx_train":8192}},{"id":"b","meta":null},{"id":"c"}]}"#;
        assert_eq!(
            [window(two, "a"), window(two, "b"), window(two, "c"), window(two, "d")],
            [Some(8192), None, None, None]
        );
        for odd in [
            r#"{"data":[]}"#,
            r#"{"data":[{"meta":{"n_ctx":0}}]}"#,
            r#"{"data":[{"meta":{"n_ctx":-1}}]}"#,
            "<html>",
            "[]",
        ] {
            assert_eq!(window(odd.as_bytes(), "a"), None, "{odd}");
        }
    }

    #[test]
    fn who_answers_and_who_refuses_is_told_apart() {
        let invalid = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
            "details":[{"reason":"API_KEY_INVALID"}]}}"#;
        for (status, body, expected) in [
            (200, "{}", Listed::NoList),
            (200, r#"{"status":"ok"}"#, Listed::NoList),
            (200, "<html>", Listed::Stranger),
            (204, "", Listed::Stranger),
            (401, "", Listed::KeyRefused),
            (403, "<html>", Listed::KeyRefused),
            (400, invalid, Listed::KeyRefused),
            (400, r#"{"error":{"message":"no"}}"#, Listed::Refused(400)),
            (404, "<html>", Listed::Refused(404)),
        ] {
            assert_eq!(Listed::read(status, body.as_bytes()), expected, "{status} {body}");
        }
    }
}
