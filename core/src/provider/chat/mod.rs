//! The chat completions of OpenAI, and of everybody who offers the same: llama.cpp, Ollama, DeepSeek and the rest.
//!
//! [`body`] writes a request; [`ChatDecoder`] reads the stream that answers it; [`error_from_response`] reads an answer
//! that is a refusal. What was thought is read and never sent back: the protocol has no place for it. Who is asked, at
//! which address and with which key, is the shell's business.

mod calls;
mod decode;
mod error;
mod request;
mod wire;

#[cfg(test)]
mod transcripts;

pub use decode::ChatDecoder;
pub use error::error_from_response;
pub use request::body;
