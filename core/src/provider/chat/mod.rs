//! The chat completions of OpenAI, and of everybody who offers the same: llama.cpp, Ollama, DeepSeek and the rest.
//!
//! [`body`] writes a request; [`decoder`] reads the stream that answers it. What was thought is read and never sent
//! back: the protocol has no place for it.

mod calls;
mod decode;
mod request;
mod thoughts;
mod wire;

#[cfg(test)]
mod legality;
#[cfg(test)]
mod transcripts;

use alloc::boxed::Box;

use super::stream::{Decoder, Stream};
pub use request::body;

/// Reads a stream of chat completions.
pub fn decoder() -> Box<dyn Decoder> {
    Box::new(Stream::<decode::Chat>::default())
}
