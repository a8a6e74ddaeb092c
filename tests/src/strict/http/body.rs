//! Request bodies: by `content-length`, in chunks, or none.

use super::{Request, Wire};
use crate::strict::reject::Rejection;
use std::io;

const MAX_BODY: usize = 64 * 1024 * 1024;

/// A body, or why it was refused; the outer error is the connection's end.
type Read<T> = io::Result<Result<T, Rejection>>;

impl Wire<'_> {
    /// Reads the body that the head of `request` announces.
    pub(super) fn read_body(&mut self, request: &Request) -> Read<Vec<u8>> {
        let lengths: Vec<_> = request.headers.iter().filter(|(name, _)| name == "content-length").collect();
        match (request.header("transfer-encoding"), &lengths[..]) {
            (None, []) => Ok(Ok(Vec::new())),
            (None, [(_, length)]) => self.read_fixed(length),
            (Some(coding), []) if coding.eq_ignore_ascii_case("chunked") => self.read_chunked(),
            (Some(_), []) => refuse(501, "The only transfer coding understood is chunked."),
            _ => refuse(400, "The request announces the length of its body more than once."),
        }
    }

    fn read_fixed(&mut self, length: &str) -> Read<Vec<u8>> {
        match length.parse::<usize>() {
            Ok(length) if length > MAX_BODY => too_large(),
            Ok(length) => self.take(length).map(Ok),
            Err(_) => refuse(400, "The content-length is not a number."),
        }
    }

    fn read_chunked(&mut self) -> Read<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = match self.read_chunk_size()? {
                Ok(0) => break,
                Ok(size) if body.len().saturating_add(size) > MAX_BODY => return too_large(),
                Ok(size) => size,
                Err(rejection) => return Ok(Err(rejection)),
            };
            body.extend(self.take(size)?);
            if self.take(2)? != b"\r\n" {
                return refuse(400, "A chunk of the body is longer than it announced.");
            }
        }
        while !self.take_line()?.is_empty() {}
        Ok(Ok(body))
    }

    fn read_chunk_size(&mut self) -> Read<usize> {
        loop {
            match httparse::parse_chunk_size(&self.buffer) {
                Ok(httparse::Status::Complete((start, size))) => {
                    self.buffer.drain(..start);
                    return Ok(Ok(usize::try_from(size).unwrap_or(usize::MAX)));
                }
                Ok(httparse::Status::Partial) => self.fill()?,
                Err(_) => return refuse(400, "The size of a chunk is not a number."),
            }
        }
    }

    /// Exactly `count` bytes.
    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < count {
            self.fill()?;
        }
        Ok(self.buffer.drain(..count).collect())
    }

    /// The next line without its end.
    fn take_line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let mut line = self.take(end + 2)?;
                line.truncate(end);
                return Ok(line);
            }
            self.fill()?;
        }
    }
}

fn refuse<T>(status: u16, message: &str) -> Read<T> {
    Ok(Err(Rejection::new(status, message)))
}

fn too_large<T>() -> Read<T> {
    refuse(413, "The request body is too large.")
}
