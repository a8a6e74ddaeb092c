//! Chat completions over HTTP: carries a request out and its answer back. Both are written and read in the core.

use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use hostler_core::model::{CallError, CallErrorKind, ModelEvent, ModelRequest};
use hostler_core::provider::chat::{ChatDecoder, body, error_from_response};

use super::{Model, Sink};

/// Where chat completions are served.
const OPENAI: &str = "https://api.openai.com/v1";

/// How many bytes of an error's body are read.
const ERROR_BYTES: usize = 64 << 10;

/// A server of chat completions, and the key to it.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// Its base URL, with the version but without `/chat/completions`; OpenAI's own if none.
    pub base_url: Option<String>,
    /// The key; none for servers that want none.
    pub key: Option<String>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.as_ref().map(|_| "(secret)");
        f.debug_struct("Endpoint").field("base_url", &self.base_url).field("key", &key).finish()
    }
}

impl Endpoint {
    /// What the environment says: `OPENAI_BASE_URL` and `OPENAI_API_KEY`. Empty counts as not set.
    pub fn from_env() -> Self {
        let var = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Self { base_url: var("OPENAI_BASE_URL"), key: var("OPENAI_API_KEY") }
    }

    fn url(&self) -> String {
        let base = self.base_url.as_deref().unwrap_or(OPENAI);
        format!("{}/chat/completions", base.trim_end_matches('/'))
    }
}

/// The model behind an endpoint.
pub(super) struct Chat {
    endpoint: Endpoint,
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl Model for Chat {
    fn call(
        &self,
        request: ModelRequest,
        _attempt: u32,
        sink: Sink,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let request = self.request(&request);
        Box::pin(async move {
            let end = match request {
                Ok(request) => exchange(request, &sink).await,
                Err(error) => Err(error),
            };
            if let Err(error) = end {
                sink.say(ModelEvent::Failed(error)).await;
            }
        })
    }
}

impl Chat {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, client: OnceLock::new() }
    }

    fn request(&self, request: &ModelRequest) -> Result<reqwest::RequestBuilder, CallError> {
        let url = self.endpoint.url();
        let client = self.client.get_or_init(|| client(&url)).as_ref();
        let client = client.map_err(|why| error(CallErrorKind::Protocol, why))?;
        let mut post =
            client.post(url).header("content-type", "application/json").header("accept", "text/event-stream");
        if let Some(key) = &self.endpoint.key {
            post = post.bearer_auth(key);
        }
        Ok(post.body(body(request)))
    }
}

/// A client for that URL. Reading the platform's certificates takes longer than all the rest of a start, so it is done
/// only for a URL that needs them.
fn client(url: &str) -> Result<reqwest::Client, String> {
    // A second installation is refused, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().user_agent(concat!("hostler/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http://") {
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| describe(&error))
}

async fn exchange(request: reqwest::RequestBuilder, sink: &Sink) -> Result<(), CallError> {
    let response = request.send().await.map_err(|error| unreachable_error(&error))?;
    if !response.status().is_success() {
        return Err(refused(response).await);
    }
    sink.say(ModelEvent::Connected).await;
    follow(response, sink).await
}

/// Passes the stream on until the answer is complete, broken or over.
async fn follow(mut response: reqwest::Response, sink: &Sink) -> Result<(), CallError> {
    let mut decoder = ChatDecoder::default();
    let mut events = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match &chunk {
            Ok(Some(bytes)) => decoder.push(bytes, &mut events),
            Ok(None) | Err(_) => decoder.end(&mut events),
        }
        for event in events.drain(..) {
            let last = matches!(event, ModelEvent::Finished(_) | ModelEvent::Failed(_));
            let event = match (event, &chunk) {
                (ModelEvent::Failed(failed), Err(error)) if failed.kind == CallErrorKind::Truncated => {
                    ModelEvent::Failed(self::error(CallErrorKind::Truncated, &describe(error)))
                }
                (event, _) => event,
            };
            sink.say(event).await;
            if last {
                return Ok(());
            }
        }
    }
}

async fn refused(mut response: reqwest::Response) -> CallError {
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
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    error_from_response(status, &headers, &body, u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

fn unreachable_error(cause: &reqwest::Error) -> CallError {
    let kind = if cause.is_builder() { CallErrorKind::Protocol } else { CallErrorKind::Transport };
    error(kind, &describe(cause))
}

fn error(kind: CallErrorKind, message: &str) -> CallError {
    CallError { kind, message: message.to_owned(), retry_after: None, should_retry: None }
}

/// What went wrong, with its causes, in one line and without the URL's query, where keys may be.
fn describe(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.contains(&part) {
            let gap = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{gap}{part}");
        }
        cause = error.source();
    }
    text
}
