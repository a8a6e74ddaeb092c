//! The Responses of OpenAI, without anything being stored there.
//!
//! [`body`] writes a request; [`decoder`] reads the stream that answers it. Since nothing is stored, what a model
//! thought comes encrypted, and goes back word for word to the model that thought it, before what followed it.

mod decode;
mod request;
mod wire;

#[cfg(test)]
mod legality;
#[cfg(test)]
mod transcripts;

use alloc::boxed::Box;

use super::stream::{Decoder, Stream};
pub use request::body;

/// Reads a stream of response events.
pub fn decoder() -> Box<dyn Decoder> {
    Box::new(Stream::<decode::Responses>::default())
}
