//! Carries requests to providers over HTTP and their answers back, whatever the protocol: both are written and read in
//! the core.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use hostler_core::config::typed::{Provider, Secret};
use hostler_core::model::{CallError, CallErrorKind, ModelEvent, ModelRequest, join_adjacent};
use hostler_core::provider::extra::with_fields;
use hostler_core::provider::listing::{self, Listed};
use hostler_core::provider::refusal::error_from_response;
use hostler_core::provider::stream::Decoder;
use hostler_core::provider::wire::Post;
use hostler_core::quote::beginning;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::credentials::Credential;
use super::heard::{self, Heard};
use super::mask::{Mask, Sieve};
use super::names::Names;
use super::{Model, Sink};
use crate::clock::Clock;

/// How many bytes of an error's body are read.
const ERROR_BYTES: usize = 64 << 10;

/// How many bytes a list of models may have.
const LIST_BYTES: usize = 4 << 20;

/// How much is shown of the name of a header that cannot be sent.
const HEADER_SHOWN: usize = 64;

/// How many bytes of a stream are taken in before what they say is passed on.
const READ_BYTES: usize = 64 << 10;

/// How often the task that reads a connection is given a chance to bring more.
const CHANCES: u32 = 2;

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
        if !response.status().is_success() {
            return Err(refused(response, self.shared.clock, &self.mask()).await);
        }
        sink.say(ModelEvent::Connected).await;
        follow(response, self.shared.provider.protocol.decoder(), sink, &self.mask()).await
    }

    /// Asks the server for the list of its models: the status that it answers with, and their names. Takes at most so long.
    pub(super) async fn list(&self, patience: Duration) -> Result<(u16, Vec<String>), String> {
        Ok(match self.listed(patience).await? {
            (status, Listed::Models(names)) => (status, names),
            (status, _) => (status, Vec::new()),
        })
    }

    /// Asks the server for the list of its models: the status that it answers with, and what else. Takes at most so long.
    pub(super) async fn listed(&self, patience: Duration) -> Result<(u16, Listed), String> {
        let (status, body) = self.list_text(patience).await?;
        Ok((status, body.map_or(Listed::NoList, |body| Listed::read(status, &body))))
    }

    /// How many tokens a request to that model may have, if the server says so in its list. Takes at most so long.
    pub(super) async fn window(&self, model: &str, patience: Duration) -> Option<u64> {
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

/// A client for that URL. Reading the platform's certificates takes longer than all the rest of a start, so it is done
/// only for a URL that needs them. Servers nearby close idle connections without a word, and a new one costs nothing
/// there; so only the others are kept.
fn client(url: &str, connect: Duration) -> Result<reqwest::Client, String> {
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
fn is_near(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address
        .map_or_else(|_| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

/// Passes the stream on until the answer is complete, broken or over.
async fn follow(
    mut response: reqwest::Response,
    mut decoder: Box<dyn Decoder>,
    sink: &Sink,
    mask: &Mask,
) -> Result<(), CallError> {
    let (mut sieve, mut spread) = (mask.sieve(), mask.spread());
    loop {
        let (events, broken) = read(&mut response, &mut sieve, &mut *decoder).await;
        let events = events.into_iter().flat_map(|event| spread.push(event)).collect();
        for event in join_adjacent(events) {
            let last = matches!(event, ModelEvent::Finished(_) | ModelEvent::Failed(_));
            let event = match (event, &broken) {
                (ModelEvent::Failed(failed), Some(why)) if failed.kind == CallErrorKind::Truncated => {
                    ModelEvent::Failed(error(CallErrorKind::Truncated, why))
                }
                (event, _) => event,
            };
            sink.say(mask.event(event)).await;
            if last {
                return Ok(());
            }
        }
    }
}

/// Waits for more of the stream and takes in all that has come, within limits; also says why there will be no more, if
/// the connection broke.
async fn read(
    response: &mut reqwest::Response,
    sieve: &mut Sieve,
    decoder: &mut dyn Decoder,
) -> (Vec<ModelEvent>, Option<String>) {
    let mut events = Vec::new();
    let mut next = Some(response.chunk().await);
    let mut bytes = 0;
    while let Some(chunk) = next {
        match chunk {
            Ok(Some(chunk)) => {
                bytes += chunk.len();
                decoder.push(&sieve.push(chunk), &mut events);
            }
            Ok(None) => {
                decoder.push(&sieve.rest(), &mut events);
                decoder.end(&mut events);
                break;
            }
            Err(error) => {
                decoder.push(&sieve.rest(), &mut events);
                decoder.end(&mut events);
                return (events, Some(describe(error)));
            }
        }
        next = if bytes < READ_BYTES { at_hand(response).await } else { None };
    }
    (events, None)
}

/// The next chunk if it has come already. The connection is read by a task of its own, a chunk at a time, so that task
/// is given a chance.
async fn at_hand(response: &mut reqwest::Response) -> Option<reqwest::Result<Option<bytes::Bytes>>> {
    for _ in 0..CHANCES {
        let chunk = tokio::select! {
            biased;
            chunk = response.chunk() => Some(chunk),
            () = others_first() => None,
        };
        if chunk.is_some() {
            return chunk;
        }
    }
    None
}

/// Lets the tasks run that are ready. Unlike tokio's own yielding it does not look for news from the system first, which
/// would cost more than all the rest.
async fn others_first() {
    let mut had_their_turn = false;
    std::future::poll_fn(|context| {
        if had_their_turn {
            return Poll::Ready(());
        }
        had_their_turn = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
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

/// What went wrong, with its causes, in one line and without the URL, where keys may be.
fn describe(error: reqwest::Error) -> String {
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

#[cfg(test)]
#[path = "carrier_tests.rs"]
mod tests;
