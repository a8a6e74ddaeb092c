//! Where a provider lists its models, and what it says there.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;

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

/// The names of the models that a server lists, in its order; none if that is no list.
pub fn names(body: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Listing {
        #[serde(default)]
        data: Vec<Named>,
        #[serde(default)]
        models: Vec<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        name: Option<String>,
    }
    let Ok(Listing { data, models }) = serde_json::from_slice(body) else { return Vec::new() };
    let listed = if data.is_empty() { models } else { data };
    let names = listed.into_iter().filter_map(|model| model.id.or(model.name));
    let plain = names.filter(|name| !name.is_empty() && !name.chars().any(char::is_control));
    plain.map(|name| name.strip_prefix("models/").unwrap_or(&name).to_string()).collect()
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
        assert_eq!(names(br#"{"object":"list","data":[{"id":"a"},{"id":"b","x":1}]}"#), ["a", "b"]);
        assert_eq!(names(br#"{"models":[{"name":"models/g"}]}"#), ["g"]);
        assert_eq!(names(br#"{"data":[{"id":"m"}],"models":[{"name":"m","model":"m"}]}"#), ["m"]);
        for body in ["", "[]", "{}", "<html>", r#"{"data":[{"id":"a\u001b"}]}"#] {
            assert!(names(body.as_bytes()).is_empty(), "{body}");
        }
    }
}
