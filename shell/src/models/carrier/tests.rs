//! A server on the loopback interface that says one thing, and what the carrier makes of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use hostler_core::config::Config;
use hostler_core::config::merge::{Layer, Source, merge};
use hostler_core::config::tree::Node;
use hostler_core::config::typed::{defaults, environment};
use hostler_core::ids::{AttemptId, SessionId, StepId, TurnId};
use hostler_core::model::{Item, ModelRef};
use hostler_core::session::Input as SessionInput;
use hostler_core::workspace::Input;
use tokio::sync::mpsc;

use super::client::is_near;
use super::*;
use crate::driver::Message;

const CONNECT: Duration = Duration::from_secs(5);

/// What the server was sent, and what the model said.
struct Exchange {
    sent: String,
    events: Vec<ModelEvent>,
}

/// Asks a provider whose server answers so.
fn ask(provider: &str, key: Option<&str>, answer: &'static str) -> Exchange {
    ask_as_configured(provider, key, answer, None)
}

fn ask_as_configured(
    provider: &str,
    key: Option<&str>,
    answer: &'static str,
    configured: Option<Layer>,
) -> Exchange {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || serve(&listener, answer));
    let variable = |name: &str| match name.rsplit_once('_') {
        Some((_, "URL")) => Some(url.clone()),
        _ => key.map(str::to_owned),
    };
    let mut layers = vec![defaults()];
    layers.extend(environment(variable));
    layers.extend(configured);
    let config = Config::from(&merge(&layers)).unwrap();
    let events = events(&Carrier::new(config.providers[provider].clone(), CONNECT, Clock::start()), provider);
    Exchange { sent: server.join().unwrap(), events }
}

fn serve(listener: &TcpListener, answer: &str) -> String {
    let (mut connection, _) = listener.accept().unwrap();
    let mut sent = Vec::new();
    let mut chunk = [0; 4096];
    // Every body here ends with `}`, and no header does.
    while !sent.ends_with(b"}") {
        let count = connection.read(&mut chunk).unwrap();
        sent.extend_from_slice(&chunk[..count]);
    }
    connection.write_all(answer.as_bytes()).unwrap();
    String::from_utf8_lossy(&sent).into_owned()
}

fn events(carrier: &Carrier, provider: &str) -> Vec<ModelEvent> {
    let request = ModelRequest {
        model: ModelRef { provider: provider.into(), model: "m".into() },
        system: String::new(),
        tools: Vec::new(),
        items: vec![Item::User { text: "Hi".into(), media: Vec::new() }],
    };
    let (sender, mut receiver) = mpsc::channel(64);
    let attempt = AttemptId { step: StepId { turn: TurnId(1), step: 1 }, attempt: 1 };
    let sink = Sink::of_attempt(sender, SessionId::new("s"), attempt);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(carrier.call(request, 1, sink));
    let mut events = Vec::new();
    while let Ok(Message::Input(Input::Session { input: SessionInput::Model { event, .. }, .. })) =
        receiver.try_recv()
    {
        events.push(event);
    }
    events
}

/// Checks that what is sent has those lines, and that "Hello" comes back.
#[track_caller]
fn check(provider: &str, lines: &[&str], answer: &'static str) {
    let Exchange { sent, events } = ask(provider, Some("k"), answer);
    for line in lines {
        assert!(sent.contains(&format!("{line}\r\n")), "{line} in {sent}");
    }
    let text = |event: &ModelEvent| match event {
        ModelEvent::Text { text, .. } => text.clone(),
        _ => String::new(),
    };
    assert_eq!(events.first(), Some(&ModelEvent::Connected));
    assert_eq!(events.iter().map(text).collect::<String>(), "Hello", "{events:?}");
    assert!(matches!(events.last(), Some(ModelEvent::Finished(_))), "{events:?}");
}

