//! A server that is as fast as a server can be: answers are bytes before they are asked for, requests are not looked
//! at, and the time of the first byte of the first one is noted.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::Measured;

/// The bytes of a response, in the pieces in which they are written.
#[derive(Clone)]
pub(crate) struct Response(Arc<Vec<Vec<u8>>>);

impl Response {
    /// An event stream in which each event is a piece.
    pub(crate) fn stream(events: impl Iterator<Item = String>) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunks = events.map(|event| format!("{:x}\r\n{event}\r\n", event.len()));
        let pieces = [head.to_owned()].into_iter().chain(chunks).chain(["0\r\n\r\n".to_owned()]);
        Self(Arc::new(pieces.map(String::into_bytes).collect()))
    }

    /// The same bytes, written at once.
    pub(crate) fn in_one_piece(self) -> Self {
        Self(Arc::new(vec![self.0.concat()]))
    }
}

/// A server on loopback that lasts as long as the process.
pub(crate) struct Server {
    address: SocketAddr,
    stage: Arc<Mutex<Stage>>,
}

#[derive(Default)]
struct Stage {
    script: VecDeque<Response>,
    first_byte: Option<Instant>,
}

impl Server {
    pub(crate) fn start() -> Measured<Self> {
        let problem = |error: std::io::Error| format!("the server does not start: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(problem)?;
        let address = listener.local_addr().map_err(problem)?;
        let stage = Arc::new(Mutex::new(Stage::default()));
        let shared = Arc::clone(&stage);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stage = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &stage));
            }
        });
        Ok(Self { address, stage })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What the next requests are answered, one each.
    pub(crate) fn load(&self, script: Vec<Response>) {
        *lock(&self.stage) = Stage { script: script.into(), first_byte: None };
    }

    /// When the first byte of the first request since then came.
    pub(crate) fn first_byte(&self) -> Option<Instant> {
        lock(&self.stage).first_byte
    }
}

fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers requests until the client goes away or there is nothing left to say.
fn serve(mut stream: TcpStream, stage: &Mutex<Stage>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while read(&mut stream, stage).is_some() {
        let Some(response) = lock(stage).script.pop_front() else { return };
        for piece in response.0.iter() {
            if stream.write_all(piece).is_err() {
                return;
            }
        }
    }
}

/// Reads a request to its end; none if there is no more.
fn read(stream: &mut TcpStream, stage: &Mutex<Stage>) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    let mut whole = None;
    while whole.is_none_or(|whole| bytes.len() < whole) {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        lock(stage).first_byte.get_or_insert_with(Instant::now);
        bytes.extend_from_slice(buffer.get(..count)?);
        whole = whole.or_else(|| length(&bytes));
    }
    Some(())
}

/// How long the request is with its body, once its head is there.
fn length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(bytes.get(..head)?).to_ascii_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    Some(head + body.and_then(|length| length.trim().parse().ok()).unwrap_or(0))
}
