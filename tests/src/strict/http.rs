//! Reading requests: the head, then a body framed by length or in chunks, on a connection that is kept open.

mod body;
mod write;

pub(super) use write::{Body, Cut, EndKind, Interrupted, Split, head, respond};

use super::reject::Rejection;
use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

/// One request as read from the wire.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Whether the client may send another request on the same connection.
    pub(super) keep_alive: bool,
}

impl Request {
    /// The target without its query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// What follows the question mark of the target; empty when there is none.
    pub(super) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The first value of the header field `name`, given in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    fn lists(&self, name: &str, token: &str) -> bool {
        let value = self.header(name).unwrap_or_default();
        value.split(',').any(|item| item.trim().eq_ignore_ascii_case(token))
    }
}

/// Why no request could be read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The connection ended.
    Closed,
    /// What arrived is not HTTP; what could be read of it comes along.
    Malformed(Box<Request>, Rejection),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// The reading half of a connection, with what arrived beyond the last request.
pub(super) struct Wire<'a> {
    stream: &'a TcpStream,
    buffer: Vec<u8>,
}

impl<'a> Wire<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Reads the next request.
    pub(super) fn read(&mut self) -> Result<Request, ReadError> {
        let mut request = self.read_head()?;
        if request.lists("expect", "100-continue") {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        match self.read_body(&request) {
            Ok(Ok(body)) => Ok(Request { body, ..request }),
            Ok(Err(rejection)) => {
                request.keep_alive = false;
                Err(ReadError::Malformed(Box::new(request), rejection))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn read_head(&mut self) -> Result<Request, ReadError> {
        loop {
            match parse_head(&self.buffer) {
                Ok(Some((length, request))) => {
                    self.buffer.drain(..length);
                    return Ok(request);
                }
                Ok(None) if self.buffer.len() <= MAX_HEAD => self.fill()?,
                Ok(None) => return Err(malformed(431, "The request head is too long.".to_owned())),
                Err(message) => return Err(malformed(400, message)),
            }
        }
    }

    /// Reads at least one more byte.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.buffer.extend_from_slice(&bytes[..count]);
                Ok(())
            }
        }
    }
}

fn malformed(status: u16, message: String) -> ReadError {
    ReadError::Malformed(Box::default(), Rejection::new(status, message))
}

/// The head at the start of `bytes` and its length, or nothing while it is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<(usize, Request)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let parsed = head.parse(bytes).map_err(|error| format!("The request head is malformed: {error}."))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    let mut request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        headers: head.headers.iter().map(header).collect(),
        ..Request::default()
    };
    let persistent = head.version == Some(1);
    request.keep_alive = persistent && !request.lists("connection", "close");
    if persistent && request.header("host").is_none() {
        return Err("The request has no host header.".to_owned());
    }
    Ok(Some((length, request)))
}

fn header(header: &httparse::Header<'_>) -> (String, String) {
    (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned())
}