#[test]
fn every_protocol_finds_its_way() {
    check(
        "openai",
        &["POST /chat/completions HTTP/1.1", "authorization: Bearer k", "content-type: application/json"],
        "HTTP/1.1 200 OK\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    check(
        "anthropic",
        &["POST /v1/messages HTTP/1.1", "x-api-key: k", "anthropic-version: 2023-06-01"],
        concat!(
            "HTTP/1.1 200 OK\r\n\r\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ),
    );
    check(
        "openai-responses",
        &["POST /responses HTTP/1.1", "authorization: Bearer k"],
        concat!(
            "HTTP/1.1 200 OK\r\n\r\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hello\"}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
        ),
    );
}

#[test]
fn gemini_is_asked_in_its_own_way() {
    check(
        "gemini",
        &["POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1", "x-goog-api-key: k"],
        "HTTP/1.1 200 OK\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
    );
}

#[test]
fn a_refusal_is_read() {
    let answer = concat!(
        "HTTP/1.1 529 Overloaded\r\nretry-after: 3\r\n\r\n",
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    );
    let Exchange { sent, events } = ask("anthropic", None, answer);
    assert!(!sent.contains("x-api-key"), "{sent}");
    let [ModelEvent::Failed(error)] = &events[..] else { panic!("{events:?}") };
    let kind = CallErrorKind::Status { status: 529, code: "overloaded_error".into() };
    assert_eq!((&error.kind, error.retry_after), (&kind, Some(3000)));
}

#[test]
fn a_date_is_as_far_off_as_the_clock_says() {
    let wait = |answer| {
        let Exchange { events, .. } = ask("openai", Some("k"), answer);
        let [ModelEvent::Failed(error)] = &events[..] else { panic!("{events:?}") };
        error.retry_after
    };
    let past = "HTTP/1.1 503 Busy\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
    assert_eq!(wait(past), Some(0));
    let (before, year_2100) = (Clock::start().now().as_millis(), 4_102_444_800_000);
    let far = wait("HTTP/1.1 503 Busy\r\nretry-after: Fri, 01 Jan 2100 00:00:00 GMT\r\n\r\n").unwrap();
    let after = Clock::start().now().as_millis();
    assert!((year_2100 - after..=year_2100 - before).contains(&far), "{far}");
}

#[test]
fn a_key_that_cannot_be_one_is_not_sent() {
    let mut layers = vec![defaults()];
    layers.extend(environment(|name| (name == "ANTHROPIC_API_KEY").then(|| "a\nb".into())));
    let config = Config::from(&merge(&layers)).unwrap();
    let events =
        events(&Carrier::new(config.providers["anthropic"].clone(), CONNECT, Clock::start()), "anthropic");
    let [ModelEvent::Failed(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(error.kind, CallErrorKind::Credentials);
    assert!(error.message.contains("ANTHROPIC_API_KEY"), "{error:?}");
}

#[test]
fn what_is_configured_goes_along_and_before_our_own() {
    let answer = "HTTP/1.1 200 OK\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n";
    let extra = [
        (
            "headers".into(),
            Node::object(
                [("x-team".into(), Node::text("blue")), ("Authorization".into(), Node::text("Basic b"))]
                    .into(),
            ),
        ),
        ("body".into(), Node::object([("temperature".into(), Node::text("warm"))].into())),
    ];
    let root = Node::object(extra.into()).below(&["providers", "openai"]);
    let layer = Layer { source: Source::User("u".into()), root, trusted: true };
    let Exchange { sent, .. } = ask_as_configured("openai", Some("k"), answer, Some(layer));
    assert!(sent.contains("x-team: blue\r\n") && sent.contains("authorization: Basic b\r\n"), "{sent}");
    assert!(!sent.contains("Bearer") && sent.ends_with(",\"temperature\":\"warm\"}"), "{sent}");
}

#[test]
fn only_what_is_on_this_machine_is_near() {
    for url in ["http://localhost:1/v1", "http://127.9.9.9/v1", "http://[::1]:11434", "https://a.LOCALHOST/"]
    {
        assert!(is_near(url), "{url}");
    }
    for url in [
        "http://localhost.example.com/",
        "http://127.example.com",
        "http://[fe80::1]/",
        "http://10.0.0.1",
        "",
    ] {
        assert!(!is_near(url), "{url}");
    }
}
