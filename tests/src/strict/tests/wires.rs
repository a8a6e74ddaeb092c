//! Framing: what arrives is HTTP/1.1, however it is cut up.

use super::{
    client::{Client, JSON, KEY, Response, completion, exchange},
    least,
};
use crate::strict::{Answer, Script, StrictProvider};

/// A completion request whose body has this framing.
fn framed(framing: &str, body: &str) -> Vec<u8> {
    format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n{KEY}{JSON}{framing}\r\n\r\n{body}")
        .into_bytes()
}

fn chunked(body: &str, size: usize) -> String {
    let mut chunks: String = body.as_bytes().chunks(size).map(chunk).collect();
    chunks.push_str("0\r\nx-trailer: 1\r\n\r\n");
    chunks
}

fn chunk(bytes: &[u8]) -> String {
    format!("{:x};ext=1\r\n{}\r\n", bytes.len(), String::from_utf8_lossy(bytes))
}

fn echo() -> StrictProvider {
    StrictProvider::start(Script::each(|request| Answer::say(&request.last_user_text())))
}

#[test]
fn reads_chunked_bodies() {
    let provider = echo();
    for size in [1, 7, 4096] {
        let body = chunked(&least("hello").to_string(), size);
        let response = exchange(&provider, &framed("transfer-encoding: chunked", &body)).unwrap();
        assert_eq!(response.joined("content"), "hello", "chunks of {size}");
    }
    provider.assert_clean();
}

#[test]
fn reads_a_request_byte_by_byte() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    for byte in completion(&least("slow").to_string(), KEY, JSON) {
        client.send(&[byte]);
    }
    assert_eq!(client.receive().unwrap().joined("content"), "slow");
}

#[test]
fn keeps_a_connection_open() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    for text in ["one", "two", "three"] {
        client.post(&least(text));
        let response = client.receive().unwrap();
        assert_eq!(response.header("connection"), Some("keep-alive"));
        assert_eq!(response.joined("content"), text);
    }
    client.post(&serde_json::json!({}));
    assert_eq!(client.receive().unwrap().status, 400);
    client.post(&least("after a refusal"));
    assert_eq!(client.receive().unwrap().joined("content"), "after a refusal");
}

#[test]
fn reads_requests_sent_together() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    client.send(&[framed_text("one"), framed_text("two")].concat());
    let mut next = || client.receive().unwrap().joined("content");
    assert_eq!((next(), next()), ("one".into(), "two".into()));
}

fn framed_text(text: &str) -> Vec<u8> {
    completion(&least(text).to_string(), KEY, JSON)
}

#[test]
fn closes_when_asked() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    let body = least("bye").to_string();
    client.send(&framed(&format!("connection: close\r\ncontent-length: {}", body.len()), &body));
    assert_eq!(client.receive().unwrap().header("connection"), Some("close"));
    assert_eq!(client.receive().unwrap_err(), super::client::End::Closed);
}

#[test]
fn continues_when_expected() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    let body = least("large").to_string();
    client.send(&framed(&format!("expect: 100-continue\r\ncontent-length: {}", body.len()), ""));
    client.read_until("100 Continue\r\n\r\n");
    client.send(body.as_bytes());
    client.read_until("[DONE]");
    provider.assert_clean();
}

fn check_malformed(name: &str, request: &[u8], status: u16, fragment: &str) {
    let provider = echo();
    let response: Response = exchange(&provider, request).unwrap();
    assert_eq!(response.status, status, "{name}");
    assert!(response.error().contains(fragment), "{name}: {}", response.error());
    assert_eq!(provider.rejections().len(), 1, "{name}");
}

#[test]
fn refuses_what_is_not_http() {
    check_malformed("noise", b"\x16\x03\x01 hello\r\n\r\n", 400, "head is malformed");
    check_malformed("no host", b"GET /v1/models HTTP/1.1\r\n\r\n", 400, "no host header");
    check_malformed("length", &framed("content-length: ten", ""), 400, "content-length is not a number");
    check_malformed(
        "two lengths",
        &framed("content-length: 1\r\ntransfer-encoding: chunked", ""),
        400,
        "more than once",
    );
    check_malformed("coding", &framed("transfer-encoding: gzip", ""), 501, "chunked");
    check_malformed("chunk size", &framed("transfer-encoding: chunked", "zz\r\n"), 400, "size of a chunk");
    check_malformed(
        "chunk end",
        &framed("transfer-encoding: chunked", "1\r\nabc"),
        400,
        "longer than it announced",
    );
    check_malformed("size", &framed("content-length: 99999999999", ""), 413, "too large");
    check_malformed(
        "endless head",
        &[b"GET / HTTP/1.1\r\nx: ".as_slice(), &[b'a'; 70_000]].concat(),
        431,
        "too long",
    );
}

#[test]
fn forgets_a_request_that_never_ends() {
    let provider = echo();
    let mut client = Client::connect(&provider);
    client.send(&framed("content-length: 100", "{"));
    drop(client);
    let response = exchange(&provider, &framed_text("next")).unwrap();
    assert_eq!((response.status, provider.requests().len()), (200, 1));
}
