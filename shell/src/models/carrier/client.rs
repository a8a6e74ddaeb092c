//! What makes connections, and how it is told why one comes to nothing.

use std::sync::Arc;
use std::time::Duration;

use super::super::names::Names;

/// A client for that URL. Reading the platform's certificates takes longer than all the rest of a start, so it is done
/// only for a URL that needs them. Servers nearby close idle connections without a word, and a new one costs nothing
/// there; so only the others are kept.
pub(super) fn client(url: &str, connect: Duration) -> Result<reqwest::Client, String> {
    // A second installation is refused, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("hostler/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .dns_resolver(Arc::new(Names))
        // A key is for the server that it was given for, and for no other.
        .redirect(reqwest::redirect::Policy::none());
    if url.starts_with("http://") {
        builder = builder.tls_certs_only([]).pool_max_idle_per_host(0);
    }
    if is_near(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(describe)
}

/// Whether it is on this machine, where no proxy leads.
pub(super) fn is_near(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address
        .map_or_else(|_| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

/// What went wrong, with its causes, in one line and without the URL, where keys may be.
pub(super) fn describe(error: reqwest::Error) -> String {
    /// What is said of every request that comes to nothing, where a cause follows.
    const EMPTY: [&str; 2] = ["error sending request", "client error (Connect)"];
    let error = error.without_url();
    let mut parts: Vec<String> = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        let part = error.to_string();
        if !parts.iter().any(|before| before.contains(&part)) {
            parts.push(part);
        }
        cause = error.source();
    }
    let telling: Vec<_> = parts.iter().filter(|part| !EMPTY.contains(&part.as_str())).cloned().collect();
    if telling.is_empty() { parts.join(": ") } else { telling.join(": ") }
}
