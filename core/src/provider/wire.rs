//! What goes over the wire in each protocol: where a request is posted, with which headers and body, and who reads what
//! comes back.
//!
//! Which provider speaks which protocol, and which key it wants, is said in `catalogue` and by the configuration.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::stream::Decoder;
use super::{chat, gemini, messages, responses};
use crate::model::ModelRequest;

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's chat completions, and everybody's who offers the same.
    Chat,
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// Google's Gemini.
    Gemini,
}

/// A request that is to be posted.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    /// Where to.
    pub url: String,
    /// The headers of this protocol, without those of every JSON request for a stream of events.
    pub headers: Vec<(&'static str, String)>,
    /// The header that has the key, if there is one; never shown.
    pub key: Option<(&'static str, String)>,
    /// The body, JSON text.
    pub body: String,
}

impl core::fmt::Debug for Post {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { url, headers, key, body } = self;
        let key = key.as_ref().map(|(name, _)| name);
        let mut shown = f.debug_struct("Post");
        shown.field("url", url).field("headers", headers).field("key", &key).field("body", body).finish()
    }
}

impl Protocol {
    /// What to post to the server at that base URL so that it answers `request`.
    pub fn post(self, base: &str, key: Option<&str>, request: &ModelRequest) -> Post {
        let base = base.trim().trim_end_matches('/');
        Post {
            url: self.url(base, &request.model.model),
            headers: self.headers(),
            key: key.map(|key| self.key(key)),
            body: self.body(request),
        }
    }

    /// Reads the stream that answers.
    pub fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::Chat => chat::decoder(),
            Self::Messages => messages::decoder(),
            Self::Responses => responses::decoder(),
            Self::Gemini => gemini::decoder(),
        }
    }

    fn url(self, base: &str, model: &str) -> String {
        match self {
            Self::Chat => format!("{base}/chat/completions"),
            Self::Messages => format!("{}/messages", versioned(base, "v1")),
            Self::Responses => format!("{base}/responses"),
            Self::Gemini => {
                let (base, model) = (versioned(base, "v1beta"), in_path(model));
                format!("{base}/models/{model}:streamGenerateContent?alt=sse")
            }
        }
    }

    pub(super) fn headers(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Chat | Self::Responses | Self::Gemini => Vec::new(),
            Self::Messages => Vec::from([("anthropic-version", messages::VERSION.to_string())]),
        }
    }

    pub(super) fn key(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Chat | Self::Responses => ("authorization", format!("Bearer {key}")),
            Self::Messages => ("x-api-key", key.to_string()),
            Self::Gemini => ("x-goog-api-key", key.to_string()),
        }
    }

    fn body(self, request: &ModelRequest) -> String {
        match self {
            Self::Chat => chat::body(request),
            Self::Messages => messages::body(request),
            Self::Responses => responses::body(request),
            Self::Gemini => gemini::body(request),
        }
    }
}

/// A base URL with a version at its end: some people write it there, and some leave it out.
pub(super) fn versioned(base: &str, version: &str) -> String {
    let last = base.rsplit('/').next().unwrap_or_default();
    let has_one = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if has_one { base.to_string() } else { format!("{base}/{version}") }
}

/// A model's name as a part of a path. Some people write the `models/` that stands before it anyway.
fn in_path(model: &str) -> String {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let mut path = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte))
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::fixture::{request, user};

    #[track_caller]
    fn check(protocol: Protocol, base: &str, url: &str, key: (&str, &str)) {
        let post = protocol.post(base, Some("secret"), &request("", &[user("a")]));
        assert_eq!(post.url, url);
        assert_eq!(post.key.as_ref().map(|(name, value)| (*name, value.as_str())), Some(key));
        assert!(!format!("{post:?}").contains("secret"), "{post:?}");
        assert_eq!(protocol.post(base, None, &request("", &[user("a")])).key, None);
    }

    #[test]
    fn each_protocol_has_its_place_and_its_key() {
        let bearer = ("authorization", "Bearer secret");
        check(Protocol::Chat, "https://a/v1/", "https://a/v1/chat/completions", bearer);
        check(Protocol::Chat, "http://a", "http://a/chat/completions", bearer);
        check(Protocol::Responses, "https://a/v1", "https://a/v1/responses", bearer);
        let key = ("x-api-key", "secret");
        check(Protocol::Messages, "https://a", "https://a/v1/messages", key);
        check(Protocol::Messages, " https://a/v1/ ", "https://a/v1/messages", key);
        check(Protocol::Messages, "https://a/vendor", "https://a/vendor/v1/messages", key);
        let key = ("x-goog-api-key", "secret");
        let path = "models/m:streamGenerateContent?alt=sse";
        check(Protocol::Gemini, "https://a", &format!("https://a/v1beta/{path}"), key);
        check(Protocol::Gemini, "https://a/v1/", &format!("https://a/v1/{path}"), key);
    }

    #[test]
    fn a_model_cannot_lead_elsewhere() {
        for (model, path) in [
            ("gemini-2.5-pro", "gemini-2.5-pro"),
            ("models/g", "g"),
            ("a/../b?c#é", "a%2F..%2Fb%3Fc%23%C3%A9"),
        ] {
            assert_eq!(in_path(model), path);
        }
    }
}
