//! Carries requests to providers over HTTP and their answers back, whatever the protocol: both are written and read in
//! the core.

mod client;
mod following;
mod list;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hostler_core::config::typed::{Provider, Secret};
use hostler_core::model::{CallError, CallErrorKind, ModelEvent, ModelRequest};
use hostler_core::provider::extra::with_fields;
use hostler_core::provider::refusal::error_from_response;
use hostler_core::provider::wire::Post;
use hostler_core::quote::beginning;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::credentials::Credential;
use super::heard::Heard;
use super::mask::Mask;
use super::{Model, Sink};
use crate::clock::Clock;
use client::{client, describe};
use following::follow;

/// How many bytes of an error's body are read.
const ERROR_BYTES: usize = 64 << 10;

/// How much is shown of the name of a header that cannot be sent.
const HEADER_SHOWN: usize = 64;

/// Carries to one provider.
#[derive(Clone)]
pub(super) struct Carrier {
    shared: Arc<Shared>,
}

struct Shared {
    provider: Provider,
    credential: Credential,
    connect: Duration,
    clock: Clock,
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl Model for Carrier {
    fn renew(&self) {
        self.shared.credential.forget();
    }

    fn call(
        &self,
        request: ModelRequest,
        _attempt: u32,
        sink: Sink,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let carrier = self.clone();
        Box::pin(async move {
            let heard = Heard::begin(carrier.provider(), &request, &sink);
            let end = match carrier.request(&request).await {
                Ok(post) => carrier.exchange(post, &sink, &heard).await,
                Err(error) => Err(error),
            };
            heard.over();
            if let Err(error) = end {
                sink.say(ModelEvent::Failed(carrier.mask().error(error))).await;
            }
        })
    }
}

impl Carrier {
    /// `connect` is how long connecting may take.
    pub(super) fn new(provider: Provider, connect: Duration, clock: Clock) -> Self {
        let credential = Credential::new(provider.key.clone());
        Self { shared: Arc::new(Shared { provider, credential, connect, clock, client: OnceLock::new() }) }
    }

    /// Whom it carries to.
    pub(super) fn provider(&self) -> &Provider {
        &self.shared.provider
    }

    /// The key, if there is one; else why it cannot be had.
    pub(super) async fn key(&self) -> Result<Option<String>, String> {
        self.shared.credential.get().await
    }

    /// Whether its key may be another one when it is asked for again.
    pub(super) fn is_renewable(&self) -> bool {
        self.shared.credential.is_renewable()
    }

    /// What nobody may see of what comes back.
    fn mask(&self) -> Mask {
        Mask::new(self.provider(), &self.shared.credential.found())
    }

    /// An error that says which server it was: people may have several, and one of them is the one that does not run.
    fn unreachable(&self, cause: reqwest::Error) -> CallError {
        let kind = if cause.is_builder() { CallErrorKind::Protocol } else { CallErrorKind::Transport };
        let server =
            reqwest::Url::parse(&self.provider().base_url).map(|url| url.origin().ascii_serialization());
        let refused = cause.is_connect();
        let mut why = describe(cause);
        // A server on this machine has to be started by whoever wants it.
        if let Some(nearby) = self.provider().builtin.filter(|builtin| refused && builtin.is_local()) {
            why = format!("{why}, so {} does not seem to run there", nearby.name);
        }
        error(kind, &server.map_or_else(|_| why.clone(), |server| format!("{server}: {why}")))
    }

    /// What to do where a key is wanted, if none is sent: there is then none to be checked. A header may be one.
    fn without_key(&self) -> Option<String> {
        let Provider { key, headers, builtin, .. } = self.provider();
        let place = match builtin.and_then(|builtin| builtin.key_variable) {
            Some(variable) => format!("set {variable}"),
            None => "set its key, key_file or key_command in the configuration".to_owned(),
        };
        let none = key.is_none() && headers.is_empty();
        none.then(|| format!("The provider wants a key, and none is set; {place}."))
    }

    async fn request(&self, request: &ModelRequest) -> Result<reqwest::RequestBuilder, CallError> {
        let key = self.key().await.map_err(|why| error(CallErrorKind::Credentials, &why))?;
        let Provider { protocol, base_url, body, .. } = self.provider();
        let mut post = protocol.post(base_url, key.as_deref(), request);
        post.body = with_fields(post.body, body);
        let client = self.shared.client.get_or_init(|| client(&post.url, self.shared.connect)).as_ref();
        let client = client.map_err(|why| error(CallErrorKind::Protocol, why))?;
        let url = post.url.clone();
        let body = std::mem::take(&mut post.body);
        let builder =
            client.post(url).header("content-type", "application/json").header("accept", "text/event-stream");
        Ok(self.with_headers(builder, post)?.body(body))
    }

    async fn exchange(
        &self,
        request: reqwest::RequestBuilder,
        sink: &Sink,
        heard: &Heard,
    ) -> Result<(), CallError> {
        let response = request.send().await.map_err(|cause| self.unreachable(cause))?;
        heard.answered(response.status().as_u16());
        if let (401 | 403, Some(why)) = (response.status().as_u16(), self.without_key()) {
            return Err(error(CallErrorKind::Credentials, &why));
        }
        if !response.status().is_success() {
            return Err(refused(response, self.shared.clock, &self.mask()).await);
        }
        sink.say(ModelEvent::Connected).await;
        follow(response, self.shared.provider.protocol.decoder(), sink, &self.mask()).await
    }

    /// The protocol's headers, the key, and then what is configured, which goes before both.
    fn with_headers(
        &self,
        mut builder: reqwest::RequestBuilder,
        post: Post,
    ) -> Result<reqwest::RequestBuilder, CallError> {
        for (name, value) in post.headers {
            builder = builder.header(name, value);
        }
        if let Some((name, value)) = post.key {
            let value = secret(&value).ok_or_else(|| {
                let place = self.shared.credential.place();
                let message = format!("The key from {place} has characters that no key has; copy it again.");
                error(CallErrorKind::Credentials, &message)
            })?;
            builder = builder.header(name, value);
        }
        let mut own = HeaderMap::new();
        for (name, Secret(value)) in &self.provider().headers {
            let header = HeaderName::try_from(name).ok().zip(secret(value));
            let (name, value) = header.ok_or_else(|| {
                let name = beginning(name, HEADER_SHOWN);
                let message =
                    format!("The header {name} of the configuration has characters that no header has.");
                error(CallErrorKind::Protocol, &message)
            })?;
            own.insert(name, value);
        }
        Ok(builder.headers(own))
    }
}

/// A header's value that is never shown.
fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

async fn refused(mut response: reqwest::Response, clock: Clock, mask: &Mask) -> CallError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let headers: Vec<_> =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= ERROR_BYTES {
            break;
        }
    }
    error_from_response(status, &headers, &mask.body(body), clock.now().as_millis())
}

fn error(kind: CallErrorKind, message: &str) -> CallError {
    CallError { kind, message: message.to_owned(), retry_after: None, should_retry: None }
}
