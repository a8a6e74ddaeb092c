//! The strict provider: a chat completions server on the loopback interface that refuses what a real one refuses.
//!
//! It speaks HTTP/1.1 as the public API reference describes: `POST /v1/chat/completions` with a streamed answer and
//! `GET /v1/models`. A test hands it a [`Script`] of [`Answer`]s, points the program at [`StrictProvider::base_url`]
//! and ends with [`StrictProvider::assert_clean`], which fails when any request was one that a real provider refuses.
//! It shares no code with the program, so that the two cannot be wrong in the same way.
//!
//! ```
//! use hostler_tests::strict::{Answer, StrictProvider};
//!
//! let provider = StrictProvider::start([
//!     Answer::calling("call_1", "bash", serde_json::json!({"command": "ls"})),
//!     Answer::say("Two files."),
//! ]);
//! assert!(provider.base_url().ends_with("/v1"));
//! provider.assert_clean();
//! ```

mod answer;
mod gate;
mod http;
mod play;
mod record;
mod reject;
mod script;
mod serve;
mod server;
mod sse;
mod stop;
#[cfg(test)]
mod tests;
mod validate;

pub use answer::{Answer, Call};
pub use gate::Gate;
pub use record::{Recorded, Verdict};
pub use script::Script;
pub use server::StrictProvider;
pub use validate::check_body;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex` even when a thread panicked while holding it: a failed test must still be able to read what happened.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
