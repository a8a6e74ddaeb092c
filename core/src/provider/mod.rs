//! The protocols that language models are spoken to in: requests become bodies, streams become events.
//!
//! Nothing here connects to anything: the shell carries bytes both ways. [`sse`] takes a stream of bytes apart into
//! events, whatever they mean; each protocol has a module that knows what they mean and how a request is written:
//! [`chat`] the OpenAI-compatible chat completions, [`messages`] Anthropic's Messages, [`responses`] OpenAI's Responses,
//! [`gemini`] Google's Gemini. [`wire`] is the door to them for whoever carries the bytes. [`refusal`] and [`retry`] read
//! what a provider says when it does not answer. `rules` says what each of them refuses. Whether to try again is not decided here.

mod answer;
pub mod chat;
pub(crate) mod excerpt;
pub mod extra;
#[cfg(test)]
mod fixture;
mod foreign;
pub mod gemini;
mod http_date;
mod lawful;
mod lenient;
pub mod listing;
pub mod messages;
pub mod refusal;
pub mod responses;
pub mod retry;
mod rules;
pub mod sse;
pub mod stream;
pub mod wire;
