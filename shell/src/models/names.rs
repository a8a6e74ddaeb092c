//! Names of servers to addresses, on a thread of its own for each: what the HTTP client would do by itself breaks down where
//! there is no room for a thread, and this says so.

use std::net::ToSocketAddrs;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::aside::aside;

/// Asks the system.
#[derive(Debug)]
pub(super) struct Names;

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let look = move || (name.as_str(), 0).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            let found = aside(look).await??;
            Ok::<Addrs, _>(Box::new(found.into_iter()))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn this_machine_is_known_by_its_name_and_what_is_no_name_is_nobody() {
        let found: Vec<_> = Names.resolve("localhost".parse().unwrap()).await.unwrap().collect();
        assert!(!found.is_empty() && found.iter().all(|address| address.ip().is_loopback()), "{found:?}");
        assert!(Names.resolve("a..invalid".parse().unwrap()).await.is_err());
    }
}
