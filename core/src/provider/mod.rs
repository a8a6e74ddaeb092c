//! The protocols that language models are spoken to in: requests become bodies, streams become events.
//!
//! Nothing here connects to anything: the shell carries bytes both ways. [`sse`] takes a stream of bytes apart into
//! events, whatever they mean; [`chat`] knows the OpenAI-compatible chat completions; [`retry`] reads from any
//! provider's headers when to try again. Whether to try again is not decided here.

pub mod chat;
pub(crate) mod excerpt;
mod http_date;
pub mod retry;
pub mod sse;

#[cfg(test)]
mod tests {
    /// Splits bytes into chunks of those sizes, over and over.
    pub(crate) fn split<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            let (chunk, rest) = bytes.split_at((*size).min(bytes.len()));
            chunks.push(chunk);
            bytes = rest;
            if bytes.is_empty() {
                break;
            }
        }
        chunks
    }
}
