//! What is noted in the log files of one exchange with a provider: whom it was with, sizes, times and statuses.

use std::time::Instant;

use hostler_core::config::typed::Provider;
use hostler_core::model::ModelRequest;
use tracing::{debug, info};

use super::Sink;

/// One exchange that is under way.
pub(super) struct Heard {
    began: Instant,
    /// What it is about.
    about: String,
    host: String,
}

impl Heard {
    pub(super) fn begin(provider: &Provider, request: &ModelRequest, sink: &Sink) -> Self {
        let (about, host) = (sink.about(), host(&provider.base_url));
        debug!(about, host, protocol = ?provider.protocol, items = request.items.len(), "a request is put together");
        Self { began: Instant::now(), about, host }
    }

    pub(super) fn answered(&self, status: u16) {
        info!(about = self.about, host = self.host, status, ms = self.ms(), "a provider answers");
    }

    pub(super) fn over(&self) {
        info!(about = self.about, host = self.host, ms = self.ms(), "the exchange with a provider is over");
    }

    fn ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The host and port of a URL, and nothing else of it: there may be keys in the rest.
pub(super) fn host(url: &str) -> String {
    let Ok(url) = reqwest::Url::parse(url) else { return "unknown".to_owned() };
    let host = url.host_str().unwrap_or("unknown");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_address_only_the_host_and_the_port_are_told() {
        for (url, expected) in [
            ("https://user:secret@example.com/v1?key=secret", "example.com"),
            ("http://127.0.0.1:8080/secret", "127.0.0.1:8080"),
            ("http://[::1]:1/", "[::1]:1"),
            ("secret", "unknown"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
