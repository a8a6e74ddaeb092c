//! Writing responses: whole ones with a length, streamed ones in chunks that can be cut anywhere.

use std::{
    io::{self, Write},
    net::TcpStream,
};

/// How a cut response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strict) enum EndKind {
    /// An orderly close between two chunks.
    Close,
    /// A connection reset.
    Reset,
    /// An orderly close inside a chunk.
    InsideChunk,
}

/// Where and how a streamed body is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strict) struct Cut {
    /// How many bytes of the body arrive before it.
    pub(in crate::strict) at: usize,
    /// What happens then.
    pub(in crate::strict) end: EndKind,
}

/// Into which chunks a streamed body is cut up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strict) enum Split {
    /// Each holds at most so many bytes, and no more than one event.
    Pieces(usize),
    /// Sizes at random from this state, whatever they hold.
    Random(u64),
}

/// The largest chunk of a body that is cut up at random.
const LARGEST: u64 = 64;

impl Split {
    /// The size of the next chunk.
    fn next(&mut self) -> usize {
        match self {
            Self::Pieces(size) => (*size).max(1),
            Self::Random(state) => {
                // The constants of a linear congruential generator of 64 bits; its high bits are the good ones.
                *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                usize::try_from((*state >> 33) % LARGEST).map_or(1, |size| size + 1)
            }
        }
    }
}

/// How many bytes a chunk that is never completed announces beyond those it holds.
const MISSING: usize = 64;

/// Why a body could not be written to its end.
#[derive(Debug)]
pub(in crate::strict) enum Interrupted {
    /// The script cut it.
    Cut(EndKind),
    /// The client no longer takes it.
    Gone,
}

impl From<io::Error> for Interrupted {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// A streamed body being written.
pub(in crate::strict) struct Body<'a> {
    stream: &'a TcpStream,
    sent: usize,
    cut: Option<Cut>,
    split: Split,
}

impl<'a> Body<'a> {
    /// A body that is cut at `cut` and comes in chunks as `split` says.
    pub(in crate::strict) fn new(stream: &'a TcpStream, cut: Option<Cut>, split: Split) -> Self {
        Self { stream, sent: 0, cut, split }
    }

    /// Sends `bytes`, up to the cut.
    pub(in crate::strict) fn send(&mut self, bytes: &[u8]) -> Result<(), Interrupted> {
        match self.cut {
            Some(cut) if self.sent + bytes.len() >= cut.at => {
                self.cut_off(&bytes[..cut.at - self.sent], cut.end)
            }
            _ => self.send_pieces(bytes),
        }
    }

    /// Ends the body. A cut that lies beyond it takes the place of its end.
    pub(in crate::strict) fn finish(&mut self) -> Result<(), Interrupted> {
        match self.cut {
            Some(cut) => self.cut_off(b"", cut.end),
            None => Ok(self.stream.write_all(b"0\r\n\r\n")?),
        }
    }

    fn send_pieces(&mut self, bytes: &[u8]) -> Result<(), Interrupted> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.split.next().min(rest.len()));
            self.send_chunk(piece, piece.len())?;
            rest = after;
        }
        Ok(())
    }

    fn send_chunk(&mut self, bytes: &[u8], announced: usize) -> Result<(), Interrupted> {
        let mut chunk = format!("{announced:x}\r\n").into_bytes();
        chunk.extend_from_slice(bytes);
        if announced == bytes.len() {
            chunk.extend_from_slice(b"\r\n");
        }
        self.stream.write_all(&chunk)?;
        self.sent += bytes.len();
        Ok(())
    }

    fn cut_off(&mut self, last: &[u8], end: EndKind) -> Result<(), Interrupted> {
        if end == EndKind::InsideChunk {
            self.send_chunk(last, last.len() + MISSING)?;
        } else {
            self.send_pieces(last)?;
        }
        Err(Interrupted::Cut(end))
    }
}

/// Writes the head of a response; `framing` is the header field that tells where its body ends.
pub(in crate::strict) fn head(
    stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    framing: (&str, &str),
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n{}: {}\r\n", reason(status), framing.0, framing.1);
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let mut stream = stream;
    stream.write_all(head.as_bytes())
}

/// Writes a whole response.
pub(in crate::strict) fn respond(
    stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<()> {
    head(stream, status, headers, ("content-length", &body.len().to_string()))?;
    let mut stream = stream;
    stream.write_all(body.as_bytes())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
