//! Asks a server for the list of its models.

use std::time::Duration;

use hostler_core::config::typed::Provider;
use hostler_core::provider::listing::{self, Listed};

use super::super::heard;
use super::Carrier;
use super::client::{client, describe};

/// How many bytes a list of models may have.
const LIST_BYTES: usize = 4 << 20;

impl Carrier {
    /// Asks the server for the list of its models: the status that it answers with, and their names. Takes at most so long.
    pub(in crate::models) async fn list(&self, patience: Duration) -> Result<(u16, Vec<String>), String> {
        Ok(match self.listed(patience).await? {
            (status, Listed::Models(names)) => (status, names),
            (status, _) => (status, Vec::new()),
        })
    }

    /// Asks the server for the list of its models: the status that it answers with, and what else. Takes at most so long.
    pub(in crate::models) async fn listed(&self, patience: Duration) -> Result<(u16, Listed), String> {
        let (status, body) = self.list_text(patience).await?;
        Ok((status, body.map_or(Listed::NoList, |body| Listed::read(status, &body))))
    }

    /// Asks the server for its models by their names, each with how many tokens a request to it may have, if the server says so.
    /// Takes at most so long.
    pub(in crate::models) async fn served(
        &self,
        patience: Duration,
    ) -> Result<Vec<(String, Option<u64>)>, String> {
        let (status, body) = self.list_text(patience).await?;
        let body = body.unwrap_or_default();
        let Listed::Models(names) = Listed::read(status, &body) else { return Ok(Vec::new()) };
        let with_window = |name: String| {
            let window = listing::window(&body, &name);
            (name, window)
        };
        Ok(names.into_iter().map(with_window).collect())
    }

    /// How many tokens a request to that model may have, if the server says so in its list. Takes at most so long.
    pub(in crate::models) async fn window(&self, model: &str, patience: Duration) -> Option<u64> {
        let (_, body) = self.list_text(patience).await.ok()?;
        listing::window(&body?, model)
    }

    /// What the server answers that is asked for the list of its models; no text if it has no end.
    async fn list_text(&self, patience: Duration) -> Result<(u16, Option<Vec<u8>>), String> {
        let listed = async {
            let key = self.key().await?;
            let Provider { protocol, base_url, .. } = self.provider();
            let get = listing::request(*protocol, base_url, key.as_deref());
            let builder = client(&get.url, patience)?.get(&get.url);
            let builder = self.with_headers(builder, get).map_err(|error| error.message)?;
            let mut response = builder.send().await.map_err(describe)?;
            let status = response.status().as_u16();
            tracing::info!(host = heard::host(base_url), status, "a provider was asked for its models");
            let mut body = Vec::new();
            // One that breaks off is none: what was said of it would be wrong.
            while let Some(chunk) = response.chunk().await.map_err(describe)? {
                body.extend_from_slice(&chunk);
                if body.len() > LIST_BYTES {
                    return Ok((status, None));
                }
            }
            Ok((status, Some(self.mask().body(body))))
        };
        let late = |_| format!("there was no answer within {} s", patience.as_secs());
        tokio::time::timeout(patience, listed).await.map_err(late)?
    }
}
