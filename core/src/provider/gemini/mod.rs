//! Google's Gemini: the stream of `generateContent`.
//!
//! [`body`] writes a request; [`decoder`] reads the stream that answers it. Parts may be signed, and a signature goes
//! back word for word on the part that it came with. How that is kept: a signed call keeps its signature; a signed
//! thought is a block of reasoning with a [`seal`]; and behind a signed text comes a block that is nothing but a seal,
//! since texts have no place for one.

mod decode;
mod request;
mod seal;
mod wire;

#[cfg(test)]
mod legality;
#[cfg(test)]
mod transcripts;

use alloc::boxed::Box;

use super::stream::{Decoder, Stream};
pub use request::body;

/// Reads a stream of content responses.
pub fn decoder() -> Box<dyn Decoder> {
    Box::new(Stream::<decode::Gemini>::default())
}
