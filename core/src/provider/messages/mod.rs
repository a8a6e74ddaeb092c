//! The Messages of Anthropic.
//!
//! [`body`] writes a request; [`decoder`] reads the stream that answers it. Models think when they see fit, and sign
//! what they thought: signed and redacted thoughts go back word for word to the model that thought them, all others
//! stay here.

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

/// The version of the protocol that is spoken here.
pub const VERSION: &str = "2023-06-01";

/// Reads a stream of message events.
pub fn decoder() -> Box<dyn Decoder> {
    Box::new(Stream::<decode::Messages>::default())
}
