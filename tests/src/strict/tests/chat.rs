//! Tests of chat completions: what is refused, and what is streamed.

mod rejects;
mod streams;

use super::{call, client, least, tool, valid};
