//! A client of raw sockets, which sees every byte and how the connection ended.

use crate::strict::{Protocol, StrictProvider};
use serde_json::Value;
use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As its framing announced.
    Complete,
    /// The connection was closed before that.
    Closed,
    /// The connection was reset before that.
    Reset,
}

/// A response, as far as it arrived.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The sizes of the chunks that arrived in full.
    pub(super) chunks: Vec<usize>,
    pub(super) end: End,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(super) fn error(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap().to_owned()
    }

    /// The data of every event that is JSON.
    pub(super) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The text of all deltas named `field`, joined.
    pub(super) fn joined(&self, field: &str) -> String {
        let deltas = self.events();
        deltas.iter().filter_map(|event| event["choices"][0]["delta"][field].as_str()).collect()
    }
}

/// One connection.
pub(super) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(super) fn connect(provider: &StrictProvider) -> Self {
        let stream = TcpStream::connect(provider.address()).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(super) fn post(&mut self, body: &Value) {
        self.send(&completion(&body.to_string(), KEY, JSON));
    }

    /// Reads until the bytes of the response contain `text`.
    pub(super) fn read_until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.buffer).contains(text) {
            assert!(self.fill().unwrap() > 0, "the connection closed before {text:?}");
        }
    }

    /// Reads one response as far as it goes; none when the connection ends without a head.
    pub(super) fn receive(&mut self) -> Result<Response, End> {
        loop {
            if let Some((length, mut response)) = head(&self.buffer) {
                self.buffer.drain(..length);
                response.end = self.body(&mut response);
                return Ok(response);
            }
            self.more()?;
        }
    }

    fn body(&mut self, response: &mut Response) -> End {
        let length = response.header("content-length").map(|length| length.parse::<usize>().unwrap());
        let read = match length {
            Some(length) => self.take(length, &mut response.body),
            None => self.chunked(response),
        };
        read.err().unwrap_or(End::Complete)
    }

    fn chunked(&mut self, response: &mut Response) -> Result<(), End> {
        loop {
            while !self.buffer.windows(2).any(|pair| pair == b"\r\n") {
                self.more()?;
            }
            let end = self.buffer.windows(2).position(|pair| pair == b"\r\n").unwrap();
            let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let size = usize::from_str_radix(std::str::from_utf8(&line[..end]).unwrap(), 16).unwrap();
            self.take(size, &mut response.body)?;
            let mut line_end = Vec::new();
            self.take(2, &mut line_end)?;
            assert_eq!(line_end, b"\r\n");
            if size == 0 {
                return Ok(());
            }
            response.chunks.push(size);
        }
    }

    /// Moves `count` bytes to `to`, or as many as arrive.
    fn take(&mut self, count: usize, to: &mut Vec<u8>) -> Result<(), End> {
        while self.buffer.len() < count {
            if let Err(end) = self.more() {
                to.append(&mut self.buffer);
                return Err(end);
            }
        }
        to.extend(self.buffer.drain(..count));
        Ok(())
    }

    fn more(&mut self) -> Result<(), End> {
        match self.fill() {
            Ok(0) => Err(End::Closed),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(End::Reset),
            Err(error) => panic!("reading failed: {error}"),
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 8192];
        let count = self.stream.read(&mut bytes)?;
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
}

pub(super) const KEY: &str = "authorization: Bearer sk-test\r\n";
pub(super) const JSON: &str = "content-type: application/json\r\n";

/// A completion request with these header lines.
pub(super) fn completion(body: &str, authorization: &str, kind: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n{authorization}{kind}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends raw bytes on a connection of their own and reads the response.
pub(super) fn exchange(provider: &StrictProvider, bytes: &[u8]) -> Result<Response, End> {
    let mut client = Client::connect(provider);
    client.send(bytes);
    client.receive()
}

/// Posts a completion request on a connection of its own and reads the response.
pub(super) fn post(provider: &StrictProvider, body: &Value) -> Result<Response, End> {
    exchange(provider, &completion(&body.to_string(), KEY, JSON))
}

/// A request for an answer in that protocol, with the head that it wants. The model is `strict-1` where it is in the
/// path.
pub(super) fn request(protocol: Protocol, body: &str) -> Vec<u8> {
    let (path, own) = match protocol {
        Protocol::Chat => ("/v1/chat/completions", KEY),
        Protocol::Messages => ("/v1/messages", "x-api-key: sk-test\r\nanthropic-version: 2023-06-01\r\n"),
        Protocol::Responses => ("/v1/responses", KEY),
        Protocol::Gemini => {
            ("/v1beta/models/strict-1:streamGenerateContent?alt=sse", "x-goog-api-key: sk-test\r\n")
        }
    };
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: x\r\n{own}{JSON}content-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Asks for an answer in that protocol on a connection of its own and reads the response.
pub(super) fn ask(provider: &StrictProvider, protocol: Protocol, body: &Value) -> Result<Response, End> {
    exchange(provider, &request(protocol, &body.to_string()))
}

fn head(bytes: &[u8]) -> Option<(usize, Response)> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(bytes).unwrap() else { return None };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = head.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect();
    let status = head.code.unwrap();
    Some((length, Response { status, headers, body: Vec::new(), chunks: Vec::new(), end: End::Complete }))
}
